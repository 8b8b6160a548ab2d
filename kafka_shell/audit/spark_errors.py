"""Errors of Spark in a sentence, with what to do about those that users meet."""

from __future__ import annotations

import re
from pathlib import Path

from kafka_shell.audit.session import sentence
from kafka_shell.errors import ShellError

_NO_PYTHON = re.compile(r'Cannot run program "([^"]+)".*?error=(?:2|13)\b', re.DOTALL)
_NO_MODULE = re.compile(r"(?:No module named '|PACKAGE_NOT_INSTALLED\] )([\w.]+)")
_DIED = ("Connection reset", "Python worker exited unexpectedly", "Python worker failed to connect")
_INSTALL = "with pyspark, pyarrow, pandas and msgspec"


def as_shell_error(error: BaseException, log: Path) -> BaseException:
    """Return an error of Spark as a ShellError of one sentence; other errors as they are."""
    if not type(error).__module__.startswith(("py4j", "pyspark", "grpc")):
        return error
    what, hint = _executors(str(error)) or (f"Spark failed: {sentence(error)}", f"See {log}.")
    return ShellError(what, hint=hint, code="spark")


def _executors(text: str) -> tuple[str, str] | None:
    """What is wrong with the Python of the executors, and what to do."""
    if found := _NO_PYTHON.search(text):
        return (
            f"Spark executors cannot run {found[1]}",
            f"Set PYSPARK_PYTHON to a Python {_INSTALL} that exists on every executor.",
        )
    if found := _NO_MODULE.search(text):
        package = found[1].partition(".")[0].lower()
        return (
            f"{package} is not installed for the Python of the Spark executors",
            f"Run pip install {package} on every executor, or set PYSPARK_PYTHON to a Python"
            f" {_INSTALL}.",
        )
    if any(each in text for each in _DIED):
        return (
            f"the Python of the Spark executors does not run: {_last_line(text)}",
            f"Set PYSPARK_PYTHON to a Python {_INSTALL} on every executor. Their logs say why.",
        )
    return None


def _last_line(text: str) -> str:
    causes = re.findall(r"(?m)^Caused by: ([\w.$]+: .+)$", text)
    return str(causes[-1] if causes else text.strip().splitlines()[0])[:200]
