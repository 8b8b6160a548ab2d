"""Queries only read: what is rejected before Spark starts."""

from __future__ import annotations

import pytest

from kafka_shell.audit import query
from kafka_shell.base.errors import UsageError


@pytest.mark.parametrize(
    "text",
    [
        "select topic from topics",
        "-- the topics\n  SELECT 1",
        "with a as (select 1) select * from a",
        "(select 1) union all (select 2)",
        "values (1), (2)",
        "table topics",
        "from topics select topic",
    ],
)
def test_query_is_accepted(text: str) -> None:
    query.check(text)


@pytest.mark.parametrize(
    "text", ["insert into topics select 1", "explain select 1", "tables", "set a=b", ""]
)
def test_statement_that_is_no_query_is_rejected(text: str) -> None:
    with pytest.raises(UsageError, match="a query must start with select or with"):
        query.check(text)
