"""The line of a broker log that an error message quotes."""

from __future__ import annotations

import pytest

from kafka_shell.sandbox.ready import cause_in


@pytest.mark.parametrize(
    ("log", "line"),
    [
        ("[2026-01-01] INFO starting (a)\n[2026-01-01] ERROR no way (b)\n", "no way (b)"),
        (
            "[2026-01-01] ERROR no way (b)\n"
            "org.apache.kafka.common.KafkaException: failed\n"
            "\tat a.b.C(D.java:1)\n"
            "Caused by: java.net.BindException: Address already in use\n"
            "\t... 4 more\n"
            "[2026-01-01] INFO bye (a)\n",
            "java.net.BindException: Address already in use",
        ),
        (
            'Exception in thread "main" java.lang.RuntimeException: is already formatted\n\tat a\n',
            "java.lang.RuntimeException: is already formatted",
        ),
        ("Error: Could not create the Java Virtual Machine.\n", None),
        ("Invalid maximum heap size: -Xmx1\n\n", "Invalid maximum heap size: -Xmx1"),
        ("", "no output"),
        ("x" * 1000, "x" * 300),
    ],
)
def test_cause_in(log: str, line: str | None) -> None:
    assert cause_in(log) == (line or log.strip())
