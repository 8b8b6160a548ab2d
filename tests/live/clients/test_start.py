"""Which modules importing the clients loads."""

from __future__ import annotations

import json
import subprocess
import sys

from kafka_shell.clients import internals

# Of the standard library, and of ours: what the clients need besides kafka-python.
SMALL = 60


def imported(code: str) -> set[str]:
    run = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport json, sys; print(json.dumps(list(sys.modules)))"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return set(json.loads(run.stdout))


def test_importing_the_clients_costs_little_more_than_kafka_python() -> None:
    more = imported("import kafka_shell.clients") - imported("import kafka")
    roots = {module.split(".")[0] for module in more}
    ours = {module for module in more if module.startswith("kafka_shell")}
    assert not roots & {"prompt_toolkit", "pyspark", "yaml", "pygments"}
    base = {module.split(".")[2] for module in ours if module.count("base.")}
    assert base <= {"errors", "plans", "results", "structs", "text", "units", "waits"}, base
    parts = {module.split(".")[1] for module in ours if "." in module}
    assert parts <= {"clients", "admin", "base"}, parts
    assert len(more) < SMALL, sorted(more)


def test_this_version_of_kafka_python_is_supported() -> None:
    assert internals.is_supported()
