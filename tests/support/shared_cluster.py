"""Restores the clusters that tests share, and reports what a test left on them."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping
from uuid import uuid4

from kafka_shell.admin.acls import change as acl_changes
from kafka_shell.admin.acls import read as acls
from kafka_shell.admin.acls.model import AclFilter
from kafka_shell.admin.cluster import feature_change, features, health, quorum, quorum_change
from kafka_shell.admin.cluster.decommission.plans import plan_uncordon
from kafka_shell.admin.cluster.model import Endpoint, Severity, Voter
from kafka_shell.admin.configs import change as config_changes
from kafka_shell.admin.configs import read as configs
from kafka_shell.admin.configs.model import ConfigAlteration, ConfigOp, ConfigResource, ResourceType
from kafka_shell.admin.partitions import elections
from kafka_shell.admin.partitions.cancel import plan_cancel
from kafka_shell.admin.partitions.progress import under_way
from kafka_shell.admin.partitions.throttle_configs import FOLLOWER_REPLICAS, LEADER_REPLICAS
from kafka_shell.admin.quotas import change as quota_changes
from kafka_shell.admin.quotas import read as quotas
from kafka_shell.admin.quotas.model import QuotaAlteration
from kafka_shell.admin.topics import change as topic_changes
from kafka_shell.admin.topics.model import NewTopic
from kafka_shell.admin.users import scram
from kafka_shell.admin.users.model import ScramMechanism
from kafka_shell.admin.wire.connection import Cluster
from kafka_shell.admin.wire.endpoint import Address, ConnectionConfig
from kafka_shell.admin.wire.metadata_scan import scan
from kafka_shell.common.structs import replace
from kafka_shell.errors import ShellError
from kafka_shell.plan.apply import apply
from kafka_shell.plan.model import Plan
from kafka_shell.sandbox.cluster import start, status
from kafka_shell.sandbox.state import Sandbox
from tests.support.changes import connect, done, make_topic, wait_for
from tests.support.frozen_process import is_frozen, thaw

# What a stopped broker leaves for a while, by the checks of health.
BROKERS = ("brokers", "controllers", "quorum", "offline", "under-replicated", "under-min-isr")
_THROTTLED = (LEADER_REPLICAS, FOLLOWER_REPLICAS)


def wait_until_healthy(
    cluster: Cluster, seconds: float = 60, checks: Collection[str] | None = None
) -> None:
    """Until health finds nothing wrong (by these checks); an error that says what it finds."""
    until = time.monotonic() + seconds
    while wrong := _wrong(cluster, checks):
        told = "\n  ".join(wrong)
        assert time.monotonic() < until, f"after {seconds:.0f} s the cluster is not well:\n  {told}"
        time.sleep(0.1)


def _wrong(cluster: Cluster, checks: Collection[str] | None) -> list[str]:
    try:
        findings = health.health(cluster).findings
    except ShellError as error:
        return [f"health cannot tell: {error}"]
    return [
        f"{each.severity.name} {each.check}: {each.summary} {', '.join(each.examples)}"
        for each in findings
        if each.severity is not Severity.NOTE and (checks is None or each.check in checks)
    ]


# -- brokers ---------------------------------------------------------------------------------------


def processes(sandbox: Sandbox) -> dict[int, int | None]:
    """The process id of each broker; none where it does not run."""
    now = status(sandbox.folder)
    return {broker.id: broker.pid for broker in now.brokers} if now else {}


def last_logged(sandbox: Sandbox, count: int = 40) -> str:
    """The last lines of each broker's log, without the configs that it prints at each change."""
    told = []
    for broker in sandbox.brokers:
        lines = broker.log.read_text(errors="replace").splitlines() if broker.log.exists() else []
        told += [str(broker.log), *[line for line in lines if line.startswith("[")][-count:]]
    return "\n".join(told)


def start_all(sandbox: Sandbox) -> None:
    """Start the brokers that do not run, all at once: one alone may wait for a quorum in vain."""
    start(replace(sandbox.options, port=0))


def wait_until_back(sandbox: Sandbox) -> None:
    """Until all brokers take replicas and are in sync, and all voters follow the leader.

    A broker that hung is fenced only when the controller looks at its clock again. So metadata in
    which all is fine proves nothing: first the controller creates a topic on all brokers.
    """
    count, name = len(sandbox.brokers), f"back.{uuid4().hex[:8]}"
    with connect(sandbox) as cluster:
        create = topic_changes.plan_create([NewTopic(name, 1, count)])
        _await(f"a topic is created on {count} brokers", lambda: apply(create, cluster).ok)
        _await("the topic is deleted again", lambda: _is_deleted(cluster, name))
        _await("all brokers are up and in sync", lambda: not _out_of_sync(cluster, count))
        _await("all voters follow the leader", lambda: _voters_follow(cluster))


def _is_deleted(cluster: Cluster, name: str) -> bool:
    """A broker repeats what it forwarded to a controller that stepped down: the second deletion
    finds nothing."""
    if name not in scan(cluster).names:
        return True
    apply(topic_changes.plan_delete(cluster, [name]), cluster)
    return False


def wait_until_applied(cluster: Cluster) -> None:
    """Until every broker has applied all changes made so far.

    Metadata is one log: a broker that shows a new topic has applied what was changed before it.
    """
    name = make_topic(cluster, f"applied.{uuid4().hex[:8]}")
    for one in each_broker(cluster):
        wait_for(f"{one!r} shows it", lambda one=one: name in scan(one).names)
    done(topic_changes.plan_delete(cluster, [name]), cluster)


def _await(what: str, condition: Callable[[], bool]) -> None:
    """While brokers come back, any request may fail."""

    def holds() -> bool:
        try:
            return condition()
        except ShellError:
            return False

    wait_for(what, holds, 60)


def _out_of_sync(cluster: Cluster, count: int) -> list[str]:
    up = len(cluster.brokers(refresh=True))
    found = scan(cluster)
    return [f"only {up} of {count} brokers are up"] * (up < count) + [
        f"partition {name}:{each.partition} is out of sync"
        for name in found.names
        for each in found.topic(name).partitions
        if set(each.isr) != set(each.replicas)
    ]


def _voters_follow(cluster: Cluster) -> bool:
    now = quorum.describe(cluster)
    return now.leader > 0 and all(0 <= each.behind_ms < 2_000 for each in now.voters)


# -- what tests leave behind -----------------------------------------------------------------------


def state(cluster: Cluster) -> dict[str, str]:
    """What tests could leave behind for others, by what it is."""
    return dict(_state(cluster))


def _state(cluster: Cluster) -> Iterator[tuple[str, str]]:
    for voter in quorum.describe(cluster).voters:
        yield f"voter {voter.id}", voter.directory_id
    for feature in features.describe(cluster).features:
        yield f"feature {feature.name}", str(feature.level)
    for resource, key, value in _overrides(cluster):
        yield f"config {resource} {key}", value
    for quota in quotas.describe(cluster):
        yield f"quota {quota.entity} {quota.key}", str(quota.value)
    for binding in acls.describe(cluster):
        yield f"ACL {binding}", "set"
    for one in each_broker(cluster):
        for credential in _credentials(one):
            yield credential, "set"


def each_broker(cluster: Cluster) -> Iterator[Cluster]:
    """A connection to each broker alone. Kafka 4.3.1 loses credentials in a broker that starts: it
    applies all changes at once, and drops a mechanism whose map a removal leaves empty."""
    for broker in cluster.brokers(refresh=True):
        with Cluster(ConnectionConfig((Address(broker.host, broker.port),))) as one:
            yield one


def _credentials(one: Cluster) -> dict[str, tuple[str, ScramMechanism]]:
    users = scram.describe(one)
    assert users.ok, f"credentials could not be read: {users.failures}"
    return {
        f"credential {each.user} {each.mechanism.name}": (each.user, each.mechanism)
        for owned in users
        for each in owned
    }


def _overrides(cluster: Cluster) -> Iterator[tuple[ConfigResource, str, str]]:
    """Dynamic configs of brokers and their default, and throttled replicas of topics."""
    ids = ["", *(str(broker.id) for broker in cluster.brokers())]
    brokers = configs.describe(cluster, [ConfigResource(ResourceType.BROKER, id) for id in ids])
    topics = [ConfigResource(ResourceType.TOPIC, name) for name in scan(cluster).names]
    for found in (brokers, configs.describe(cluster, topics, _THROTTLED)):
        for resource, entries in found.values.items():
            for entry in entries:
                if entry.overridden:
                    yield resource, entry.name, entry.value or ""


def restore(sandbox: Sandbox, before: Mapping[str, str]) -> list[str]:
    """Restore this state, with all brokers up and in sync. Returns what a test left behind."""
    left = _revive(sandbox)
    with connect(sandbox) as cluster:
        left += _cancel_moves(cluster)
        if left or _out_of_sync(cluster, len(sandbox.brokers)):
            wait_until_back(sandbox)
            wait_until_applied(cluster)  # any broker may be asked
        now = state(cluster)
        if now != before:
            left += [f"{what}: {value}" for what, value in now.items() if before.get(what) != value]
            left += [f"{what}: missing" for what in before if what not in now]
            _repair(sandbox, cluster, now, before)
            after = state(cluster)
            different = after.items() ^ before.items()
            assert after == before, f"left behind, and not repaired: {different}"
        if scan(cluster).misplaced():
            apply(elections.plan_preferred(elections.misplaced(cluster), named=False), cluster)
    return left


def _revive(sandbox: Sandbox) -> list[str]:
    found = processes(sandbox)
    frozen = [broker for broker, pid in found.items() if pid is not None and is_frozen(pid)]
    for broker in frozen:
        thaw(found[broker] or 0)
    stopped = [broker for broker, pid in found.items() if pid is None]
    start_all(sandbox)
    return [
        *(f"broker {broker}: frozen" for broker in frozen),
        *(f"broker {broker}: stopped" for broker in stopped),
    ]


def _cancel_moves(cluster: Cluster) -> list[str]:
    moving = list(under_way(cluster))
    _settle(plan_cancel(cluster, [each.topic_partition for each in moving]), cluster)
    wait_for("nothing moves any more", lambda: not under_way(cluster).values)
    return [f"reassignment of {each.topic_partition}: in progress" for each in moving]


def uncordon(cluster: Cluster) -> None:
    """Let every broker get replicas."""
    for broker in cluster.brokers(refresh=True):
        _settle(plan_uncordon(cluster, broker.id), cluster)


def _repair(
    sandbox: Sandbox, cluster: Cluster, now: Mapping[str, str], before: Mapping[str, str]
) -> None:
    restore_voters(sandbox, cluster)
    levels = {
        what.removeprefix("feature "): int(level)
        for what, level in before.items()
        if what.startswith("feature ") and now.get(what) != level
    }
    _settle(feature_change.plan_update(cluster, levels), cluster)
    for resource, key, value in list(_overrides(cluster)):
        wanted = before.get(f"config {resource} {key}")
        if wanted != value:
            op = ConfigOp.DELETE if wanted is None else ConfigOp.SET
            alteration = ConfigAlteration(key, op, wanted)
            _settle(config_changes.plan_alter(cluster, {resource: [alteration]}), cluster)
    gone = [
        QuotaAlteration(quota.entity, quota.key, None)
        for quota in quotas.describe(cluster)
        if f"quota {quota.entity} {quota.key}" not in before
    ]
    _settle(quota_changes.plan_alter(cluster, gone), cluster)
    bindings = [each for each in acls.describe(cluster) if f"ACL {each}" not in before]
    _settle(acl_changes.plan_delete(cluster, list(map(AclFilter.exactly, bindings))), cluster)
    for one in each_broker(cluster):  # a plan has no step for what its broker does not show
        own = _credentials(one)
        apply(scram.plan_delete(one, [own[each] for each in own if each not in before]), one)
    wait_until_applied(cluster)


def _settle(plan: Plan, cluster: Cluster) -> None:
    if plan.steps:
        done(plan, cluster)


def restore_voters(sandbox: Sandbox, cluster: Cluster) -> None:
    """Make every controller a voter again. The leader takes it when it has caught up."""
    for broker in sandbox.brokers:
        if broker.controller_port is None or _is_voter(cluster, broker.id):
            continue
        _await(f"controller {broker.id} follows", lambda id=broker.id: is_caught_up(cluster, id))
        place = Endpoint("", "127.0.0.1", broker.controller_port)
        done(quorum_change.plan_alter(cluster, [Voter(broker.id, endpoints=(place,))], []), cluster)
    _await("all voters follow the leader", lambda: _voters_follow(cluster))


def _is_voter(cluster: Cluster, id: int) -> bool:
    return id in {voter.id for voter in quorum.describe(cluster).voters}


def is_caught_up(cluster: Cluster, id: int) -> bool:
    """Whether the leader would take this observer as a voter: it has fetched from this leader, and
    this leader has committed something."""
    now = quorum.describe(cluster)
    observers = [each for each in now.replicas if not each.votes]
    follows = any(each.id == id and 0 <= each.behind_ms < 2_000 for each in observers)
    return follows and now.leader > 0 and now.high_watermark >= 0
