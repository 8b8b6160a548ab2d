"""The admin client for Python programs, and its operations on each family of resources."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from kafka_shell.admin.acls import authorizer
from kafka_shell.admin.acls import change as acl_changes
from kafka_shell.admin.acls import read as acls
from kafka_shell.admin.activity import sample
from kafka_shell.admin.calls import Calls, Client, ClusterPlan, Family, Plans, Reads
from kafka_shell.admin.client_configs import change as client_config_changes
from kafka_shell.admin.client_configs import read as client_configs
from kafka_shell.admin.client_configs.model import (
    ClientConfigFilter,
    ClientEntity,
    ClientRegistration,
)
from kafka_shell.admin.cluster import decommission, unregister
from kafka_shell.admin.cluster import features as feature_changes
from kafka_shell.admin.cluster import quorum as quorum_changes
from kafka_shell.admin.cluster import read as cluster_reads
from kafka_shell.admin.cluster.features import api_versions
from kafka_shell.admin.cluster.features import describe as describe_features
from kafka_shell.admin.cluster.health import health as find_problems
from kafka_shell.admin.cluster.quorum import describe as describe_quorum
from kafka_shell.admin.cluster.restart import read as restart
from kafka_shell.admin.cluster.restart.judge import BackInSync
from kafka_shell.admin.configs import change as config_changes
from kafka_shell.admin.configs import read as configs
from kafka_shell.admin.groups import members, resets
from kafka_shell.admin.groups import read as groups
from kafka_shell.admin.partitions import (
    elections,
    in_progress,
    log_dir_moves,
    log_dirs,
    reassignment,
    targets,
)
from kafka_shell.admin.partitions.batches import BatchLimits
from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.admin.partitions.planner.placement import MIN_GAIN, PlanLimits
from kafka_shell.admin.partitions.planner.plan import Scope
from kafka_shell.admin.partitions.targets import Brokers
from kafka_shell.admin.quotas import change as quota_changes
from kafka_shell.admin.quotas import read as quotas
from kafka_shell.admin.records import copy as copies
from kafka_shell.admin.records import delete, produce
from kafka_shell.admin.records.codecs import CODECS
from kafka_shell.admin.records.copy import CopyRequest
from kafka_shell.admin.records.model import NewRecord
from kafka_shell.admin.records.offsets import list_offsets, ranges
from kafka_shell.admin.records.read import Position, RecordStream, last_of
from kafka_shell.admin.tokens import change as token_changes
from kafka_shell.admin.tokens import read as tokens
from kafka_shell.admin.topics import change as topic_changes
from kafka_shell.admin.topics import partitions
from kafka_shell.admin.topics import read as topics
from kafka_shell.admin.topics.model import NewTopic
from kafka_shell.admin.topics.read import scan_reassigned
from kafka_shell.admin.transactions import change as transaction_changes
from kafka_shell.admin.transactions import read as transactions
from kafka_shell.admin.transactions.producers import describe as describe_producers
from kafka_shell.admin.users import read as users
from kafka_shell.admin.users import scram
from kafka_shell.base.errors import UsageError
from kafka_shell.base.plans import Plan, Secret
from kafka_shell.base.results import Results
from kafka_shell.wire.client_properties import read_properties
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.model import Topic, TopicSummary

_BOOTSTRAP = "bootstrap.servers"
_TOGETHER = 10_000  # records that are written at once


class TopicsApi(Family):
    """Topics (KIP-4).

    Example:

        plan = admin.topics.plan_create([NewTopic("example.orders", partitions=3)])
        results = plan.apply()
        assert results.ok, results.failures

        described = admin.topics.describe(["example.orders", "example.missing"])
        assert len(described["example.orders"].partitions) == 3
        failure = described.failures["example.missing"]
        assert failure.name == "UNKNOWN_TOPIC_OR_PARTITION"

        assert admin.topics.plan_delete(["example.orders"]).apply().ok
    """

    def list(self) -> tuple[TopicSummary, ...]:
        """Every topic with its counts of partitions, replicas and replicas out of sync, internal
        topics included (Metadata, API key 3)."""
        metadata = self._calls.call(scan_reassigned)
        return tuple(metadata.summary(name) for name in metadata.names)

    def describe(self, names: Sequence[str]) -> Results[str, Topic]:
        """Each topic with its partitions by name, or why it cannot be described (Metadata, API key
        3)."""
        return self._calls.call(topics.describe, names)

    def plan_create(self, topics: Sequence[NewTopic]) -> ClusterPlan:
        """Create topics (API key 19). A name that is given twice is refused."""
        return self._calls.plan(lambda cluster: topic_changes.plan_create(topics))

    plan_delete = Plans(topic_changes.plan_delete)
    plan_partitions = Plans(topic_changes.plan_partitions)


class ConfigsApi(Family):
    """Configs of topics, brokers, loggers, groups and client metrics subscriptions (KIP-226, 339).

    Example:

        topic = ConfigResource(ResourceType.TOPIC, "example.configs")
        admin.topics.plan_create([NewTopic(topic.name, partitions=1)]).apply()

        plan = admin.configs.plan_alter(
            {topic: [ConfigAlteration("retention.ms", ConfigOp.SET, "7d")]}
        )
        (retention,) = plan.changes
        assert (retention.before, retention.after) == (None, "604800000")
        assert plan.apply().ok

        (entry,) = admin.configs.describe([topic], ["retention.ms"])[topic]
        assert entry.value == "604800000"
    """

    describe = Reads(configs.describe)
    list_resources = Reads(configs.list_resources)
    plan_alter = Plans(config_changes.plan_alter)


class QuotasApi(Family):
    """Client quotas (KIP-546; Kafka 2.6).

    Example:

        alice = QuotaEntity(user="alice")
        plan = admin.quotas.plan_alter([QuotaAlteration(alice, "producer_byte_rate", 1_000_000.0)])
        assert plan.apply().ok

        (quota,) = [each for each in admin.quotas.describe() if each.entity == alice]
        assert quota.value == 1_000_000.0

        resolved = admin.quotas.resolve(user="alice", client_id="app")
        assert resolved.resolutions[0].value == 1_000_000.0

        admin.quotas.plan_alter([QuotaAlteration(alice, "producer_byte_rate", None)]).apply()
    """

    describe = Reads(quotas.describe)
    resolve = Reads(quotas.resolve)
    plan_alter = Plans(quota_changes.plan_alter)


class UsersApi(Family):
    """SCRAM credentials (KIP-554; Kafka 2.7, in KRaft mode 3.5).

    Example:

        credential = NewScramCredential("bob", ScramMechanism.SCRAM_SHA_512, Secret("not a secret"))
        assert admin.users.plan_upsert([credential]).apply().ok

        (found,) = admin.users.credentials(["bob"])["bob"]
        assert found.iterations == 4096

        plan = admin.users.plan_delete([("bob", ScramMechanism.SCRAM_SHA_512)])
        assert plan.apply().ok
    """

    credentials = Reads(scram.describe)
    describe = Reads(users.describe)
    plan_upsert = Plans(scram.plan_upsert)
    plan_delete = Plans(scram.plan_delete)


class AclsApi(Family):
    """ACLs (KIP-11, 140, 290). The cluster needs an authorizer.

    Example:

        binding = AclBinding(
            "User:carol",
            "*",
            AclOperation.READ,
            AclPermission.ALLOW,
            AclResourceType.TOPIC,
            "example.acls",
        )
        assert admin.acls.plan_create([binding]).apply().ok
        assert binding in admin.acls.describe(AclFilter(principal="User:carol"))
        assert admin.acls.plan_delete([AclFilter.exactly(binding)]).apply().ok
    """

    describe = Reads(acls.describe)
    check = Reads(authorizer.check)
    plan_create = Plans(acl_changes.plan_create)
    plan_delete = Plans(acl_changes.plan_delete)


class TokensApi(Family):
    """Delegation tokens (KIP-48, 373). Requires a login by SASL or TLS, not by a token.

    Example:

        plan = admin.tokens.plan_create(renewers=["User:alice"])
        assert plan.apply().ok
        created = plan.fresh()
        assert created.token in admin.tokens.describe()
        assert created.hmac.reveal() not in repr(created)

        assert admin.tokens.plan_expire([created.token.id]).apply().ok
    """

    describe = Reads(tokens.describe)

    def plan_create(
        self, *, owner: str = "", renewers: Sequence[str] = (), max_life: int | None = None
    ) -> ClusterPlan:
        """Create a token (API key 38). `max_life` is in milliseconds. Once the plan is applied, its
        `fresh` returns the NewToken with its HMAC."""
        return self._calls.plan(
            token_changes.plan_create, owner=owner, renewers=renewers, max_life=max_life
        )

    def plan_renew(
        self, ids: Sequence[str] = (), hmacs: Sequence[Secret] = (), period: int | None = None
    ) -> ClusterPlan:
        """Renew tokens for `period` milliseconds (API key 39)."""
        return self._calls.plan(token_changes.plan_renew, ids, hmacs, _now(), period)

    def plan_expire(
        self, ids: Sequence[str] = (), hmacs: Sequence[Secret] = (), period: int | None = None
    ) -> ClusterPlan:
        """Expire tokens in `period` milliseconds, or now (API key 40)."""
        return self._calls.plan(token_changes.plan_expire, ids, hmacs, _now(), period)


class PartitionsApi(Family):
    """Replicas: reassignments, leader elections, log directories (KIP-113, 183, 455, 460).

    Example:

        admin.topics.plan_create([NewTopic("example.partitions", partitions=1)]).apply()
        partition = TopicPartition("example.partitions", 0)
        (broker,) = [each.id for each in admin.cluster.metadata().brokers]

        plan = admin.partitions.plan_reassign({partition: (broker,)})
        assert not plan.changes and len(plan.unchanged) == 1
        assert not admin.partitions.reassignments().values
        assert admin.partitions.log_dirs()[broker][0].replicas

        limits = BatchLimits(partitions=100, per_broker=5)  # moved at a time
        plan = admin.partitions.plan_rebalance(["example.partitions"], batches=limits)
        assert not plan.changes  # one broker is always in balance
        assert all(score.before == score.after for score in plan.figures)
    """

    reassignments = Reads(in_progress.under_way)

    log_dirs = Reads(log_dirs.describe)

    def plan_reassign(
        self,
        replicas: Mapping[TopicPartition, tuple[int, ...]],
        *,
        throttle: int | None = None,
        batches: BatchLimits | None = None,
    ) -> ClusterPlan:
        """Move partitions to these replicas, the preferred leader first (API key 45). `throttle` is
        a rate in bytes per second (KIP-73); it is removed when the reassignment has ended. `apply`
        waits for that.

        With `batches`, no more than that is moved at a time. The next batch starts when the last
        one is in sync and the cluster is healthy; if it is not within a minute, `apply` raises
        UnexpectedEnd (code `paused`), and the other moves can be planned again.
        """
        return self._calls.plan(
            reassignment.plan_move, replicas, throttle=throttle, batches=batches
        )

    def plan_rebalance(
        self,
        topics: Sequence[str] | None = None,
        *,
        brokers: Collection[int] = (),
        exclude_brokers: Collection[int] = (),
        include_cordoned: bool = False,
        only_leaders: bool = False,
        only_racks: bool = False,
        max_bytes: int | None = None,
        max_partitions: int | None = None,
        min_gain: float = MIN_GAIN,
        measure: float | None = None,
        throttle: int | None = None,
        batches: BatchLimits | None = None,
    ) -> ClusterPlan:
        """Balance these topics (None: all) between `brokers` (empty: all that can receive
        replicas; with `include_cordoned` also named cordoned ones), but not `exclude_brokers`.

        `only_leaders` only changes the order of replicas, `only_racks` only spreads them over
        racks. At most `max_bytes` are copied and `max_partitions` changed. A goal must gain
        `min_gain` of its score to copy data. `measure` is the number of seconds to measure writes,
        by which leaders are then balanced. `throttle` and `batches` are as in plan_reassign. The
        `figures` of the plan are the load of brokers and topics and the score of each goal, before
        and after.
        """
        limited = max_bytes is not None or max_partitions is not None

        def plan(cluster: Cluster) -> Plan:
            return targets.plan_rebalance(
                cluster,
                topics,
                Brokers(frozenset(brokers), frozenset(exclude_brokers), include_cordoned),
                scope=Scope.LEADERS if only_leaders else Scope.RACKS if only_racks else Scope.ALL,
                limits=PlanLimits(max_bytes, max_partitions) if limited else None,
                min_gain=min_gain,
                measure=measure,
                throttle=throttle,
                batches=batches,
            )

        return self._calls.plan(plan)

    plan_drain = Plans(targets.plan_drain)

    def plan_cancel(self, partitions: Sequence[TopicPartition]) -> ClusterPlan:
        """Cancel reassignments in progress (API key 45)."""
        return self._calls.plan(reassignment.plan_cancel, partitions)

    def plan_elect(
        self, chosen: Sequence[TopicPartition] | None = None, *, unclean: bool = False
    ) -> ClusterPlan:
        """Elect the preferred leader of these partitions, or of all that are not led by it; with
        `unclean` any running replica, which can lose records (API key 43)."""

        def plan(cluster: Cluster) -> Plan:
            if chosen is None:
                rows = elections.leaderless(cluster) if unclean else elections.misplaced(cluster)
            else:
                rows = partitions.find(cluster, chosen).keyed(lambda partition: partition.resource)
            return elections.plan_unclean(rows) if unclean else elections.plan_preferred(rows)

        return self._calls.plan(plan)

    plan_move_log_dir = Plans(log_dir_moves.plan_move)


class RecordsApi(Family):
    """Records and offsets of partitions: read, write, copy and delete (KIP-79, 98, 107).

    Example:

        admin.topics.plan_create([NewTopic("example.records", partitions=1)]).apply()
        orders = [NewRecord(b"4711", b"placed"), NewRecord(b"4712", None)]
        assert admin.records.plan_write("example.records", orders).apply().ok

        partition = TopicPartition("example.records", 0)
        stream = admin.records.read([partition])
        assert [record.key for record in stream] == [b"4711", b"4712"]
        assert not stream.failures
        (newest,) = admin.records.last([partition], 1)
        assert (newest.offset, newest.value) == (1, None)

        found = admin.records.offsets([partition])[partition]
        assert (found.earliest, found.latest) == (0, 2)
    """

    def read(
        self,
        partitions: Sequence[TopicPartition],
        start: Position | None = None,
        end: Position | None = None,
        *,
        committed: bool = False,
    ) -> RecordStream:
        """The records from `start` (the earliest) up to, not including, `end`, in the order of
        their timestamps; within a partition, by offset (Fetch, API key 1).

        `end` defaults to the end of the log when the iteration starts. With `committed`, only
        records of committed transactions. Memory is bounded.
        """
        return RecordStream(self._calls.connect, partitions, start, end, committed)

    def last(
        self,
        partitions: Sequence[TopicPartition],
        count: int = 10,
        end: Position | None = None,
        *,
        committed: bool = False,
    ) -> RecordStream:
        """The last records before `end` (that of the log), at most `count`, read backwards from
        there (Fetch, API key 1)."""
        return RecordStream(self._calls.connect, partitions, None, end, committed, last_of(count))

    def plan_write(
        self, topic: str, records: Sequence[NewRecord], *, codec: str = "none"
    ) -> ClusterPlan:
        """Write records by an idempotent producer with acks=all (API keys 0 and 22). They cannot be
        removed again. `codec` is none, gzip, snappy, lz4 or zstd.

        A record without a partition is written to that of its key, as by Kafka's Java producer. The
        results are the offsets: of each record if there are few, else of each partition.
        """
        numbered = list(enumerate(records, 1))
        windows = [numbered[at : at + _TOGETHER] for at in range(0, len(numbered), _TOGETHER)]
        return self._calls.plan(
            produce.plan_write, topic, windows, count=len(records), codec=CODECS.index(codec)
        )

    def plan_copy(self, request: CopyRequest, *, source: Client | None = None) -> ClusterPlan:
        """Copy the records that a topic has now to another topic, from another cluster if there is
        a `source` (API keys 0, 1, 2 and 22).

        Keys, values and headers are the same bytes. A record is copied to the partition of the same
        number if both topics have as many partitions, else to the partition of its key.
        """
        calls = self._calls if source is None else source._calls

        def plan(target: Cluster) -> Plan:
            with calls.connect() as cluster:
                return copies.plan_copy(cluster, target, request)

        return self._calls.plan(plan)

    offsets = Reads(ranges)
    list_offsets = Reads(list_offsets)
    plan_delete = Plans(delete.plan_delete)
    plan_delete_before = Plans(delete.plan_delete_before)


class GroupsApi(Family):
    """Consumer, share and streams groups (KIP-122, 848, 932, 1071).

    Example:

        admin.topics.plan_create([NewTopic("example.groups", partitions=1)]).apply()
        partition = TopicPartition("example.groups", 0)
        plan = admin.groups.plan_offsets({"example-group": {partition: 0}})
        assert plan.apply().ok

        group = admin.groups.describe(["example-group"], offsets=True)["example-group"]
        (offset,) = group.offsets
        assert (offset.partition, offset.offset, offset.lag) == (0, 0, 0)
        assert admin.groups.plan_delete(["example-group"]).apply().ok
    """

    list = Reads(groups.list_groups)
    describe = Reads(groups.describe)
    plan_reset = Plans(resets.plan_reset)
    plan_offsets = Plans(resets.plan_offsets)
    plan_delete_offsets = Plans(resets.plan_delete_offsets)
    plan_delete = Plans(members.plan_delete)
    plan_remove_members = Plans(members.plan_remove)


class TransactionsApi(Family):
    """Transactions and the producers behind them (KIP-664, 994; Kafka 3.0).

    Example:

        listed = admin.transactions.list()
        assert listed.ok, listed.failures
        search = admin.transactions.find_hanging()
        assert search.ok, search.found
    """

    list = Reads(transactions.list_transactions)
    producers = Reads(describe_producers)
    plan_fence = Plans(transaction_changes.plan_fence)

    describe = Reads(transactions.describe)

    find_hanging = Reads(transactions.find_hanging)

    plan_abort = Plans(transaction_changes.plan_abort)


class ClusterApi(Family):
    """Brokers, health, the metadata quorum, features (KIP-584, 853).

    Example:

        metadata = admin.cluster.metadata()
        assert metadata.cluster_id == admin.cluster_id
        assert all(broker.state == "up" for broker in metadata.brokers)

        health = admin.cluster.health()
        assert health.ok, health.findings
        assert admin.cluster.quorum().leader == metadata.controller

        (check,) = admin.cluster.check_restart([metadata.controller]).checks
        assert check.verdict > Verdict.SAFE  # it is the only broker
        order = admin.cluster.restart_order()
        assert order.batches == () and order.left_out[0].broker == metadata.controller
    """

    metadata = Reads(cluster_reads.metadata)
    health = Reads(find_problems)
    quorum = Reads(describe_quorum)
    features = Reads(describe_features)
    api_versions = Reads(api_versions)
    check_restart = Reads(restart.check_together)
    check_each_restart = Reads(restart.check_each)
    restart_order = Reads(restart.plan_order)
    check_decommission = Reads(decommission.describe)
    plan_cordon = Plans(decommission.plan_cordon)
    plan_uncordon = Plans(decommission.plan_uncordon)
    plan_delete_configs = Plans(decommission.plan_delete_configs)
    plan_voters = Plans(quorum_changes.plan_alter)
    plan_features = Plans(feature_changes.plan_update)
    plan_unregister = Plans(unregister.plan_unregister)

    def wait_in_sync(self, brokers: Sequence[int]) -> BackInSync:
        """Wait until these brokers respond and all their replicas are in sync. Raises ShellError
        (code `deadline`) after the timeout of the client."""
        return self._calls.call(restart.wait_in_sync, brokers, lambda *_: None)

    def wait_stopped(self, broker: int) -> None:
        """Wait until a broker has left the cluster and does not respond any more. Raises ShellError
        (code `deadline`) after the timeout of the client."""
        self._calls.call(decommission.wait_stopped, broker)


class ActivityApi(Family):
    """Rates of topics, brokers and groups, from two samples of the cluster.

    Example:

        admin.topics.plan_create([NewTopic("example.activity", partitions=1)]).apply()
        before, after = admin.activity.sample_topics(), admin.activity.sample_topics()
        rates = {each.name: each for each in admin.activity.topic_rates(before, after)}
        assert rates["example.activity"].records_per_s == 0
    """

    sample_topics = Reads(sample.sample_topics)
    sample_groups = Reads(sample.sample_groups)
    topic_rates = staticmethod(sample.topic_rates)
    broker_rates = staticmethod(sample.broker_rates)
    group_rates = staticmethod(sample.group_rates)


class ClientConfigsApi(Family):
    """Dynamic client configs (KIP-649), kept in two compacted topics.

    Example:

        alice = ClientEntity("alice", "app")
        plan = admin.client_configs.plan_alter([ClientConfigAlteration(alice, "linger.ms", "5")])
        assert plan.apply().ok
        (config,) = admin.client_configs.resolve("alice", "app")
        assert (config.key, config.value) == ("linger.ms", "5")
        admin.client_configs.plan_alter([ClientConfigAlteration(alice, "linger.ms", None)]).apply()
    """

    describe = Reads(client_configs.describe)
    resolve = Reads(client_configs.resolved)
    plan_alter = Plans(client_config_changes.plan_alter)

    def registrations(
        self, which: ClientConfigFilter | None = None
    ) -> Results[str, ClientRegistration]:
        """The configs that each version of a client software can change while it runs. Failures are
        registrations that cannot be decoded."""
        return self._calls.call(client_configs.registrations, which, now=_now())

    def plan_forget(self, entities: Sequence[ClientEntity]) -> ClusterPlan:
        """Delete the registrations of clients that no longer exist."""
        return self._calls.plan(client_config_changes.plan_forget, entities, now=_now())


class Admin(Client):
    """A connection to one cluster, with an attribute for each family of resources.

    `properties` are the properties of Java clients (`bootstrap.servers`, `security.protocol`,
    `sasl.mechanism`, `sasl.jaas.config`, `ssl.truststore.location` ...), or the bootstrap servers
    alone: `host:port[,host:port]`. `timeout` is the maximum duration of a call in seconds; with
    None only `default.api.timeout.ms` applies. Nothing is sent before the first call.

    Raises ShellError without bootstrap servers, or if a property is invalid.

    The methods are thread-safe; calls run one after another. A call that fails as a whole raises
    ShellError; failures of single items are part of the returned Results.
    """

    def __init__(
        self, properties: Mapping[str, str] | str, *, timeout: float | None = None
    ) -> None:
        if isinstance(properties, str):
            properties = {_BOOTSTRAP: properties}
        self._bootstrap = str(properties.get(_BOOTSTRAP, ""))
        if not self._bootstrap.strip():
            raise UsageError(
                f"{_BOOTSTRAP} is not set", hint="Set it to host:port.", code="no-bootstrap"
            )
        self._calls = calls = Calls(properties, timeout)
        self.topics = TopicsApi(calls)
        self.configs = ConfigsApi(calls)
        self.quotas = QuotasApi(calls)
        self.users = UsersApi(calls)
        self.acls = AclsApi(calls)
        self.tokens = TokensApi(calls)
        self.partitions = PartitionsApi(calls)
        self.records = RecordsApi(calls)
        self.groups = GroupsApi(calls)
        self.transactions = TransactionsApi(calls)
        self.cluster = ClusterApi(calls)
        self.activity = ActivityApi(calls)
        self.client_configs = ClientConfigsApi(calls)

    @classmethod
    def from_file(cls, path: str | Path, *, timeout: float | None = None) -> Admin:
        """Return an Admin for a Java properties file, such as one for `--command-config`.

        Raises OSError or ShellError if the file cannot be read.
        """
        return cls(read_properties(Path(path)), timeout=timeout)

    def __enter__(self) -> Admin:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Admin({self._bootstrap!r})"

    def close(self) -> None:
        """Close every connection. A later call opens new ones."""
        self._calls.close()

    @property
    def cluster_id(self) -> str:
        """The ID of the cluster (Metadata, API key 3)."""
        return self._calls.call(lambda cluster: cluster.cluster_id)


def _now() -> int:
    return int(time.time() * 1000)
