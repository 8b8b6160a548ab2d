"""Audits on Spark: the state of clusters as tables, controls as queries, findings with remedies."""

from __future__ import annotations

import sys
from importlib.util import find_spec

from kafka_shell.base.errors import ShellError, Status

# The packages of the extra `spark` that are imported.
_REQUIRED = ("pyspark", "pandas", "pyarrow", "jinja2")


def require_spark() -> None:
    """Raise ShellError (status 2, with the install command) if the extra `spark` is missing."""
    missing = [name for name in _REQUIRED if find_spec(name) is None]
    if missing:
        *first, last = missing
        named = f"{', '.join(first)} and {last}" if first else last
        raise ShellError(
            f"audits require Spark: {named} {'is' if len(missing) == 1 else 'are'} not installed",
            hint=f"Run {sys.executable} -m pip install 'kafka-sh[spark]'"
            " (from a checkout: '.[spark]').",
            code="no-spark",
            status=Status.WRONG,
        )
