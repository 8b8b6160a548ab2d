"""Malformed responses are errors that name the broker and the API: no internal error, no wait
beyond the deadline, and no excessive memory."""

from __future__ import annotations

import io
import random
import resource
import socket
import struct
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from kafka_shell import settings
from kafka_shell.admin.acls import read as acls
from kafka_shell.admin.client_configs import read as client_configs
from kafka_shell.admin.cluster import features, health, quorum
from kafka_shell.admin.cluster import read as cluster_reads
from kafka_shell.admin.configs import read as configs
from kafka_shell.admin.configs.model import ConfigResource, ResourceType
from kafka_shell.admin.configs.read import known_of
from kafka_shell.admin.groups import read as groups
from kafka_shell.admin.partitions import log_dirs
from kafka_shell.admin.partitions.in_progress import under_way
from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.admin.quotas import read as quotas
from kafka_shell.admin.records import offsets
from kafka_shell.admin.topics import change as topic_changes
from kafka_shell.admin.topics import read as topics
from kafka_shell.admin.transactions import producers
from kafka_shell.admin.transactions import read as transactions
from kafka_shell.admin.users import scram
from kafka_shell.base.errors import ShellError, Status
from kafka_shell.base.structs import replace
from kafka_shell.context import ClusterSession, Context, Paths
from kafka_shell.run.dispatch import run_text
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire import frames, metadata_scan
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.endpoint import ConnectionConfig, parse_addresses
from kafka_shell.wire.failures import as_error
from kafka_shell.wire.frames import MalformedError
from tests.support.mutating_proxy import MutatingProxy

DEADLINE = 4.0
CONVERSATIONS = 1200
_WORKERS = 4

_PLACED = TopicPartition("orders.placed", 0)
_TOPIC = ConfigResource(ResourceType.TOPIC, "orders.placed")
_BROKER = ConfigResource(ResourceType.BROKER, "1")

VERBS: tuple[Callable[[Cluster], Any], ...] = (
    lambda cluster: metadata_scan.scan(cluster).summaries(),
    lambda cluster: [*map(metadata_scan.scan(cluster).topic, metadata_scan.scan(cluster).names)],
    lambda cluster: topics.describe(cluster, ["orders.placed", "nosuch"]),
    lambda cluster: metadata_scan.scan(cluster).misplaced(),
    lambda cluster: topic_changes.plan_delete(cluster, ["orders.placed"]),
    lambda cluster: configs.describe(cluster, [_TOPIC, _BROKER], documentation=True),
    lambda cluster: known_of(cluster, [_TOPIC]),
    lambda cluster: [configs.list_resources(cluster, kind) for kind in ResourceType],
    lambda cluster: (quotas.describe(cluster), scram.describe(cluster)),
    lambda cluster: acls.describe(cluster),
    lambda cluster: groups.list_groups(cluster),
    lambda cluster: groups.describe(cluster, ["orders-enricher", "fraud-check"], offsets=True),
    lambda cluster: offsets.list_offsets(cluster, {_PLACED: -1}),
    lambda cluster: log_dirs.describe(cluster),
    lambda cluster: quorum.describe(cluster),
    lambda cluster: features.describe(cluster),
    lambda cluster: features.api_versions(cluster),
    lambda cluster: cluster_reads.metadata(cluster),
    lambda cluster: transactions.list_transactions(cluster),
    lambda cluster: transactions.describe(cluster, ["ledger-1"]),
    lambda cluster: transactions.find_hanging(cluster, topics=["orders.placed"]),
    lambda cluster: producers.describe(cluster, [_PLACED]),
    lambda cluster: under_way(cluster),
    lambda cluster: client_configs.describe(cluster),
    lambda cluster: health.health(cluster),
)

LINES = """
cluster-metadata
cluster-metadata --quorum
describe-quorum
describe-features
describe-topic orders.placed
describe-configs orders.placed
describe-user alice
list-topics --long
list-quotas users --long
describe-quotas
resolve-quota --user alice --client-id reports
list-acls --by principal
check-acl --principal User:alice --operation Write --topic orders.placed
list-groups --long
describe-group orders-enricher
describe-group --state
list-offsets orders.placed
list-offsets orders.placed --time max-timestamp
describe-log-dirs --by topic
list-reassignments
list-transactions
describe-client-configs --user alice
describe-producers orders.placed:0
health
alter-configs orders.placed retention.ms=30d --dry-run
alter-quotas --user alice producer_byte_rate=5MB/s --dry-run
alter-topic orders.placed --partitions 24 --dry-run
delete-group crm-export --dry-run
reset-offsets crm-export --to-earliest --dry-run
elect-leaders orders.placed:0 --dry-run
reassign-partitions --topics orders.placed --broker-list 1 --dry-run
""".strip().splitlines()


@pytest.fixture(scope="module")
def config(demo_sandbox: Sandbox) -> ConnectionConfig:
    return ConnectionConfig(
        parse_addresses(demo_sandbox.bootstrap),
        connect_timeout=1.0,
        request_timeout=1.0,
        call_timeout=DEADLINE,
    )


class _Conversations:
    """Runs verbs and lines through proxies, one at a time each, and notes what must not be."""

    def __init__(self, port: int, config: ConnectionConfig, home: Path) -> None:
        self._port, self._config, self._home = port, config, home
        self._own = threading.local()
        self.wrong: list[str] = []
        self.failed = 0
        self.proxies: list[MutatingProxy] = []

    def hold(self, seed: str) -> None:
        proxy = getattr(self._own, "proxy", None)
        if proxy is None:
            proxy = self._own.proxy = MutatingProxy(self._port)
            self.proxies.append(proxy)
        proxy.begin(seed)
        pick = random.Random(f"{seed} what")
        if pick.random() < 0.5:
            number = pick.randrange(len(VERBS))
            what, run = f"verb {number}", lambda: self._verb(VERBS[number], proxy)
        else:
            what = pick.choice(LINES)
            run = lambda: self._line(what, proxy)  # noqa: E731
        try:
            problem = run()
        except Exception:
            problem = traceback.format_exc()
        if problem:
            self.wrong.append(f"seed {seed!r}, {what}, {proxy.spoiled}:\n{problem}")

    def _verb(self, verb: Callable[[Cluster], Any], proxy: MutatingProxy) -> str:
        config = replace(self._config, bootstrap=parse_addresses(proxy.address))
        with Cluster(config) as cluster:
            try:
                with cluster.within(DEADLINE):
                    verb(cluster)
            except ShellError as error:
                self.failed += 1
                if not (error.message and error.code and error.status in Status):
                    return f"an error without words, code or status: {error!r}"
        return ""

    def _line(self, line: str, proxy: MutatingProxy) -> str:
        paths = Paths.of({"KAFKA_SH_HOME": str(self._home)})
        found = settings.load({"broker": proxy.address}, {}, paths.config_file)
        config = replace(self._config, bootstrap=parse_addresses(proxy.address))
        out, err = io.StringIO(), io.StringIO()
        context = Context(
            ClusterSession(replace(found, connection=config)), paths, out, err, environ={}
        )
        try:
            status = run_text(f"{line} --deadline {DEADLINE:.0f}s", context)
        finally:
            context.close()
        said = err.getvalue()
        if status and not said and not out.getvalue():
            return f"status {status} in silence"
        if status is Status.WRONG:
            return f"the line was not wrong:\n{said}"
        self.failed += bool(status)
        hidden = [char for char in said + out.getvalue() if ord(char) < 32 and char not in "\n\t"]
        return f"control characters in the answer: {hidden}" if hidden else ""


def test_corrupted_responses_are_errors(
    demo_sandbox: Sandbox, config: ConnectionConfig, tmp_path: Path, chance: random.Random
) -> None:
    seed = chance.random()
    port = int(demo_sandbox.bootstrap.rpartition(":")[2])
    talk = _Conversations(port, config, tmp_path)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with ThreadPoolExecutor(_WORKERS) as pool:
        list(pool.map(talk.hold, (f"{seed}-{number}" for number in range(CONVERSATIONS))))
    for proxy in talk.proxies:
        proxy.__exit__(None, None, None)
    found = "\n".join(talk.wrong[:5])
    assert not talk.wrong, f"{len(talk.wrong)} of {CONVERSATIONS}, seed {seed}\n{found}"
    assert talk.failed > CONVERSATIONS / 10, "hardly anything was spoiled"
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) >> 10  # MiB on Linux
    assert sys.platform != "linux" or grown < 400, f"{grown} MiB"


class _Changing(MutatingProxy):
    """Puts something in place of the answers to one API."""

    api_key, instead = -1, b""

    def _spoiled(self, api_key: int, frame: bytes) -> tuple[bytes, bool]:
        if api_key != self.api_key:
            return frame, True
        body = frame[4:8] + self.instead
        return struct.pack(">i", len(body)) + body, True


def _own_configs(cluster: Cluster) -> None:
    (failure,) = configs.describe(cluster, [_TOPIC]).failures.values()
    raise as_error(failure)


@pytest.fixture
def changing(demo_sandbox: Sandbox) -> Iterator[_Changing]:
    with _Changing(int(demo_sandbox.bootstrap.rpartition(":")[2])) as proxy:
        yield proxy


@pytest.mark.parametrize(
    ("api_key", "instead", "api", "run"),
    [
        (3, b"", "Metadata", lambda cluster: metadata_scan.scan(cluster)),
        (3, b"\xff" * 200, "Metadata", lambda cluster: metadata_scan.scan(cluster)),
        (32, b"\x80" * 1_000_000, "DescribeConfigs", _own_configs),
        (29, b"\x7f\xff\xff\xff" * 20, "DescribeAcls", lambda cluster: acls.describe(cluster)),
        # Well formed, and yet without the one partition that was asked for.
        (55, bytes(2) + b"\0\1\1\0", "DescribeQuorum", lambda cluster: quorum.describe(cluster)),
    ],
    ids=["nothing", "ones", "a number without an end", "billions", "no partition"],
)
def test_the_broker_and_the_api_are_named(
    changing: _Changing,
    config: ConnectionConfig,
    api_key: int,
    instead: bytes,
    api: str,
    run: Callable[[Cluster], Any],
) -> None:
    changing.api_key, changing.instead = api_key, instead
    config = replace(config, bootstrap=parse_addresses(changing.address))
    with Cluster(config) as cluster, pytest.raises(ShellError) as caught, cluster.within(DEADLINE):
        run(cluster)
    assert caught.value.code == "malformed-answer"
    assert changing.address in caught.value.message
    assert f"a malformed response to {api}" in caught.value.message
    assert caught.value.hint


def test_a_change_with_malformed_response_has_an_unknown_outcome(
    changing: _Changing, config: ConnectionConfig
) -> None:
    from kafka.protocol.admin import AlterClientQuotasRequest

    changing.api_key, changing.instead = AlterClientQuotasRequest.API_KEY, b"\xff" * 9
    config = replace(config, bootstrap=parse_addresses(changing.address))
    request = AlterClientQuotasRequest(entries=[], validate_only=False)
    with Cluster(config) as cluster, pytest.raises(ShellError) as caught:
        cluster.send(request)
    assert caught.value.code == "outcome-unknown"
    assert "malformed response" in caught.value.message


def test_a_bug_of_this_program_is_not_blamed_on_the_broker_alone(
    config: ConnectionConfig,
) -> None:
    with Cluster(config) as cluster, pytest.raises(ShellError) as caught, cluster.within(DEADLINE):
        metadata_scan.scan(cluster)
        [].pop()
    assert caught.value.message.startswith("internal error in kafka.sh, or ")
    assert isinstance(caught.value.__cause__, IndexError)


def test_an_exception_without_a_response_is_not_the_brokers(config: ConnectionConfig) -> None:
    with Cluster(config) as cluster, pytest.raises(IndexError), cluster.within(DEADLINE):
        [].pop()


def test_an_oversized_response_is_not_collected() -> None:
    """A peer that says `16 MiB` before the login, and pours as fast as it can."""
    poured = 0

    def pour(server: socket.socket) -> None:
        nonlocal poured
        client, _ = server.accept()
        with client, suppress(OSError):
            client.recv(1000)
            client.sendall(struct.pack(">i", 16 << 20))
            while poured < 1 << 30:
                poured += client.send(bytes(1 << 20))

    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=pour, args=(server,), daemon=True).start()
        config = ConnectionConfig(parse_addresses(f"127.0.0.1:{server.getsockname()[1]}"))
        with Cluster(config) as cluster, pytest.raises(ShellError) as caught:
            cluster.brokers()
    assert caught.value.code == "not-kafka"
    assert poured < 64 << 20


@pytest.mark.parametrize("count", [b"\x7f\xff\xff\xff", b"\xff\xff\xff\xff\x07"])
def test_a_length_of_billions_is_refused_at_once(count: bytes) -> None:
    with pytest.raises(MalformedError):
        frames.Reader(count + bytes(8)).count(flexible=len(count) == 5)
