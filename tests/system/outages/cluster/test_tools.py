"""Quorum, features, API versions and brokers: the same as reported by Kafka's own tools."""

from __future__ import annotations

import json
import re

import pytest

from kafka_shell.admin.cluster import features, quorum, registrations
from kafka_shell.admin.cluster.model import Endpoint, Voter
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.cluster import Cluster
from tests.support.changes import done
from tests.support.jvm_tools import run_tool
from tests.support.outages import is_caught_up, stopped, wait_until_healthy
from tests.support.waiting import applied, wait_for

TOOLS = "org.apache.kafka.tools"


class Tool:
    """Runs a tool on the three brokers, and fails where it fails."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._bootstrap = sandbox.bootstrap

    def __call__(self, name: str, *arguments: str) -> str:
        ran = run_tool(f"{TOOLS}.{name}", "--bootstrap-server", self._bootstrap, *arguments)
        assert ran.returncode == 0, f"{name} {arguments}: {ran.stdout}{ran.stderr}"
        return ran.stdout


@pytest.fixture
def tool(three_brokers: Sandbox) -> Tool:
    return Tool(three_brokers)


def test_the_quorum(three: Cluster, tool: Tool) -> None:
    ours = quorum.describe(three)
    status = dict(
        re.findall(r"(\w+): +(.*)", tool("MetadataQuorumCommand", "describe", "--status"))
    )
    assert (int(status["LeaderId"]), int(status["LeaderEpoch"])) == (
        ours.leader, ours.leader_epoch,
    )  # fmt: skip
    assert int(status["HighWatermark"]) >= ours.high_watermark
    assert {voter["id"]: voter for voter in json.loads(status["CurrentVoters"])} == {
        voter.id: {
            "id": voter.id,
            "directoryId": voter.directory_id,
            "endpoints": [str(each) for each in voter.endpoints],
        }
        for voter in ours.voters
    }
    table = tool("MetadataQuorumCommand", "describe", "--replication").strip().splitlines()[1:]
    rows = [re.split(r"\s+", line.strip()) for line in table]
    assert {(row[0], row[1], row[-1].lower()) for row in rows} == {
        (str(each.id), each.directory_id, "leader" if each.id == ours.leader else "follower")
        for each in ours.replicas
    }


def test_a_voter_that_the_tool_removed_comes_back_by_us(three: Cluster, tool: Tool) -> None:
    voter = next(each for each in quorum.describe(three).voters if each.role == "voter")
    wait_until_healthy(three)  # while a controller is elected, the tool gives up
    tool(
        "MetadataQuorumCommand", "remove-controller", "--controller-id", str(voter.id),
        "--controller-directory-id", voter.directory_id,
    )  # fmt: skip
    wait_for("it follows as an observer", lambda: is_caught_up(three, voter.id))
    left = quorum.describe(three)
    assert [each.id for each in left.replicas if not each.votes] == [voter.id]
    place = voter.endpoints[0]
    at = Endpoint("", place.host, place.port)
    done(quorum.plan_alter(three, [Voter(voter.id, endpoints=(at,))], []), three)
    assert f'"id": {voter.id}, "directoryId": "{voter.directory_id}"' in tool(
        "MetadataQuorumCommand", "describe", "--status"
    )


_FEATURE = re.compile(
    r"Feature: (\S+)\s+SupportedMinVersion: (\S+)\s+SupportedMaxVersion: (\S+)"
    r"\s+FinalizedVersionLevel: (\S+)\s+Epoch: (\d+)"
)


def told_features(tool: Tool) -> dict[str, tuple[str, str, str]]:
    rows = _FEATURE.findall(tool("FeatureCommand", "describe"))
    return {name: (low, high, level) for name, low, high, level, _ in rows}


def our_features(cluster: Cluster) -> dict[str, tuple[str, str, str]]:
    """As the tool prints them: levels of metadata.version by their names."""

    def spelled(name: str, level: int) -> str:
        return features.release_of(level) if name == features.METADATA else str(level)

    return {
        f.name: (spelled(f.name, f.lowest), spelled(f.name, f.highest), spelled(f.name, f.level))
        for f in features.describe(cluster).features
    }


def test_features_described_and_changed_by_either(three: Cluster, tool: Tool) -> None:
    assert our_features(three) == told_features(tool)
    tool("FeatureCommand", "downgrade", "--feature", "streams.version=0")
    applied(three)
    assert our_features(three)["streams.version"][2] == "0"
    done(features.plan_update(three, {"streams.version": 1}), three)
    applied(three)
    assert told_features(tool)["streams.version"][2] == "1"


@pytest.mark.parametrize("release", ["3.8", "3.9", "4.0", "4.1-IV0", "4.2", "4.3"])
def test_what_a_release_comes_with(tool: Tool, release: str) -> None:
    told = tool("FeatureCommand", "version-mapping", "--release-version", release)
    levels = {name: int(level) for name, level in re.findall(r"([\w.]+)=(\d+)", told)}
    assert features.levels_of_release(release) == levels


def test_api_versions(three: Cluster, tool: Tool) -> None:
    told = tool("BrokerApiVersionsCommand")
    by_broker: dict[int, dict[int, tuple[int, int]]] = {}
    for line in told.splitlines():
        if broker := re.search(r"\(id: (\d+) ", line):
            speaks = by_broker.setdefault(int(broker[1]), {})
        elif row := re.match(r"\t\w+\((\d+)\): (\d+)(?: to (\d+))? ", line):
            speaks[int(row[1])] = (int(row[2]), int(row[3] or row[2]))
    ours, failed = features.api_versions(three)
    assert not failed
    assert by_broker == {
        broker: {
            api.key: (each.lowest, each.highest)
            for api in ours
            for each in api.brokers
            if each.broker == broker
        }
        for broker in (1, 2, 3)
    }


def test_a_broker_that_the_tool_unregistered(
    three_brokers: Sandbox, three: Cluster, tool: Tool
) -> None:
    gone = 3 if quorum.describe(three).leader != 3 else 2
    with stopped(three_brokers, gone):
        assert registrations.registered(three) == {1, 2, 3}
        up = next(broker for broker in three_brokers.brokers if broker.id != gone)
        address = f"127.0.0.1:{up.ports['PLAINTEXT']}"
        ran = run_tool(
            f"{TOOLS}.ClusterTool", "unregister", "--bootstrap-server", address, "--id", str(gone)
        )
        assert f"Broker {gone} is no longer registered." in ran.stdout, ran.stdout + ran.stderr
        applied(three)
        assert registrations.registered(three) == {1, 2, 3} - {gone}
    wait_until_healthy(three)
