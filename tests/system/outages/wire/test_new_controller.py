"""A controller stops before a change, and in the middle of one of many topics."""

from __future__ import annotations

import uuid
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from kafka_shell.admin.cluster import quorum
from kafka_shell.admin.topics import steps as topic_steps
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire import metadata_scan
from kafka_shell.wire import rounds as many
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.requests import CONTROLLER
from tests.support.changes import connect
from tests.support.in_process_shell import Shell
from tests.support.outages import stopped, wait_until_back
from tests.support.raw_requests import create
from tests.support.sandbox_brokers import start_broker, stop_broker


def test_changes_go_on_while_another_controller_is_elected(
    three_brokers: Sandbox, three: Cluster, name: str
) -> None:
    with stopped(three_brokers, quorum.describe(three).leader):
        assert three.send(create(name), CONTROLLER, timeout=30).topics[0].error_code == 0


def test_a_controller_that_goes_in_the_middle_of_a_batch(
    three_brokers: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(many, "_MAX_ITEMS", 25)
    stem = f"moving.{uuid.uuid4().hex[:6]}"
    names = [f"{stem}.{number:03}" for number in range(300)]
    with connect(three_brokers) as cluster:
        controller = quorum.describe(cluster).leader
        others = [broker.id for broker in cluster.brokers() if broker.id != controller]
        file = tmp_path / "topics.csv"
        rows = [f"{name},{others[number % 2]}\n" for number, name in enumerate(names)]
        file.write_text("name,replica_assignment\n" + "".join(rows))
        own, sent = topic_steps.CreateTopics.send, 0

        def send(step: Any, to: Cluster, *, validate_only: bool) -> Any:
            nonlocal sent
            sent += not validate_only
            if sent == 4 and not validate_only:
                stop_broker(three_brokers.folder, controller)
            return own(step, to, validate_only=validate_only)

        monkeypatch.setattr(topic_steps.CreateTopics, "send", send)
        shell = Shell(tmp_path, three_brokers.bootstrap)
        line = f"create-topic --from-file {file} --if-not-exists --yes --output json"
        try:
            run = shell(line)
        finally:
            start_broker(three_brokers.folder, controller)
            wait_until_back(three_brokers)
        told = {each["resource"].removeprefix("topic "): each["status"]
                for each in run.json["changes"]}  # fmt: skip
        assert list(told) == names, "an item has no outcome"
        found = there(cluster, names)
        assert {name for name in names if told[name] == "done"} <= found
        assert not {name for name in names if told[name] in ("skipped", "failed")} & found
        assert Counter(told.values())["done"] >= 75, str(run)
        monkeypatch.undo()
        if found != set(names):
            shell.ok(line)
        assert there(cluster, names) == set(names)


def there(cluster: Cluster, names: list[str]) -> set[str]:
    return set(metadata_scan.scan(cluster).names) & set(names)
