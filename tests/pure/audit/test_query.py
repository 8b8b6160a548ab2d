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
        "select transform(isr, x -> x + 1) from partitions join topics using (topic)",
        "select 'reflection', reflects from topics",
    ],
)
def test_query_is_accepted(text: str) -> None:
    query.check(text)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("insert into topics select 1", "select or with"),
        ("explain select 1", "select or with"),
        ("tables", "select or with"),
        ("select reflect('java.lang.System', 'exit', 1)", "reflect"),
        ("select system.builtin.`Reflect`('a', 'b')", "reflect"),
        ("select try_reflect('a', 'b')", "try_reflect"),
        ("select java_method/**/('a', 'b')", "java_method"),
        ("select identifier('ref' || 'lect')('a', 'b')", "identifier"),
        ("select \u0131dentifier('a')('b')", "\u0131dentifier"),  # Spark reads it as identifier
        ("select from_xml('', 'a int', map('rowValidation' || 'XSDPath', '/x'))", "from_xml"),
        ("select schema_of_xml('', map('rowValidationXSDPath', '/x'))", "schema_of_xml"),
        ("select from_avro(topic, '', map('avroSchema' || 'Url', '/x')) from topics", "from_avro"),
        ("select from_protobuf(topic, 'A', '/etc/passwd') from topics", "from_protobuf"),
        ("select transform(topic) using 'id' as (a) from topics", "transform"),
        ("select tran\u017fform(topic) u\u017fing 'id' from topics", "tran\u017fform"),
        ("from topics\nmap topic\nusing/**/'id' as a", "map"),
        ("from topics reduce topic using r'id' as a", "reduce"),
    ],
)
def test_query_that_could_do_more_than_read_is_rejected(text: str, word: str) -> None:
    with pytest.raises(UsageError, match=f"a query (must|cannot).* {word}"):
        query.check(text)
