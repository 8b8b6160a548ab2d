"""Units in values: exact both ways, or refused with the form that was expected."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_shell import units as values
from kafka_shell.admin.configs.model import ConfigType, Unit
from kafka_shell.errors import ShellError

pytestmark = pytest.mark.quick

BOOLEAN, INT, SHORT, LONG = ConfigType.BOOLEAN, ConfigType.INT, ConfigType.SHORT, ConfigType.LONG
DOUBLE, STRING, UNKNOWN = ConfigType.DOUBLE, ConfigType.STRING, ConfigType.UNKNOWN


@pytest.mark.parametrize(
    ("text", "milliseconds"),
    [
        ("0", 0), ("250", 250), ("-1", -1), ("500ms", 500), ("30s", 30_000), ("5m", 300_000),
        ("2h", 7_200_000), ("7d", 604_800_000), ("1w", 604_800_000), ("1d1h1m1s", 90_061_000),
        ("1.5h", 5_400_000), ("0.001s", 1), ("-1h", -3_600_000), ("+1h", 3_600_000),
        ("7 days", 604_800_000), ("PT2H", 7_200_000), ("P1D", 86_400_000), ("P1DT12H", 129_600_000),
        ("PT1.5S", 1500), ("-PT2H", -7_200_000), ("PT1M", 60_000), ("P1W", 604_800_000),
    ],
)  # fmt: skip
def test_durations(text: str, milliseconds: int) -> None:
    assert values.to_milliseconds(text) == milliseconds


@pytest.mark.parametrize("text", ["", "d", "7 dayz", "7x", "P", "PT", "P1H", "--1h", "1h-", "1e3s"])
def test_what_is_no_duration(text: str) -> None:
    with pytest.raises(ShellError, match="duration"):
        values.to_milliseconds(text)


def test_a_part_of_a_millisecond_is_refused() -> None:
    with pytest.raises(ShellError, match=r"0\.5ms is not a whole number of milliseconds"):
        values.to_milliseconds("0.5ms")


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("0", 0), ("1024", 1024), ("1GiB", 1 << 30), ("512MiB", 512 << 20), ("50MB/s", 50_000_000),
        ("50MB", 50_000_000), ("1kB", 1000), ("1KB", 1000), ("1KiB", 1024), ("1.5GiB", 3 << 29),
        ("10 MiB", 10 << 20), ("1mib", 1 << 20), ("7B", 7), ("2TB", 2 * 10**12), ("1EiB", 1 << 60),
    ],
)  # fmt: skip
def test_sizes(text: str, count: int) -> None:
    assert values.to_bytes(text) == count


@pytest.mark.parametrize("text", ["", "MiB", "1Mb", "1G", "1 GiBs", "-1GiB", "1MB/min", "1MB/h"])
def test_what_is_no_size(text: str) -> None:
    with pytest.raises(ShellError, match="a size such as"):
        values.to_bytes(text)


@pytest.mark.parametrize(
    ("milliseconds", "spoken"),
    [
        (604_800_000, "7d"), (90_061_000, "1d1h1m1s"), (5_400_000, "1h30m"), (1500, "1500ms"),
        (30_000, "30s"), (0, "0"), (-1, "-1"), (2**63 - 1, "9223372036854775807"),
    ],
)  # fmt: skip
def test_durations_for_people(milliseconds: int, spoken: str) -> None:
    assert values.spell_duration(milliseconds) == spoken


@pytest.mark.parametrize(
    ("done", "total", "elapsed", "told"),
    [
        (1, 10, 10, "1m30s left"), (999, 1000, 60, "1s left"),
        (5, 10, 1.5, ""), (0, 10, 60, ""), (10, 10, 60, ""),
    ],
)  # fmt: skip
def test_what_is_left_is_told_by_what_was_done(
    done: int, total: int, elapsed: float, told: str
) -> None:
    assert values.spell_left(done, total, elapsed) == told


@pytest.mark.parametrize(
    ("count", "spoken"),
    [
        (1 << 30, "1GiB"), (50_000_000, "50MB"), (64_000_000, "64MB"), (1_048_588, "1048588"),
        (1024, "1KiB"), (1000, "1kB"), (999, "999"), (0, "0"), (-1, "-1"), (102_400, "100KiB"),
    ],
)  # fmt: skip
def test_sizes_for_people(count: int, spoken: str) -> None:
    assert values.spell_bytes(count) == spoken


@given(st.integers(-(2**70), 2**70))
def test_spelled_numbers_read_back(number: int) -> None:
    assert values.to_milliseconds(values.spell_duration(number)) == number
    assert values.to_bytes(values.spell_bytes(number)) == number
    assert values.to_bytes(values.spell_rate(number)) == number


# -- times -----------------------------------------------------------------------------------------

NOON = int(datetime(2026, 1, 31, 12, tzinfo=UTC).timestamp() * 1000)
PARIS_IN_WINTER = timezone(timedelta(hours=1))


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("2026-01-31T12:00Z", NOON), ("2026-01-31T13:00", NOON), ("2026-01-31T13:00+01:00", NOON),
        ("2026-01-31 13:00:00", NOON), ("2026-01-31T12:00:00.250Z", NOON + 250), ("now", NOON),
        ("-1h", NOON - 3_600_000), ("+1d", NOON + 86_400_000), ("-PT1H", NOON - 3_600_000),
        ("2026-01-31", NOON - 13 * 3_600_000), (str(NOON), NOON), ("20260131T13", NOON),
        ("1969-12-31T23:59:59.999Z", -1),
    ],
)  # fmt: skip
def test_times(text: str, time: int) -> None:
    assert values.to_time(text, now=NOON, zone=PARIS_IN_WINTER) == time


@pytest.mark.parametrize(
    "text", ["", "yesterday", "2026-13-01", "10:00", "2026-01-31T25:00", "7", "1769860800", "-5"]
)
def test_what_is_no_time(text: str) -> None:
    with pytest.raises(ShellError, match="a time such as 2026-01-31T10:00"):
        values.to_time(text, now=NOON)


@given(st.integers(0, 4_000_000_000_000))
def test_spelled_times_read_back(time: int) -> None:
    spoken = values.spell_time(time, PARIS_IN_WINTER)
    assert values.to_time(spoken, now=0) == time
    assert spoken.endswith("+01:00")


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (218_554, "213 KiB"),
        (1023 * 1024, "1.0 MiB"), (10**9, "954 MiB"), (10**13, "9.1 TiB"), (1 << 62, "4.0 EiB"),
    ],
)  # fmt: skip
def test_sizes_at_a_glance(count: int, text: str) -> None:
    assert values.about_bytes(count) == text


# -- config values ---------------------------------------------------------------------------------


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
def test_the_unit_is_read_from_the_key(key: str, unit: Unit) -> None:
    assert values.unit_of(key) is unit


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
def test_raw_values(key: str, kind: ConfigType, text: str, raw: str) -> None:
    assert values.to_raw(key, kind, text) == raw


@pytest.mark.parametrize(
    ("key", "kind", "text", "message"),
    [
        ("retention.ms", LONG, "7 dayz", "retention.ms wants a whole number of milliseconds or a "
         "duration such as 7d; got '7 dayz'"),
        ("retention.ms", LONG, "-7d", "or a duration such as 7d; got '-7d'"),
        ("retention.ms", LONG, "", "wants a whole number of milliseconds"),
        ("segment.bytes", INT, "50MB/s", "bytes or a size such as 512MiB; got '50MB/s'"),
        ("segment.bytes", INT, "4GiB", "4294967296 (4GiB) is beyond"),
        ("log.retention.hours", INT, "90m", "got '90m', which is not whole"),
        ("min.insync.replicas", INT, "2s", "min.insync.replicas wants a whole number; got '2s'"),
        ("min.insync.replicas", INT, "1.5", "a whole number; got '1.5'"),
        ("some.short", SHORT, "32768", "from -32768 to 32767; 32768 is beyond"),
        ("retention.ms", LONG, str(2**63), "is beyond"),
        ("min.cleanable.dirty.ratio", DOUBLE, "half", "wants a number; got 'half'"),
        ("preallocate", BOOLEAN, "yes", "preallocate wants true or false; got 'yes'"),
    ],
)  # fmt: skip
def test_refused_values(key: str, kind: ConfigType, text: str, message: str) -> None:
    with pytest.raises(ShellError) as error:
        values.to_raw(key, kind, text)
    assert message in error.value.message


def test_an_empty_number_is_told_how_to_go_back_to_the_default() -> None:
    with pytest.raises(ShellError) as error:
        values.to_raw("retention.ms", LONG, "")
    assert "--delete-config retention.ms" in error.value.hint


@pytest.mark.parametrize(
    ("key", "kind", "raw", "spoken"),
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
def test_values_for_people(key: str, kind: ConfigType, raw: str, spoken: str) -> None:
    assert values.for_people(key, kind, raw) == spoken


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
def test_what_people_see_reads_back_exactly(key: str, typed: tuple[ConfigType, str]) -> None:
    kind, raw = typed
    assert values.to_raw(key, kind, values.for_people(key, kind, raw)) == raw


@pytest.mark.parametrize(
    ("value", "key", "to", "carried"),
    [
        ("168", "log.retention.hours", "retention.ms", "604800000"),
        ("-1", "log.retention.hours", "retention.ms", "-1"),
        ("90000", "log.retention.ms", "log.retention.minutes", None),
        ("producer", "compression.type", "compression.type", "producer"),
        ("10", "num.io.threads", "retention.ms", None),
    ],
)
def test_a_value_is_carried_over_to_another_unit(
    value: str, key: str, to: str, carried: str | None
) -> None:
    assert values.carried_over(value, key, to) == carried


def test_a_path_of_nobody_stays_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/alice")
    assert str(values.to_path("~/f")) == "/home/alice/f"
    assert str(values.to_path("~no.such.user/f")) == "~no.such.user/f"


@pytest.mark.parametrize("time", [(1 << 63) - 1, -(1 << 63), 253_402_300_800_000])
def test_a_time_that_no_calendar_has_stays_a_number(time: int) -> None:
    assert values.spell_time(time, PARIS_IN_WINTER) == str(time)
