"""The metadata quorum: described, and voters added and removed on three controllers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_shell.admin.cluster import features, quorum
from kafka_shell.admin.cluster.model import Endpoint, QuorumReplica, Voter
from kafka_shell.base.errors import ShellError
from kafka_shell.base.plans import Effect, Order
from kafka_shell.base.structs import Resource, replace
from kafka_shell.commands import REGISTRY
from kafka_shell.language.parse import parse
from kafka_shell.language.tokens import tokenize
from kafka_shell.output.change_kinds import undo_lines
from kafka_shell.sandbox import config, process, state
from kafka_shell.sandbox.cluster import start, wipe
from kafka_shell.sandbox.state import Sandbox, SandboxOptions
from kafka_shell.wire.cluster import Cluster
from tests.support import outages
from tests.support.changes import connect, done, refusals
from tests.support.outages import stopped
from tests.support.waiting import wait_for

ABSENT = Voter(99, "A" * 21 + "Q", (Endpoint("", "127.0.0.1", 1),))


def voters(cluster: Cluster) -> dict[int, QuorumReplica]:
    return {replica.id: replica for replica in quorum.describe(cluster).voters}


def test_a_quorum_described(three: Cluster) -> None:
    found = quorum.describe(three)
    assert [replica.role for replica in found.replicas] == ["leader", "voter", "voter"]
    assert found.replicas[0].id == found.leader and found.leader_epoch > 0
    assert sorted(voters(three)) == [1, 2, 3]
    for replica in found.voters:
        assert len(replica.directory_id) == 22
        (endpoint,) = replica.endpoints
        assert (endpoint.name, endpoint.host) == ("CONTROLLER", "127.0.0.1")
        assert replica.lag >= 0 and replica.behind_ms >= 0 and replica.last_caught_up > 0


def of_the_line(text: str) -> tuple[list[Voter], list[Voter]]:
    """What a line of ours asks for, by the command's own reading."""
    from kafka_shell.commands.cluster.quorum import _to_add, _to_remove

    invocation = parse(tokenize(text), REGISTRY)
    add = [_to_add(invocation, index) for index in range(len(invocation["add"]))]
    return add, [_to_remove(invocation, index) for index in range(len(invocation["remove"]))]


@pytest.fixture
def quorum_of_three(three_brokers: Sandbox, three: Cluster) -> Iterator[Cluster]:
    """Three voters, which a test may remove."""
    try:
        yield three
    finally:
        _restore_voters(three_brokers, three)


def _restore_voters(sandbox: Sandbox, cluster: Cluster) -> None:
    """Make every controller a voter again. The leader takes it when it has caught up."""
    for broker in sandbox.brokers:
        if broker.controller_port is None or broker.id in voters(cluster):
            continue
        outages.eventually(
            f"controller {broker.id} follows",
            lambda id=broker.id: outages.is_caught_up(cluster, id),
        )
        place = Endpoint("", "127.0.0.1", broker.controller_port)
        done(quorum.plan_alter(cluster, [Voter(broker.id, endpoints=(place,))], []), cluster)
    outages.eventually("all voters follow the leader", lambda: outages.voters_follow(cluster))


def wait_until_caught_up(cluster: Cluster, id: int) -> None:
    """Until the leader would take this observer as a voter: it has fetched from this leader."""
    outages.eventually(f"controller {id} has caught up", lambda: outages.is_caught_up(cluster, id))


def test_a_voter_is_removed_and_the_line_that_takes_it_back_adds_it(
    quorum_of_three: Cluster,
) -> None:
    three = quorum_of_three
    before = quorum.describe(three)
    other = next(replica for replica in before.replicas if replica.role == "voter")
    plan = quorum.plan_alter(three, [], [Voter(other.id)])
    assert plan.effect is Effect.DESTROY
    assert plan.advice.warnings == ("2 voters are left: the quorum then tolerates no failure",)
    done(plan, three)
    left = quorum.describe(three)
    assert {replica.id for replica in left.voters} == {1, 2, 3} - {other.id}
    wait_until_caught_up(three, other.id)
    observer = next(r for r in quorum.describe(three).replicas if r.id == other.id)
    assert (observer.role, observer.directory_id) == ("observer", other.directory_id)
    gone = quorum.plan_alter(three, [], [Voter(other.id)])
    assert refusals(gone)[str(other.id)].name == "VOTER_NOT_FOUND"
    (line,) = undo_lines(plan.changes)
    add, remove = of_the_line(line)
    back = quorum.plan_alter(three, add, remove)
    done(back, three)
    assert back.effect is Effect.CHANGE
    now = voters(three)
    assert now[other.id].directory_id == other.directory_id
    assert now[other.id].endpoints == other.endpoints
    assert undo_lines(back.changes) == (f"alter-quorum --remove {other.id}:{other.directory_id}",)


def test_an_observer_needs_only_its_address_and_a_leader_can_remove_itself(
    quorum_of_three: Cluster,
) -> None:
    three = quorum_of_three
    leader = quorum.describe(three).replicas[0]
    done(quorum.plan_alter(three, [], [Voter(leader.id, leader.directory_id)]), three)
    wait_for("another leads", lambda: quorum.describe(three).leader not in (-1, leader.id))
    wait_until_caught_up(three, leader.id)
    place = replace(leader.endpoints[0], name="")  # the name of the others' listener is taken
    done(quorum.plan_alter(three, [Voter(leader.id, endpoints=(place,))], []), three)
    now = voters(three)[leader.id]
    assert (now.directory_id, now.endpoints) == (leader.directory_id, leader.endpoints)


def test_what_cannot_be_is_refused_before_anything_is_sent(three: Cluster) -> None:
    one = voters(three)[1]
    plan = quorum.plan_alter(
        three,
        [replace(ABSENT, directory_id=""), Voter(2, endpoints=ABSENT.endpoints)],
        [Voter(1, "A" * 21 + "Q"), Voter(7)],
    )
    assert plan.steps == ()
    found = refusals(plan)
    assert {id: why.name for id, why in found.items()} == {
        "99": "unknown-directory-id", "2": "DUPLICATE_VOTER", "1": "VOTER_NOT_FOUND",
        "7": "VOTER_NOT_FOUND",
    }  # fmt: skip
    assert one.directory_id in found["1"].message
    assert "the voters are 1, 2, 3" in found["7"].message
    everyone = quorum.plan_alter(three, [], [Voter(id) for id in (1, 2, 3)])
    assert everyone.steps == () and len(refusals(everyone)) == 3


def test_additions_come_first_but_for_a_voter_with_a_new_disk(three: Cluster) -> None:
    at = (Endpoint("", "127.0.0.1", 1),)
    plan = quorum.plan_alter(three, [Voter(99, "A" * 21 + "Q", at)], [Voter(3)])
    assert [change.verb for change in plan.changes] == ["create", "delete"]
    new_disk = quorum.plan_alter(three, [Voter(3, "A" * 21 + "Q", at)], [Voter(3)])
    assert [change.verb for change in new_disk.changes] == ["delete", "create"]
    assert Order.CHAINED in plan.order, "one that fails keeps the rest from being done"


def test_a_voter_that_nobody_can_reach_is_not_added(three: Cluster) -> None:
    before = sorted(voters(three))
    (step,) = quorum.plan_alter(three, [ABSENT], [], timeout_ms=1000).steps
    (why,) = step.send(three, validate_only=False).failures.values()
    assert why.name == "REQUEST_TIMED_OUT" and why.see == Resource("voter")
    assert sorted(voters(three)) == before


def test_a_voter_whose_removal_would_end_the_majority_is_not_removed(
    three_brokers: Sandbox, quorum_of_three: Cluster
) -> None:
    """One of two voters that are left would be alive: the removal could not be committed."""
    three = quorum_of_three
    leader = quorum.describe(three).leader
    dead, other = sorted({1, 2, 3} - {leader})
    safe = quorum.plan_alter(three, [], [Voter(other)])
    with stopped(three_brokers, dead):
        wait_for("it is behind", lambda: not voters(three)[dead].keeps_up, 60)
        for id in (other, leader):
            plan = quorum.plan_alter(three, [], [Voter(id)])
            why = refusals(plan)[str(id)]
            assert plan.steps == ()
            assert why.message == (
                f"the metadata quorum would lose its majority without voter {id}: 1 voter left,"
                " 2 required"
            )
            assert why.hint == (
                f"Voter {dead} has not caught up with the leader: start or remove it first."
            )
        with pytest.raises(ShellError, match="would lose its majority"):
            safe.steps[0].reread(three)
        replaced = quorum.plan_alter(three, [ABSENT], [Voter(other)])
        assert replaced.refused.ok, "the new voter is part of the majority"
        assert replaced.steps[1].reread(three) == replaced.steps[1]
        assert replaced.advice.warnings == (
            "3 voters are left (1 not caught up): the quorum then tolerates no failure",
        )
        both = quorum.plan_alter(three, [], [Voter(other), Voter(dead)])
        assert [change.resource.name for change in both.changes] == [str(dead), str(other)]
        alone = quorum.plan_alter(three, [], [Voter(dead)])
        assert alone.advice.warnings == ("2 voters are left: the quorum then tolerates no failure",)
        done(alone, three)
        assert sorted(voters(three)) == sorted({1, 2, 3} - {dead})


@pytest.fixture(scope="module")
def static_quorum(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A cluster formatted as before KIP-853: kraft.version 0."""
    folder = tmp_path_factory.mktemp("static")
    settings, write = config.node_settings, process.write_arguments

    def fixed(sandbox: Sandbox, broker: state.Broker) -> dict[str, str]:
        found = settings(sandbox, broker)
        place = found.pop("controller.quorum.bootstrap.servers")
        return found | {"controller.quorum.voters": f"{broker.id}@{place}"}

    def without_voters(path: Path, arguments: list[str]) -> None:
        at = arguments.index("--initial-controllers")
        write(path, arguments[:at] + arguments[at + 2 :])

    try:
        with pytest.MonkeyPatch.context() as patch:  # of this start only: others share the session
            patch.setattr(config, "node_settings", fixed)
            patch.setattr(config, "write_arguments", without_voters)
            sandbox = start(SandboxOptions(folder, port=0))
        with connect(sandbox) as cluster:
            yield cluster
    finally:
        wipe(folder)


def test_a_fixed_quorum_says_so_until_it_is_upgraded(static_quorum: Cluster) -> None:
    (only,) = quorum.describe(static_quorum).voters
    assert only.id == 1
    kraft = features.describe(static_quorum).get("kraft.version")
    assert kraft is not None and (kraft.level, kraft.highest) == (0, 1)
    why = refusals(quorum.plan_alter(static_quorum, [ABSENT], []))["99"]
    assert why.name == "UNSUPPORTED_VERSION"
    assert why.hint == "Set the feature kraft.version to 1 first."
    # The broker's own words, where it is asked all the same.
    step = quorum.AddVoter(replace(ABSENT, endpoints=(Endpoint("CONTROLLER", "h", 1),)), 1000)
    (refused,) = step.send(static_quorum, validate_only=False).failures.values()
    assert refused.name == "UNSUPPORTED_VERSION" and "kraft.version" in refused.message

    plan = features.plan_update(static_quorum, {"kraft.version": 1})
    (change,) = plan.changes
    assert not change.reversible, "a dynamic quorum stays one"
    done(plan, static_quorum)
    (only,) = quorum.describe(static_quorum).voters
    assert only.directory_id, "voters are in the log now, with their directories"
    again = quorum.plan_alter(static_quorum, [ABSENT], [], timeout_ms=1000)
    assert len(again.steps) == 1, "it may be asked now"


@pytest.mark.parametrize("fixture", ["cluster", "old_cluster"])
def test_one_voter_alone_is_not_removed(request: pytest.FixtureRequest, fixture: str) -> None:
    cluster: Cluster = request.getfixturevalue(fixture)
    (only,) = quorum.describe(cluster).voters
    plan = quorum.plan_alter(cluster, [], [Voter(only.id)])
    assert plan.steps == () and refusals(plan)[str(only.id)].name == "INVALID_REQUEST"
