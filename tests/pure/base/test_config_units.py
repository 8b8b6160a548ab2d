"""Config values as text: exact in both directions, or an error with the expected form."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_shell.base.errors import ShellError
from kafka_shell.base.units import (
    ConfigType,
    Unit,
    convert_unit,
    format_config_value,
    parse_config_value,
    unit_of,
)

BOOLEAN, INT, SHORT, LONG = ConfigType.BOOLEAN, ConfigType.INT, ConfigType.SHORT, ConfigType.LONG
DOUBLE, STRING, UNKNOWN = ConfigType.DOUBLE, ConfigType.STRING, ConfigType.UNKNOWN


@pytest.mark.parametrize(
    ("key", "unit"),
    [
        ("retention.ms", Unit.MILLISECONDS), ("segment.bytes", Unit.BYTES),
        ("message.max.bytes", Unit.BYTES), ("max.message.bytes", Unit.BYTES),
        ("log.retention.hours", Unit.HOURS), ("offsets.retention.minutes", Unit.MINUTES),
        ("quota.window.size.seconds", Unit.SECONDS), ("min.insync.replicas", Unit.NONE),
        ("flush.messages", Unit.NONE), ("interval.ms", Unit.MILLISECONDS),
        ("log.cleaner.io.max.bytes.per.second", Unit.BYTES_PER_SECOND),
        ("leader.replication.throttled.rate", Unit.BYTES_PER_SECOND),
        ("max.connection.creation.rate", Unit.NONE), ("producer_byte_rate", Unit.BYTES_PER_SECOND),
        ("controller_mutation_rate", Unit.NONE), ("log.cleaner.dedupe.buffer.size", Unit.BYTES),
        ("metadata.log.max.record.bytes.between.snapshots", Unit.BYTES),
        ("listener.name.internal.connections.max.idle.ms", Unit.MILLISECONDS), ("ms", Unit.NONE),
    ],
)  # fmt: skip
def test_unit_of(key: str, unit: Unit) -> None:
    assert unit_of(key) is unit


@pytest.mark.parametrize(
    ("key", "kind", "text", "raw"),
    [
        ("retention.ms", LONG, "7d", "604800000"), ("retention.ms", LONG, "-1", "-1"),
        ("retention.ms", LONG, "604800000", "604800000"),
        ("log.retention.hours", INT, "7d", "168"), ("log.retention.hours", INT, "120m", "2"),
        ("segment.bytes", INT, "512MiB", "536870912"), ("segment.bytes", INT, "+7", "+7"),
        ("log.cleaner.io.max.bytes.per.second", DOUBLE, "50MB/s", "50000000"),
        ("log.cleaner.io.max.bytes.per.second", DOUBLE, "50MB", "50000000"),
        ("log.cleaner.io.max.bytes.per.second", DOUBLE, "1.7E308", "1.7E308"),
        ("min.cleanable.dirty.ratio", DOUBLE, "0.5", "0.5"),
        ("preallocate", BOOLEAN, "TRUE", "TRUE"),
        ("cleanup.policy", ConfigType.LIST, "compact,delete", "compact,delete"),
        ("some.plugin.ms", STRING, "7d", "7d"), ("some.plugin.ms", UNKNOWN, "7d", "7d"),
        ("compression.type", STRING, "", ""),
    ],
)  # fmt: skip
def test_parse_config_value(key: str, kind: ConfigType, text: str, raw: str) -> None:
    assert parse_config_value(key, kind, text) == raw


@pytest.mark.parametrize(
    ("key", "kind", "text", "message"),
    [
        ("retention.ms", LONG, "7 dayz", "retention.ms must be an integer (milliseconds) or a "
         "duration such as 7d, got '7 dayz'"),
        ("retention.ms", LONG, "1M", "duration such as 7d, got '1M'"),
        ("retention.ms", LONG, "-7d", "or a duration such as 7d, got '-7d'"),
        ("retention.ms", LONG, "", "must be an integer (milliseconds)"),
        ("segment.bytes", INT, "50MB/s", "(bytes) or a size such as 512MiB, got '50MB/s'"),
        ("segment.bytes", INT, "4GiB", "got 4294967296 (4GiB)"),
        ("log.retention.hours", INT, "90m", "got '90m', which is not a whole number of hours"),
        ("min.insync.replicas", INT, "2s", "min.insync.replicas must be an integer, got '2s'"),
        ("min.insync.replicas", INT, "1.5", "must be an integer, got '1.5'"),
        ("some.short", SHORT, "32768", "must be between -32768 and 32767, got 32768"),
        ("retention.ms", LONG, str(2**63), "must be between"),
        ("min.cleanable.dirty.ratio", DOUBLE, "half", "must be a number, got 'half'"),
        ("preallocate", BOOLEAN, "yes", "preallocate must be true or false, got 'yes'"),
    ],
)  # fmt: skip
def test_invalid_values(key: str, kind: ConfigType, text: str, message: str) -> None:
    with pytest.raises(ShellError) as error:
        parse_config_value(key, kind, text)
    assert message in error.value.message


def test_an_empty_number_gets_a_hint_to_restore_the_default() -> None:
    with pytest.raises(ShellError) as error:
        parse_config_value("retention.ms", LONG, "")
    assert "--delete-config retention.ms" in error.value.hint


@pytest.mark.parametrize(
    ("key", "kind", "raw", "text"),
    [
        ("retention.ms", LONG, "604800000", "7d"), ("retention.ms", LONG, "-1", "-1"),
        ("retention.ms", UNKNOWN, "604800000", "7d"), ("retention.ms", STRING, "60000", "60000"),
        ("log.retention.hours", INT, "168", "7d"), ("segment.bytes", INT, "1073741824", "1GiB"),
        ("leader.replication.throttled.rate", LONG, "50000000", "50MB/s"),
        ("flush.messages", LONG, "9223372036854775807", "9223372036854775807"),
        ("min.cleanable.dirty.ratio", DOUBLE, "0.5", "0.5"), ("retention.ms", LONG, "odd", "odd"),
        ("retention.ms", LONG, "0060000", "0060000"),
    ],
)  # fmt: skip
def test_format_config_value(key: str, kind: ConfigType, raw: str, text: str) -> None:
    assert format_config_value(key, kind, raw) == text


KEYS = st.sampled_from([
    "retention.ms", "log.retention.hours", "offsets.retention.minutes", "segment.bytes",
    "quota.window.size.seconds", "producer_byte_rate", "min.insync.replicas",
    "log.cleaner.io.max.bytes.per.second",
])  # fmt: skip
RAW = st.one_of(
    st.tuples(st.just(SHORT), st.integers(-(2**15), 2**15 - 1).map(str)),
    st.tuples(st.just(INT), st.integers(-(2**31), 2**31 - 1).map(str)),
    st.tuples(st.just(LONG), st.integers(-(2**63), 2**63 - 1).map(str)),
    st.tuples(st.just(LONG), st.integers(0, 2**40).map(lambda n: str(n * 1000))),
    st.tuples(st.just(DOUBLE), st.floats(allow_nan=False, allow_infinity=False).map(str)),
    st.tuples(st.just(DOUBLE), st.integers(0, 2**40).map(lambda n: str(n * 1000))),
    st.tuples(st.just(BOOLEAN), st.sampled_from(["true", "false"])),
    st.tuples(st.just(STRING), st.text()),
)


@given(KEYS, RAW)
def test_formatted_values_parse_to_the_same_value(key: str, typed: tuple[ConfigType, str]) -> None:
    kind, raw = typed
    assert parse_config_value(key, kind, format_config_value(key, kind, raw)) == raw


@pytest.mark.parametrize(
    ("value", "key", "to", "converted"),
    [
        ("168", "log.retention.hours", "retention.ms", "604800000"),
        ("-1", "log.retention.hours", "retention.ms", "-1"),
        ("90000", "log.retention.ms", "log.retention.minutes", None),
        ("producer", "compression.type", "compression.type", "producer"),
        ("10", "num.io.threads", "retention.ms", None),
    ],
)
def test_convert_unit(value: str, key: str, to: str, converted: str | None) -> None:
    assert convert_unit(value, key, to) == converted
