"""An option that has no effect on its line is refused instead of ignored."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.in_process_shell import Shell


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("alter-topic t --partitions 3 --throttle 5MB/s",
         "--throttle requires --replication-factor"),
        ("alter-topic t --config a=b --wait", "--wait requires --replication-factor"),
        ("create-topic t --with-acls", "--with-acls requires --like"),
        ("update-features kraft.version=1 --release-version 4.3",
         "--release-version cannot be used with FEATURE"),
        ("alter-quorum --remove 1 --controller-directory-id x",
         "--controller-directory-id requires --controller-id"),
        ("reset-offsets g --to latest --topic t --all-topics",
         "--all-topics cannot be used with --topic"),
        ("scram-credentials --describe --iterations 5000", "--iterations requires --add"),
        ("export --by prefix", "--by requires --directory"),
        ("write-record t v --lines", "--lines requires --from-file"),
        ("top --once --idle 5m", "--idle cannot be used with --once"),
        ("journal a1b2 --since 2h", "--since cannot be used with ID"),
        ("journal a1b2 --last 1", "--last cannot be used with ID"),
        ("watch --deadline 5s 1 topics", "unknown option '--deadline' for watch"),
        ("source --deadline 5s f", "unknown option '--deadline' for source"),
        ("alter-configs t a=b --timeout 5s", "unknown option '--timeout' for alter-configs"),
        ("sandbox stop --brokers 3", "--brokers requires sandbox start"),
        ("sandbox status --topics 5", "--topics requires sandbox start"),
        ("sandbox wipe --yes --empty", "--empty requires sandbox start"),
    ],
)  # fmt: skip
def test_an_option_without_effect_is_refused(tmp_path: Path, line: str, message: str) -> None:
    run = Shell(tmp_path, "localhost:1")(line)
    assert run.status == 2
    assert message in run.err
