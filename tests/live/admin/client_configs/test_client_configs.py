"""Dynamic client configs on a real broker: the topics are created on first use; alter, describe and
resolve configs."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from kafka_shell.admin.client_configs import change as client_config_changes
from kafka_shell.admin.client_configs import read as client_configs
from kafka_shell.admin.client_configs.model import (
    CONFIGS_TOPIC,
    EXPIRES_MS,
    REGISTRATIONS_TOPIC,
    ClientConfigAlteration,
    ClientConfigFilter,
    ClientEntity,
    ClientRegistration,
    config_record,
    registration_record,
)
from kafka_shell.admin.configs import change as config_changes
from kafka_shell.admin.configs import read as configs
from kafka_shell.admin.configs.model import ConfigAlteration, ConfigOp, ConfigResource, ResourceType
from kafka_shell.admin.quotas import change as quota_changes
from kafka_shell.admin.quotas import read as quotas
from kafka_shell.admin.quotas.model import ANY_NAME, DEFAULT, QuotaAlteration, QuotaEntity
from kafka_shell.admin.records import read as log
from kafka_shell.admin.topics import change as topic_changes
from kafka_shell.audit.table import ReadFailure
from kafka_shell.audit.tables.access import read_client_configs, read_effective_client_configs
from kafka_shell.base.errors import ShellError
from kafka_shell.output.change_kinds import undo_lines
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire import metadata_scan
from kafka_shell.wire.cluster import Cluster
from tests.support.changes import connect, done, make_topic, refusals
from tests.support.waiting import wait_for

ALICE, APP = ClientEntity("alice"), ClientEntity("alice", "app")
BOB = ClientEntity("bob")
NOW = 1_790_000_000_000


def gone(cluster: Cluster) -> None:
    """Without the two topics, and surely so."""
    found = metadata_scan.scan(cluster).names
    there = [topic for topic in (CONFIGS_TOPIC, REGISTRATIONS_TOPIC) if topic in found]
    if there:
        done(topic_changes.plan_delete(cluster, there), cluster)
    wait_for("the topics go", lambda: CONFIGS_TOPIC not in metadata_scan.scan(cluster).names)


@pytest.fixture
def without(cluster: Cluster) -> Iterator[Cluster]:
    """A broker without the topics."""
    gone(cluster)
    yield cluster
    gone(cluster)


@pytest.fixture
def store(cluster: Cluster) -> Iterator[Cluster]:
    """A broker with both topics, empty but for one config of nobody's concern."""
    gone(cluster)
    alter(cluster, (ClientEntity("nobody"), "acks", "1"))
    yield cluster
    gone(cluster)


def alter(cluster: Cluster, *wanted: tuple[ClientEntity, str, str | None]) -> None:
    alterations = [ClientConfigAlteration(*one) for one in wanted]
    done(client_config_changes.plan_alter(cluster, alterations), cluster)


def held(cluster: Cluster, which: ClientConfigFilter | None = None) -> dict[str, str]:
    found = client_configs.describe(cluster, which)
    return {f"{c.entity} {c.key}": c.value for c in found if c.entity.user != "nobody"}


def refused(cluster: Cluster, *wanted: tuple[ClientEntity, str, str | None]) -> str:
    plan = client_config_changes.plan_alter(
        cluster, [ClientConfigAlteration(*one) for one in wanted]
    )
    (why,) = refusals(plan).values()
    assert why.name == "INVALID_REQUEST" and why.code == 42
    return f"{why.message} {why.hint}".strip()


def test_the_first_change_makes_the_topics_and_asks(without: Cluster) -> None:
    assert list(client_configs.describe(without)) == []
    assert list(client_configs.registrations(without, now=NOW)) == []
    plan = client_config_changes.plan_alter(without, [ClientConfigAlteration(ALICE, "acks", "all")])
    assert plan.advice.confirm, "topics are made only when somebody agreed"
    assert "this plan creates them" in plan.advice.warnings[0]
    done(plan, without)
    assert held(without) == {"user alice acks": "all"}
    resources = [
        ConfigResource(ResourceType.TOPIC, t) for t in (CONFIGS_TOPIC, REGISTRATIONS_TOPIC)
    ]
    policies = [e[0].value for e in configs.describe(without, resources, ["cleanup.policy"])]
    assert [set(str(p).split(",")) for p in policies] == [{"compact"}, {"compact", "delete"}]
    assert not client_config_changes.plan_alter(
        without, [ClientConfigAlteration(ALICE, "acks", "1")]
    ).advice.confirm, "the second change finds them"


def test_a_store_that_would_lose_configs_is_refused_with_the_remedy(without: Cluster) -> None:
    make_topic(without, CONFIGS_TOPIC)
    plan = client_config_changes.plan_alter(without, [ClientConfigAlteration(ALICE, "acks", "1")])
    why = refusals(plan)[CONFIGS_TOPIC]
    assert why.hint == f"Set cleanup.policy=compact on topic {CONFIGS_TOPIC}." and not plan.steps
    mend = ConfigAlteration("cleanup.policy", ConfigOp.SET, "compact")
    resource = ConfigResource(ResourceType.TOPIC, CONFIGS_TOPIC)
    done(config_changes.plan_alter(without, {resource: [mend]}), without)
    alter(without, (ALICE, "acks", "1"))


def test_compaction_loses_nothing_that_holds(store: Cluster) -> None:
    resource = ConfigResource(ResourceType.TOPIC, CONFIGS_TOPIC)
    eager = {"segment.ms": "1", "min.cleanable.dirty.ratio": "0.001", "delete.retention.ms": "0"}
    done(config_changes.plan_alter(store, {resource: [
        ConfigAlteration(key, ConfigOp.SET, value) for key, value in eager.items()
    ]}), store)  # fmt: skip
    for number in range(20):
        alter(store, (ALICE, "linger.ms", str(number)))
    alter(store, (APP, "acks", "1"))
    alter(store, (APP, "acks", None))

    def compacted() -> bool:
        alter(store, (BOB, "linger.ms", "1"))  # a new segment: the one before may be cleaned
        return len(log.read(store, CONFIGS_TOPIC)) < 15

    wait_for("the topic is compacted", compacted, 60)
    assert held(store) == {"user alice linger.ms": "19", "user bob linger.ms": "1"}


def test_several_entities_at_once_and_an_outcome_for_each(store: Cluster) -> None:
    wanted = [
        ClientConfigAlteration(ALICE, "acks", "2"),
        ClientConfigAlteration(APP, "acks", "0"),
        ClientConfigAlteration(BOB, "linger.ms", "5"),
        ClientConfigAlteration(BOB, "compression.type", "zstd"),
    ]
    plan = client_config_changes.plan_alter(store, wanted)
    assert list(refusals(plan)) == ["user alice"], "one wrong entity does not hold up the others"
    assert {change.resource.name for change in plan.changes} == {
        "user alice client-id app", "user bob",
    }  # fmt: skip
    assert held(store) == {}, "a plan sends nothing"


def test_matches_exact_default_any_and_strict(store: Cluster) -> None:
    alter(store, (ALICE, "acks", "all"), (APP, "acks", "0"), (BOB, "acks", "1"))
    alice, app, bob = "user alice acks", "user alice client-id app acks", "user bob acks"
    for which, expected in (
        (None, {alice, app, bob}),
        (ClientConfigFilter("alice"), {alice, app}),
        (ClientConfigFilter("alice", strict=True), {alice}),
        (ClientConfigFilter("alice", DEFAULT), {alice}),
        (ClientConfigFilter("alice", "app"), {app}),
        (ClientConfigFilter("alice", ANY_NAME), {app}),
        (ClientConfigFilter(ANY_NAME, DEFAULT), {alice, bob}),
    ):
        assert set(held(store, which)) == expected, which


@pytest.mark.parametrize("user", [None, DEFAULT])
def test_a_request_without_a_user_is_invalid(store: Cluster, user: None) -> None:
    with pytest.raises(ShellError) as refused:
        client_configs.describe(store, ClientConfigFilter(user))
    assert refused.value.code == "INVALID_REQUEST"


def test_resolution_prefers_the_client_id(store: Cluster) -> None:
    alter(store, (ALICE, "acks", "all"), (ALICE, "linger.ms", "5"), (APP, "acks", "0"))
    found = client_configs.resolved(store, "alice", "app")
    assert [(c.key, c.value, c.entity) for c in found] == [
        ("acks", "0", APP), ("linger.ms", "5", ALICE),
    ]  # fmt: skip
    alter(store, (APP, "acks", None))
    assert next(iter(client_configs.resolved(store, "alice", "app"))).value == "all"


def test_names_may_be_anything(store: Cluster) -> None:
    odd = ClientEntity('CN=a,O="x" {}', "訂單 / *")
    alter(store, (odd, "acks", "1"))
    assert [c.entity for c in client_configs.describe(store, ClientConfigFilter(odd.user))] == [odd]


def test_quotas_and_client_configs_never_show_in_each_others_lists(store: Cluster) -> None:
    entity = QuotaEntity(user="alice-of-both")
    try:
        done(
            quota_changes.plan_alter(store, [QuotaAlteration(entity, "producer_byte_rate", 5e4)]),
            store,
        )
        alter(store, (ClientEntity("alice-of-both"), "acks", "1"))
        assert [q.key for q in quotas.describe(store) if q.entity == entity] == [
            "producer_byte_rate"
        ]
        of_both = ClientConfigFilter("alice-of-both")
        assert [c.key for c in client_configs.describe(store, of_both)] == ["acks"]
    finally:
        done(
            quota_changes.plan_alter(store, [QuotaAlteration(entity, "producer_byte_rate", None)]),
            store,
        )


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("acks", "2", "acks must be one of all, -1, 0, 1, got '2'"),
        ("compression.type", "snapy", "Did you mean snappy?"),
        ("linger.ms", "soon", "an integer from 0"),
        ("linger.ms", "-1", "an integer from 0"),
        ("session.timeout.ms", "10", "brokers accept 6000 to 1800000"),
        ("ack", "1", "Did you mean acks?"),
        ("retention.ms", "1", "Use one of: acks, "),
    ],
)
def test_what_no_client_could_take_is_invalid(
    store: Cluster, key: str, value: str, said: str
) -> None:
    assert said in refused(store, (ALICE, key, value))


def test_a_key_twice_in_one_request_is_invalid(store: Cluster) -> None:
    assert "twice" in refused(store, (ALICE, "acks", "1"), (ALICE, "acks", "0"))


def test_a_heartbeat_stays_below_the_session_after_resolution(store: Cluster) -> None:
    alter(store, (ALICE, "session.timeout.ms", "10000"), (ALICE, "heartbeat.interval.ms", "3000"))
    said = refused(store, (APP, "heartbeat.interval.ms", "12000"))
    assert "session.timeout.ms=10000 (of user alice)" in said
    alter(store, (APP, "heartbeat.interval.ms", "8000"))
    said = refused(store, (ALICE, "session.timeout.ms", "7000"))
    below = "user alice client-id app: heartbeat.interval.ms=8000"
    assert below in said, "a client id below suffers too"
    alter(store, (APP, "heartbeat.interval.ms", None), (ALICE, "session.timeout.ms", "7000"))


def test_only_a_new_conflict_of_heartbeat_and_session_is_refused(store: Cluster) -> None:
    written = [
        config_record(ClientConfigAlteration(ALICE, key, "7000"))
        for key in ("session.timeout.ms", "heartbeat.interval.ms")
    ]
    log.append(store, CONFIGS_TOPIC, written)  # not checked
    alter(store, (ALICE, "linger.ms", "5"), (APP, "session.timeout.ms", "8000"))
    alter(store, (ALICE, "heartbeat.interval.ms", "7000"))
    said = refused(store, (ALICE, "heartbeat.interval.ms", "7001"))
    assert "heartbeat.interval.ms=7001 (of user alice)" in said


def test_a_change_that_is_refused_does_not_make_others_valid(store: Cluster) -> None:
    alter(store, (ALICE, "session.timeout.ms", "10000"))
    plan = client_config_changes.plan_alter(
        store,
        [
            ClientConfigAlteration(ALICE, "session.timeout.ms", "20000"),
            ClientConfigAlteration(ALICE, "heartbeat.interval.ms", "21000"),
            ClientConfigAlteration(APP, "heartbeat.interval.ms", "15000"),
        ],
    )
    assert refusals(plan).keys() == {str(ALICE), str(APP)}


def test_a_key_that_some_client_registered_is_taken(store: Cluster) -> None:
    said = ClientRegistration(APP, "other", "9", ("ack", "strange.key"), int(time.time() * 1000))
    log.append(store, REGISTRATIONS_TOPIC, [registration_record(said)])
    alter(store, (ALICE, "strange.key", "whatever"))


def test_registrations_by_version_expire_and_can_be_forgotten(store: Cluster) -> None:
    fresh = ClientRegistration(APP, "lib", "2", ("acks", "linger.ms"), NOW)
    old = ClientRegistration(APP, "lib", "1", ("acks",), NOW - EXPIRES_MS)
    again = ClientRegistration(APP, "lib", "2", ("acks",), NOW)
    log.append(store, REGISTRATIONS_TOPIC, [registration_record(r) for r in (old, fresh, again)])
    assert list(client_configs.registrations(store, now=NOW)) == [again], "the last word holds"
    assert list(client_configs.registrations(store, ClientConfigFilter("bob"), now=NOW)) == []
    done(client_config_changes.plan_forget(store, [APP], now=NOW), store)
    assert list(client_configs.registrations(store, now=NOW)) == []


def test_two_administrators_at_once_lose_nothing(store: Cluster, sandbox: Sandbox) -> None:
    def admin(key: str, values: list[str]) -> Callable[[], None]:
        def work() -> None:
            with connect(sandbox) as own:
                for value in values:
                    alter(own, (ALICE, key, value))

        return work

    jobs = [admin("linger.ms", [str(n) for n in range(10)]), admin("batch.size", ["1", "2", "3"])]
    with ThreadPoolExecutor(2) as pool:
        for future in [pool.submit(job) for job in jobs]:
            future.result()
    assert held(store) == {"user alice linger.ms": "9", "user alice batch.size": "3"}


def test_records_of_a_newer_format_are_left_to_newer_programs(store: Cluster) -> None:
    newer = b'{"version":2,"user":"alice","client_id":null,"key":"acks"}'
    log.append(store, CONFIGS_TOPIC, [(newer, b'{"version":2,"value":["x"]}'), (b"junk", b"junk")])
    log.append(store, REGISTRATIONS_TOPIC, [(newer, b"{}")])
    alter(store, (ALICE, "acks", "1"))
    assert held(store) == {"user alice acks": "1"}
    for found in (client_configs.describe(store), client_configs.registrations(store, now=NOW)):
        reasons = [why.message for why in found.failures.values()]
        assert "its format version is 2, expected 1" in reasons


def test_audits_report_records_of_a_newer_format(store: Cluster) -> None:
    alter(store, (ALICE, "acks", "1"))
    newer = b'{"version":2,"user":"alice","client_id":null,"key":"linger.ms"}'
    log.append(store, CONFIGS_TOPIC, [(newer, b'{"version":2,"value":["x"]}')])
    for read in (read_client_configs, read_effective_client_configs):
        rows = list(read.read(store, ()))
        (failure,) = [row for row in rows if isinstance(row, ReadFailure)]
        assert failure.error == "unknown-format" and "version is 2" in failure.reason
        assert "alice" in [row[0] for row in rows if not isinstance(row, ReadFailure)]


def test_a_value_that_would_be_refused_is_not_offered_as_an_undo(store: Cluster) -> None:
    """Another program may write anything; undoing the change of it would fail."""
    written = ClientConfigAlteration(ALICE, "acks", "maybe")
    log.append(store, CONFIGS_TOPIC, [config_record(written)])
    alter(store, (ALICE, "linger.ms", "5"))
    wanted = [
        ClientConfigAlteration(ALICE, "acks", "all"),
        ClientConfigAlteration(ALICE, "linger.ms", "6"),
    ]
    plan = client_config_changes.plan_alter(store, wanted)
    assert [(c.field, c.reversible) for c in plan.changes] == [("acks", False), ("linger.ms", True)]
    assert "invalid" in plan.changes[0].note
    (undo,) = undo_lines(plan.changes)
    assert undo == "alter-client-configs --user alice linger.ms=5"
    (step,) = plan.steps
    assert step.reread(store).changes == plan.changes


def test_a_value_that_cannot_be_decoded_is_deleted_and_not_restored(store: Cluster) -> None:
    named, _ = config_record(ClientConfigAlteration(ALICE, "linger.ms", "5"))
    log.append(store, CONFIGS_TOPIC, [(named, b'{"version":2,"value":["x"]}')])
    plan = client_config_changes.plan_alter(
        store, [ClientConfigAlteration(ALICE, "linger.ms", None)]
    )
    (change,) = plan.changes
    assert not change.reversible and "could not be decoded" in change.note, change
    done(plan, store)
    assert log.read(store, CONFIGS_TOPIC)[-1].value is None


def test_a_value_that_is_no_number_is_no_obstacle_to_changes(store: Cluster) -> None:
    written = ClientConfigAlteration(ALICE, "session.timeout.ms", "30s")
    log.append(store, CONFIGS_TOPIC, [config_record(written)])
    alter(store, (ALICE, "heartbeat.interval.ms", "3000"))
    assert held(store) == {
        "user alice session.timeout.ms": "30s",
        "user alice heartbeat.interval.ms": "3000",
    }
