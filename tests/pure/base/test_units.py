"""Durations, sizes and times as text: exact in both directions, or an error."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_shell.base import units
from kafka_shell.base.errors import ShellError


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
def test_parse_duration(text: str, milliseconds: int) -> None:
    assert units.parse_duration(text) == milliseconds


@pytest.mark.parametrize("text", ["", "d", "7 dayz", "7x", "P", "PT", "P1H", "--1h", "1h-", "1e3s"])
def test_invalid_durations(text: str) -> None:
    with pytest.raises(ShellError, match="duration"):
        units.parse_duration(text)


@pytest.mark.parametrize("text", ["1M", "-1M", "1 M", "1d1M", "1M1d"])
def test_months_are_not_read_as_minutes(text: str) -> None:
    with pytest.raises(ShellError) as error:
        units.parse_duration(text)
    assert error.value.hint == "m is minutes; months are not supported: use 30d."
    assert units.parse_duration("1H") == 3_600_000


def test_fractions_of_a_millisecond_are_invalid() -> None:
    with pytest.raises(ShellError, match=r"0\.5ms is not a whole number of milliseconds"):
        units.parse_duration("0.5ms")


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("0", 0), ("1024", 1024), ("1GiB", 1 << 30), ("512MiB", 512 << 20), ("50MB/s", 50_000_000),
        ("50MB", 50_000_000), ("1kB", 1000), ("1KB", 1000), ("1KiB", 1024), ("1.5GiB", 3 << 29),
        ("10 MiB", 10 << 20), ("1mib", 1 << 20), ("7B", 7), ("2TB", 2 * 10**12), ("1EiB", 1 << 60),
    ],
)  # fmt: skip
def test_parse_size(text: str, count: int) -> None:
    assert units.parse_size(text) == count


@pytest.mark.parametrize("text", ["", "MiB", "1Mb", "1G", "1 GiBs", "-1GiB", "1MB/min", "1MB/h"])
def test_invalid_sizes(text: str) -> None:
    with pytest.raises(ShellError, match="a size such as"):
        units.parse_size(text)


@pytest.mark.parametrize(
    ("milliseconds", "text"),
    [
        (604_800_000, "7d"), (90_061_000, "1d1h1m1s"), (5_400_000, "1h30m"), (1500, "1500ms"),
        (30_000, "30s"), (0, "0"), (-1, "-1"), (2**63 - 1, "9223372036854775807"),
    ],
)  # fmt: skip
def test_format_duration(milliseconds: int, text: str) -> None:
    assert units.format_duration(milliseconds) == text


@pytest.mark.parametrize(
    ("done", "total", "elapsed", "text"),
    [
        (1, 10, 10, "1m30s left"), (999, 1000, 60, "1s left"),
        (5, 10, 1.5, ""), (0, 10, 60, ""), (10, 10, 60, ""),
    ],
)  # fmt: skip
def test_format_remaining(done: int, total: int, elapsed: float, text: str) -> None:
    assert units.format_remaining(done, total, elapsed) == text


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (1 << 30, "1GiB"), (50_000_000, "50MB"), (64_000_000, "64MB"), (1_048_588, "1048588"),
        (1024, "1KiB"), (1000, "1kB"), (999, "999"), (0, "0"), (-1, "-1"), (102_400, "100KiB"),
    ],
)  # fmt: skip
def test_format_bytes(count: int, text: str) -> None:
    assert units.format_bytes(count) == text


@given(st.integers(-(2**70), 2**70))
def test_formatted_numbers_parse_to_the_same_number(number: int) -> None:
    assert units.parse_duration(units.format_duration(number)) == number
    assert units.parse_size(units.format_bytes(number)) == number
    assert units.parse_size(units.format_rate(number)) == number


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
        ("1969-12-31T23:59:59.999Z", -1), ("today 13:00", NOON), ("today", NOON - 13 * 3_600_000),
        ("today 9:30:15", NOON - 12_585_000), ("today 12Z", NOON),
        ("yesterday 9:00", NOON - 28 * 3_600_000),
        ("yesterday 12:00Z", NOON - 86_400_000),
    ],
)  # fmt: skip
def test_parse_time(text: str, time: int) -> None:
    assert units.parse_time(text, now=NOON, zone=PARIS_IN_WINTER) == time


@pytest.mark.parametrize(
    "text",
    [
        "",
        "yesterday 25:00",
        "yesterday 9Z",
        "yesterday Z",
        "yesterday ",
        "tomorrow",
        "2026-13-01",
        "10:00",
        "2026-01-31T25:00",
        "7",
        "1769860800",
        "20260131",
        "-5",
    ],
)
def test_invalid_times(text: str) -> None:
    with pytest.raises(ShellError, match="a time such as 2026-01-31T10:00"):
        units.parse_time(text, now=NOON)


@given(st.integers(0, 4_000_000_000_000))
def test_formatted_times_parse_to_the_same_time(time: int) -> None:
    text = units.format_time(time, PARIS_IN_WINTER)
    assert units.parse_time(text, now=0) == time
    assert text.endswith("+01:00")


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (218_554, "213 KiB"),
        (1023 * 1024, "1.0 MiB"), (10**9, "954 MiB"), (10**13, "9.1 TiB"), (1 << 62, "4.0 EiB"),
    ],
)  # fmt: skip
def test_approximate_bytes(count: int, text: str) -> None:
    assert units.approximate_bytes(count) == text


@pytest.mark.parametrize(
    ("rate", "text"),
    [(0, "0B/s"), (980.4, "980B/s"), (999.6, "1.0kB/s"), (873_000, "873kB/s"),
     (999_600, "1.0MB/s"), (1_030_000, "1.0MB/s"), (1e16, "10000TB/s")],
)  # fmt: skip
def test_approximate_rate(rate: float, text: str) -> None:
    assert units.approximate_rate(rate) == text


def test_a_very_long_command_is_cut_between_words_and_the_rest_is_counted() -> None:
    line = "create-topic " + " ".join(f"perf.t{number}" for number in range(500))
    short = units.shorten_command(line)
    kept, _, rest = short.partition(" ... and ")
    assert line.startswith(f"{kept} ") and len(short) < 150
    assert rest == f"{501 - len(kept.split())} more words"
    assert units.shorten_command(line[:400]) == line[:400]


def test_the_tilde_of_an_unknown_user_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/alice")
    assert str(units.to_path("~/f")) == "/home/alice/f"
    assert str(units.to_path("~no.such.user/f")) == "~no.such.user/f"


@pytest.mark.parametrize("time", [(1 << 63) - 1, -(1 << 63), 253_402_300_800_000])
def test_a_time_after_the_year_9999_is_formatted_as_a_number(time: int) -> None:
    assert units.format_time(time, PARIS_IN_WINTER) == str(time)


def test_counts_have_a_noun_in_the_right_number() -> None:
    assert units.counted(1, "topic") == "1 topic"
    assert units.counted(1200, "key") == "1,200 keys"
    assert units.counted(0, "log directory") == "0 log directories"
    assert units.counted(2, "IP address") == "2 IP addresses"
