"""What throttles replaced, kept in a file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from threading import Thread

import pytest

from kafka_shell.admin.configs.model import ConfigResource, ResourceType
from kafka_shell.admin.partitions.throttle_configs import (
    FOLLOWER_RATE,
    FOLLOWER_REPLICAS,
    broker_of,
)
from kafka_shell.admin.partitions.throttle_ledger import Setting, by_config
from kafka_shell.commands.partitions.throttle_ledger import FileLedger
from kafka_shell.errors import ShellError

pytestmark = pytest.mark.quick

RATE = Setting(broker_of(3), FOLLOWER_RATE, "9000000", "200000", "500000", False)
LIST = Setting(ConfigResource(ResourceType.TOPIC, "orders"), FOLLOWER_REPLICAS, None, "0:3")


@pytest.fixture
def ledger(tmp_path: Path) -> FileLedger:
    return FileLedger(tmp_path / "throttles" / "c.json")


def test_what_is_kept_is_there_until_it_is_forgotten(ledger: FileLedger, tmp_path: Path) -> None:
    assert ledger.read() == {}
    ledger.keep([RATE, LIST])
    again = FileLedger(tmp_path / "throttles" / "c.json")
    assert again.read() == by_config([RATE, LIST])
    again.keep([replace(RATE, value="300000")])
    assert ledger.read()[RATE.config].value == "300000"
    ledger.forget([RATE, LIST])
    assert again.read() == {}
    assert {path.stat().st_mode & 0o777 for path in tmp_path.rglob("c.*")} == {0o600}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "{}",
        "[1]",
        '[{"resource":"broker x","key":"k","before":null,"value":"1"}]',
        '[{"resource":"planet 3"}]',
        "[" * 5000,
    ],
)
def test_a_file_that_is_none_is_as_good_as_empty(ledger: FileLedger, text: str) -> None:
    ledger.keep([RATE])
    ledger._path.write_text(text)
    assert ledger.read() == {}
    ledger.keep([LIST])
    assert ledger.read() == by_config([LIST])


def test_shells_side_by_side_lose_nothing(ledger: FileLedger, tmp_path: Path) -> None:
    def work(broker: int) -> None:
        own = FileLedger(tmp_path / "throttles" / "c.json")
        for count in range(20):
            own.keep([replace(RATE, resource=broker_of(broker * 100 + count))])

    threads = [Thread(target=work, args=(broker,)) for broker in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(ledger.read()) == 80


def test_a_throttle_that_cannot_be_remembered_is_told(tmp_path: Path) -> None:
    (tmp_path / "throttles").write_text("no folder")
    ledger = FileLedger(tmp_path / "throttles" / "c.json")
    with pytest.raises(ShellError, match=r"c\.json cannot be written"):
        ledger.keep([RATE])
    ledger.forget([RATE])
