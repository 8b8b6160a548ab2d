"""How Spark runs queries of a few rows, and of many."""

from __future__ import annotations

from collections.abc import Container, Iterator
from contextlib import contextmanager
from typing import Any

_FEW, _MANY = 200_000, 2_000_000  # rows
# Compiling and adapting a query of a few rows takes longer than running it, and tables of one
# partition need neither a broadcast nor a shuffle to be joined.
SMALL_DATA_CONFIGS = {
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.autoBroadcastJoinThreshold": "-1",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.constraintPropagation.enabled": "false",
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.ui.explainMode": "simple",
}


def is_small_data(rows: int) -> bool:
    """Whether tables with so many rows together are small."""
    return rows < _FEW


def is_large_data(rows: int) -> bool:
    """Whether it is worth starting a JVM with all compilers and collectors for them."""
    return rows > _MANY


@contextmanager
def tuned(session: Any, rows: int, keep: Container[str]) -> Iterator[None]:
    """Make queries of tables with so many rows together fast, until the end. Configs in `keep`,
    which the user has set, are not changed."""
    wanted = SMALL_DATA_CONFIGS if is_small_data(rows) else {}
    before = {key: session.conf.get(key, None) for key in wanted if key not in keep}
    for key in before:
        session.conf.set(key, wanted[key])
    try:
        yield
    finally:
        for key, value in before.items():
            if value is None:
                session.conf.unset(key)
            else:
                session.conf.set(key, value)
