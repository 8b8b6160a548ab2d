"""What a one-shot imports: the time from Enter to the first byte is mostly that."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from kafka_shell.sandbox.state import Sandbox

pytestmark = pytest.mark.quick

RUN = """
import sys
from kafka_shell.app import main
status = main(sys.argv[1:])
loaded = sorted(sys.modules)
import json
sys.stderr.write(json.dumps([status, loaded]))
"""
# Of this program, besides the declarations of commands and the nouns.
LIST = {
    "app", "characters", "config_file", "connection_options", "context", "dispatch", "errors",
    "files", "identity", "quoting", "settings", "values",
    "language", "language.argv", "language.command", "language.common", "language.convert",
    "language.logical_lines",
    "language.parse", "language.render", "language.scan", "language.selectors", "language.spelling",
    "language.tokens", "language.usage",
    "admin", "admin.client_properties", "admin.config_reads", "admin.config_wire",
    "admin.connection", "admin.dial", "admin.endpoint", "admin.error_codes", "admin.failures",
    "admin.frames", "admin.jobs", "admin.link_errors", "admin.login", "admin.many",
    "admin.near_topics", "admin.connection_warnings", "admin.exchanges", "admin.malformed",
    "admin.password_source", "admin.retries",
    "admin.pool", "admin.properties", "admin.requests", "admin.runner", "admin.scan",
    "admin.topic_steps", "admin.topics", "admin.transport", "admin.versions",
    "output", "output.columns", "output.data", "output.errors", "output.looks", "output.page",
    "output.pane", "output.progress", "output.styles", "output.tables",
    "output.terminal", "output.text", "output.theme", "output.writer",
}  # fmt: skip
# Libraries, and what of Python's own costs milliseconds.
HEAVY = {
    "kafka", "prompt_toolkit", "pygments", "yaml", "tqdm", "platformdirs", "pyspark", "asyncio",
    "json", "ssl", "logging", "argparse", "subprocess", "tempfile", "uuid", "decimal", "email",
    "http", "unicodedata", "stringprep", "csv", "shutil", "random",
}  # fmt: skip


def test_a_list_imports_what_it_uses_and_no_more(sandbox: Sandbox, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", RUN, "--broker", sandbox.bootstrap, "--list-topics"],
        env={**os.environ, "KAFKA_SH_HOME": str(tmp_path)},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    status, loaded = json.loads(done.stderr.splitlines()[-1])
    assert status == 0
    assert not HEAVY & {name.partition(".")[0] for name in loaded}
    ours = {name.removeprefix("kafka_shell.") for name in loaded if "kafka_shell." in name}
    mine = {name for name in ours if name.partition(".")[0] not in ("commands", "nouns")}
    assert mine == LIST, "what is new here costs every one-shot: import it where it is used"
