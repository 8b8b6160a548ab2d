"""The file that records throttles."""

from __future__ import annotations

from pathlib import Path
from threading import Thread

import pytest

from kafka_shell.admin.configs.model import ConfigResource, ResourceType
from kafka_shell.admin.partitions.throttles import FOLLOWER_RATE, FOLLOWER_REPLICAS, Throttled
from kafka_shell.base.errors import ShellError
from kafka_shell.commands.partitions.throttle_store import ThrottleFile

BROKER = ConfigResource(ResourceType.BROKER, "3")
RATE = Throttled(BROKER, FOLLOWER_RATE, "200000", "9000000")
LIST = Throttled(ConfigResource(ResourceType.TOPIC, "orders"), FOLLOWER_REPLICAS, "0:3")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "throttles" / "cluster.json"


def test_what_one_process_records_another_reads(path: Path) -> None:
    assert ThrottleFile(path).read() == {}
    ThrottleFile(path).update(lambda record: {RATE.config: RATE, LIST.config: LIST})
    assert ThrottleFile(path).read() == {RATE.config: RATE, LIST.config: LIST}
    ThrottleFile(path).update(lambda record: {RATE.config: record[RATE.config]})
    assert ThrottleFile(path).read() == {RATE.config: RATE}
    assert {each.stat().st_mode & 0o777 for each in path.parent.iterdir()} == {0o600}


@pytest.mark.parametrize(
    "text",
    ["", "{", "1", "[1]", '[["PLANET", "3", "k", "1", null]]', "[" * 5000, "\udcff",
     '[["BROKER", 3, "k", "1", null]]', '[["BROKER", "3"]]'],
)  # fmt: skip
def test_a_damaged_file_is_neither_taken_for_empty_nor_replaced(path: Path, text: str) -> None:
    path.parent.mkdir()
    damaged = text.encode(errors="surrogateescape")
    path.write_bytes(damaged)
    with pytest.raises(ShellError, match=r"cannot read .*cluster\.json: the file is damaged"):
        ThrottleFile(path).read()
    with pytest.raises(ShellError, match="the file is damaged"):
        ThrottleFile(path).update(lambda record: {**record, RATE.config: RATE})
    assert path.read_bytes() == damaged


def test_a_file_that_cannot_be_read_does_not_count_as_empty(path: Path) -> None:
    path.mkdir(parents=True)
    with pytest.raises(ShellError, match=r"cannot read .*cluster\.json"):
        ThrottleFile(path).read()


def test_processes_side_by_side_lose_nothing(path: Path) -> None:
    def work(number: int) -> None:
        for count in range(20):
            resource = ConfigResource(ResourceType.BROKER, str(number * 100 + count))
            row = Throttled(resource, FOLLOWER_RATE, "1")
            ThrottleFile(path).update(lambda record, row=row: {**record, row.config: row})

    threads = [Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(ThrottleFile(path).read()) == 80


def test_a_file_that_cannot_be_written_is_an_error(path: Path) -> None:
    path.parent.write_text("not a folder")
    with pytest.raises(ShellError, match=r"cannot write .*cluster\.json"):
        ThrottleFile(path).update(lambda record: record)
