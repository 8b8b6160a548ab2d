"""Large changes and responses over a slow, interrupted or throttled connection: the outcome of each
item is known or reported as unknown, deadlines are met, and the prompt stays responsive."""

from __future__ import annotations

import re
import sys
import time
import uuid
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pexpect
import pytest

from kafka_shell.admin.configs import read as configs
from kafka_shell.admin.configs.model import ConfigResource, ResourceType
from kafka_shell.base.structs import replace
from kafka_shell.sandbox import config, stand_ins
from kafka_shell.sandbox.cluster import start, wipe
from kafka_shell.sandbox.session import options_from
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire import metadata_scan
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.endpoint import ConnectionConfig, parse_addresses
from tests.support.program import Program, Run
from tests.support.tcp_proxy import Proxy
from tests.support.terminal import Terminal
from tests.support.waiting import wait_for

CREATE_TOPICS = 19  # API key
MANY = 2_500  # topics: three requests
LARGE = 8_200  # topics whose documented configs are more than 100 MB


@pytest.fixture(scope="module")
def proxy() -> Iterator[Proxy]:
    with Proxy() as proxy:
        yield proxy


@pytest.fixture(scope="module")
def behind(proxy: Proxy, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    """A large cluster of metadata, whose broker is reached through the proxy alone."""
    folder = tmp_path_factory.mktemp("behind")
    own = config.node_settings

    def advertised(*args: Any) -> dict[str, str]:
        return own(*args) | {"advertised.listeners": f"PLAINTEXT://{proxy.address}"}

    options = options_from(folder, port=0, topics=LARGE, stand_in_brokers=3)
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(config, "node_settings", advertised)
            patch.setattr(stand_ins, "heap_mebibytes", lambda topics: 1536)
            sandbox = start(options)
        proxy.target = int(sandbox.bootstrap.rpartition(":")[2])
        (real,) = sandbox.brokers
        seen = replace(sandbox, brokers=(replace(real, ports={"PLAINTEXT": proxy.port}),))
        stand_ins.add(seen, lambda task, done, total: None)
        yield sandbox
    finally:
        wipe(folder)


@pytest.fixture(autouse=True)
def healed(proxy: Proxy) -> Iterator[None]:
    yield
    proxy.heal()


@pytest.fixture
def kafka(behind: Sandbox, proxy: Proxy, tmp_path: Path) -> Program:
    return Program(tmp_path / "home", proxy.address)


@pytest.fixture
def direct(behind: Sandbox, proxy: Proxy) -> Iterator[Cluster]:
    """Another client, which nothing happens to."""
    proxy.heal()
    with Cluster(ConnectionConfig(parse_addresses(proxy.address))) as cluster:
        yield cluster


@pytest.fixture
def file(tmp_path: Path) -> tuple[Path, list[str]]:
    """A file of many topics on the stand-ins."""
    stem = f"many.{uuid.uuid4().hex[:6]}"
    names = [f"{stem}.{number:04}" for number in range(MANY)]
    path = tmp_path / "topics.csv"
    rows = "".join(f"{name},1001:1002:1003\n" for name in names)
    path.write_text(f"name,replica_assignment\n{rows}")
    return path, names


def statuses(run: Run) -> dict[str, str]:
    """What became of each topic, by its name."""
    return {each["resource"].removeprefix("topic "): each["status"] for each in run.json["changes"]}


def there(cluster: Cluster, names: list[str]) -> set[str]:
    return set(metadata_scan.scan(cluster).names) & set(names)


# -- half an answer --------------------------------------------------------------------------------


def test_an_answer_that_ends_in_its_middle_leaves_no_item_untold(
    kafka: Program, proxy: Proxy, direct: Cluster, file: tuple[Path, list[str]]
) -> None:
    path, names = file
    proxy.cut_answer(CREATE_TOPICS, 5)  # three requests only validate; then the second of three
    run = kafka("create-topic", "--from-file", str(path), "--yes", "--output", "json")
    told = statuses(run)
    assert list(told) == names, "an item is missing"
    counts = Counter(told.values())
    assert run.status == 1, str(run)[-2000:]
    assert counts == {"done": 1000, "unknown": 1000, "skipped": 500}
    assert re.search(r"to continue: create-topic .*--if-not-exists", run.stderr), run.stderr[-500:]
    found = there(direct, names)
    assert {name for name in names if told[name] == "done"} <= found
    assert not {name for name in names if told[name] == "skipped"} & found
    again = kafka("create-topic", "--from-file", str(path), "--if-not-exists", "--yes",
                  "--output", "json")  # fmt: skip
    assert again.status == 0, str(again)[-2000:]
    assert set(statuses(again)) == set(names) - found, "what is there was not left alone"
    assert there(direct, names) == set(names)
    gone = kafka("delete-topic", f"{names[0][:11]}.*", "--yes", "--output", "json")
    assert gone.status == 0, str(gone)[-2000:]
    assert Counter(statuses(gone).values()) == {"done": MANY}
    assert there(direct, names) == set()


def test_a_large_change_shows_how_far_it_is(
    behind: Sandbox, proxy: Proxy, direct: Cluster, file: tuple[Path, list[str]], tmp_path: Path
) -> None:
    path, names = file
    terminal = Terminal(tmp_path / "home", "--broker", proxy.address)
    try:
        terminal.at_prompt()
        proxy.delay = 0.5  # seconds an answer: quick work shows no bar
        terminal.type(f"create-topic --from-file {path} --yes")
        terminal.press("enter")
        terminal.sees(f"/{MANY}")
        proxy.heal()
        terminal.sees(f"created {MANY:,} topics", "undo: undo ")
        assert f"/{MANY}" not in terminal.text, "the bar stays behind"
    finally:
        terminal.close()
    assert there(direct, names) == set(names)
    kafka = Program(tmp_path / "home", proxy.address)
    (entry,) = kafka.ok("journal", "--last", "1", "--output", "json").json
    lines = kafka.ok("journal", entry["id"], "--undo").lines
    assert sorted(lines) == [f"delete-topic {name}" for name in names]
    kafka.ok("undo", "--yes")
    assert there(direct, names) == set()


def test_half_of_a_large_answer_is_asked_for_again(kafka: Program, proxy: Proxy) -> None:
    proxy.cut_after = 300_000
    assert len(kafka.ok("list-topics").lines) >= LARGE
    assert proxy.cut_after is None, "nothing was cut"


# -- slow ------------------------------------------------------------------------------------------


def test_the_deadline_holds_for_many_requests(
    kafka: Program, proxy: Proxy, direct: Cluster, file: tuple[Path, list[str]]
) -> None:
    path, names = file
    kafka.ok("list-topics", names[0])
    began = time.monotonic()
    proxy.delay = 1.2
    run = kafka("create-topic", "--from-file", str(path), "--yes", "--output", "json",
                "--deadline", "6s")  # fmt: skip
    took = time.monotonic() - began
    proxy.heal()
    assert took < 25, f"the deadline of 6 s was over after {took:.1f} s"
    assert run.status in (1, 3), str(run)[-2000:]
    if run.stdout:
        told = statuses(run)
        assert set(told.values()) <= {"done", "unknown", "skipped"}
        found = there(direct, names)
        assert {name for name in names if told[name] == "done"} <= found
        assert not {name for name in names if told[name] == "skipped"} & found
    else:  # it was over before anything was sent
        assert re.search("deadline|has not responded", run.stderr) and not there(direct, names)
    kafka("delete-topic", f"{names[0][:11]}.*", "--yes")


def test_the_prompt_is_alive_while_nothing_comes(kafka: Program, proxy: Proxy) -> None:
    def open_prompt() -> pexpect.spawn[str]:
        return pexpect.spawn(
            sys.executable, ["-m", "kafka_shell", "--broker", kafka.broker],
            env={**kafka.environment(), "NO_COLOR": "1", "PROMPT_TOOLKIT_NO_CPR": "1"},
            encoding="utf-8", timeout=20, dimensions=(30, 120),
        )  # fmt: skip

    child = open_prompt()  # its names are kept on disk
    child.expect("Tab: complete")
    child.send("describe-topic orders.inv")
    child.expect(r"orders\.invoice\.")
    names = kafka.home / "cache" / "topics"
    wait_for("the names are on disk", lambda: names.is_dir() and any(names.glob("*.json")))
    child.close(force=True)
    proxy.delay = 3600
    child = open_prompt()
    child.expect("Tab: complete")
    child.send("describe-topic payments.ref")
    child.expect(r"payments\.refund\.")  # the network says nothing for an hour
    child.close(force=True)


def test_a_large_answer_over_a_slow_way(kafka: Program, proxy: Proxy) -> None:
    proxy.rate = 2_000_000
    assert len(kafka.ok("list-topics").lines) >= LARGE


# -- a hundred megabytes ---------------------------------------------------------------------------


def test_an_answer_of_a_hundred_megabytes_is_read(
    direct: Cluster, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(configs, "_AT_ONCE", 1_000_000)
    monkeypatch.setattr(configs, "read_response", lambda version, body: [])
    resources = [
        ConfigResource(ResourceType.TOPIC, name) for name in metadata_scan.scan(direct).names
    ]
    before = proxy.passed
    configs.describe(direct, resources, documentation=True, synonyms=True)
    assert proxy.passed - before > 100 << 20
    assert len(metadata_scan.scan(direct)) >= LARGE, "the connection is not usable afterwards"


def test_as_many_topics_are_measured(kafka: Program) -> None:
    run = kafka("top", "--once", "--interval", "200ms", "--output", "json")
    rows = [row for row in run.json if row.get("note") == "NOT_LEADER_OR_FOLLOWER"]
    assert len(rows) >= LARGE, "the stand-ins have no logs: nothing is counted as zero"
    assert all(row["records_per_s"] is None for row in rows)


# -- throttled -------------------------------------------------------------------------------------


def test_a_quota_on_changes_holds_them_up_and_none_is_lost(
    kafka: Program, direct: Cluster, file: tuple[Path, list[str]]
) -> None:
    path, names = file
    rate = 150  # topics a second, after a burst of eleven seconds' worth
    kafka.ok("alter-quotas", "--client-id-default", f"controller_mutation_rate={rate}")
    began = time.monotonic()
    try:
        run = kafka("create-topic", "--from-file", str(path), "--yes", "--output", "json")
    finally:
        kafka.ok("alter-quotas", "--client-id-default", "--delete", "controller_mutation_rate")
    assert time.monotonic() - began > (MANY - 11 * rate) / rate / 2, "nothing was held up"
    assert run.status == 0, str(run)[-2000:]
    assert Counter(statuses(run).values()) == {"done": MANY}
    assert there(direct, names) == set(names)
    kafka("delete-topic", f"{names[0][:11]}.*", "--yes")
