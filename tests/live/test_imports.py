"""The layers of the program: which modules may import which, and no import cycles."""

from __future__ import annotations

import subprocess
import sys

# Modules that a one-shot imports at once must not pull these in at their head.
LAZY = {
    "kafka",
    "prompt_toolkit",
    "pyspark",
    "pyarrow",
    "jinja2",
    "yaml",
    "jgo",
    "fastavro",
    "google",
    "grpc_tools",
    "re2",
    "cramjam",
    "google_crc32c",
}


def test_a_one_shot_starts_without_the_heavy_libraries() -> None:
    """`list-topics` must pay neither for a prompt nor for Spark, and kafka only when needed."""
    code = (
        "import sys; import kafka_shell.app, kafka_shell.run.dispatch, kafka_shell.commands,"
        " kafka_shell.settings, kafka_shell.admin.topics.read;"
        f" print(sorted({LAZY!r} & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip() == "[]", "imported too early"
