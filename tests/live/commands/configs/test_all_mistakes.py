"""Every invalid config or quota of a line is reported in one run, once for all resources."""

from __future__ import annotations

import pytest

from tests.support.in_process_shell import Shell


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("alter-configs {} retention.mss=1 cleanup.policy=shred --append segment.bytes=1",
         ("'retention.mss'", "'shred'", "segment.bytes is an int")),
        ("alter-configs {} a=1 a=2 b=1 b=2", ("a is set twice", "b is set twice")),
        ("create-topic {}-new {}-other --config retention.mss=1 --config cleanup.policy=shred",
         ("'retention.mss'", "'shred'")),
        ("config-command --alter --entity-type topics --entity-name {}"
         " --add-config retention.mss=1,retention.ms=soon", ("'retention.mss'", "'soon'")),
        ("describe-configs {} retention.mss zzz", ("'retention.mss'", "'zzz'")),
        ("alter-quotas --user {} producer_byte_rat=1 consumer_byte_rate=fast"
         " --delete-config reqest",
         ("'producer_byte_rat'", "'fast'", "'reqest'")),
        ("describe-quotas producer_byte_rat reqest", ("'producer_byte_rat'", "'reqest'")),
        ("config-command --alter --entity-type users --entity-name {}"
         " --add-config producer_byte_rat=1,consumer_byte_rate=fast",
         ("'producer_byte_rat'", "'fast'")),
        ("alter-client-configs --user {} acks=some session.timeout.ms=soon linger.mss=1",
         ("'some'", "'soon'", "linger.mss")),
    ],
)  # fmt: skip
def test_every_invalid_word_is_reported(
    shell: Shell, topic: str, line: str, words: tuple[str, ...]
) -> None:
    run = shell(line.format(topic, topic))
    assert run.status, str(run)
    heading, *mistakes = run.err.split("mistakes:")[1].splitlines()
    assert not heading, str(run)
    for word in words:
        assert sum(word in mistake for mistake in mistakes) == 1, str(run)
