"""README and docs/ match the program: generated pages, links, examples and commands."""

from __future__ import annotations

import re

from kafka_shell.admin.topics import change as topic_changes
from kafka_shell.sandbox.state import Sandbox
from tests import generated_docs
from tests.support.changes import connect, done, make_topic

DOCS = generated_docs.DOCS


def python_example(page: str, name: str) -> str:
    """The Python code between the comments `name: begin` and `name: end` of a page."""
    text = (DOCS / page).read_text(encoding="utf-8")
    text = text.split(f"<!-- {name}: begin -->\n")[1].split(f"<!-- {name}: end -->")[0]
    return re.sub(r"```(python)?\n?", "", text)


def test_the_library_example_runs(sandbox: Sandbox) -> None:
    code = python_example("library.md", "library")
    exec(compile(code, "library.md", "exec"), {"BROKER": sandbox.bootstrap})


def test_the_dynamic_clients_example_runs(sandbox: Sandbox) -> None:
    code = python_example("client-configs.md", "dynamic")
    with connect(sandbox) as cluster:
        make_topic(cluster, "payments")
        try:
            exec(compile(code, "client-configs.md", "exec"), {"BROKER": sandbox.bootstrap})
        finally:
            done(topic_changes.plan_delete(cluster, ["payments"]), cluster)
