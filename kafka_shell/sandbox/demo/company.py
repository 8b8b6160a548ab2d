"""The demo data: topics, users, quotas, ACLs, configs and groups. Comments explain bad configs.

Examples and tests depend on it. Topics parcels.* are created by the examples.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from kafka_shell.admin.acls.model import (
    CLUSTER_NAME,
    AclBinding,
    AclOperation,
    AclPermission,
    AclResourceType,
    PatternType,
)
from kafka_shell.admin.configs.model import ConfigAlteration, ConfigOp, ConfigResource, ResourceType
from kafka_shell.admin.quotas.model import DEFAULT, QuotaAlteration, QuotaEntity
from kafka_shell.admin.topics.model import NewTopic
from kafka_shell.admin.users.model import ScramMechanism

_HOUR = 3_600_000
_DAY = 24 * _HOUR
_MIB = 1 << 20
_FOREVER = -1

# -- topics ----------------------------------------------------------------------------------------

STORE = "orders-enricher-KSTREAM-AGGREGATE-STATE-STORE-0000000004"  # of a Kafka Streams application

Row = tuple[str, int, Mapping[str, str | int]]


def topics(factor: int) -> list[NewTopic]:
    """Return all topics, with this replication factor."""
    return [
        NewTopic(
            name,
            partitions,
            factor,
            configs=tuple((key, str(value)) for key, value in configs.items()),
        )
        for name, partitions, configs in _rows(factor)
    ]


def _rows(factor: int) -> tuple[Row, ...]:
    twice = {"min.insync.replicas": min(2, factor)}  # two copies, if there are two brokers
    return (
        # orders: good configs
        ("orders.placed", 3, {"retention.ms": 30 * _DAY, "segment.ms": _DAY}),
        ("orders.shipped", 3, {"retention.ms": 30 * _DAY}),
        ("orders.cancelled", 3, {}),
        ("orders.returns", 2, {"retention.ms": 90 * _DAY, **twice}),
        ("orders.placed.dlq", 1, {"retention.ms": 60 * _DAY}),
        # payments: bad configs
        ("payments.authorized", 6, {"unclean.leader.election.enable": "true", **twice}),
        ("payments.captured", 6, {"retention.ms": 365 * _DAY, "min.insync.replicas": 1,
                                  "unclean.leader.election.enable": "true"}),
        ("payments.refunds", 3, {"retention.ms": 365 * _DAY, "min.insync.replicas": 1}),
        ("payments.ledger", 3, {"cleanup.policy": "compact"}),  # events: compaction deletes history
        ("payments.fraud-scores", 3, {"compression.type": "zstd", "retention.ms": 3 * _DAY}),
        ("payments.captured.dlq", 1, {}),
        # shipping
        ("shipping.parcels", 6, {"compression.type": "lz4", "retention.ms": 14 * _DAY}),
        ("shipping.labels", 2, {"max.message.bytes": 20 * _MIB}),  # PDFs in Kafka
        ("shipping.routes", 1, {"cleanup.policy": "compact", "min.compaction.lag.ms": _HOUR}),
        ("shipping.gps", 1, {"retention.ms": _DAY}),  # the busiest topic has one partition
        ("shipping.carrier-webhooks", 4, {"retention.ms": 7 * _DAY}),
        ("shipping.parcels.dlq", 1, {"retention.ms": 60 * _DAY}),
        # inventory
        ("inventory.stock", 6, {"cleanup.policy": "compact", "min.cleanable.dirty.ratio": "0.1",
                                "min.compaction.lag.ms": _HOUR}),
        ("inventory.movements", 6, {"retention.ms": 30 * _DAY}),
        ("inventory.reservations", 50, {}),  # idle
        ("inventory.snapshots", 1, {"cleanup.policy": "compact,delete", "retention.ms": 30 * _DAY}),
        # customers
        ("customers.profile", 3, {"cleanup.policy": "compact"}),  # no min.compaction.lag.ms
        ("customers.addresses", 3, {"cleanup.policy": "compact", "min.compaction.lag.ms": _HOUR,
                                    "delete.retention.ms": 7 * _DAY}),
        ("customers.consents", 1, {"retention.ms": 7 * _DAY}),  # legally required for years
        ("customers.support-tickets", 1, {"retention.ms": 2 * 365 * _DAY}),
        # web
        ("web.clickstream", 12, {"retention.ms": _FOREVER, "compression.type": "uncompressed"}),
        ("web.searches", 4, {"compression.type": "snappy", "retention.ms": 3 * _DAY}),
        ("web.carts", 3, {"cleanup.policy": "compact,delete", "retention.ms": 14 * _DAY}),
        ("web.sessions", 6, {"message.timestamp.type": "LogAppendTime", "retention.ms": _DAY}),
        # billing
        ("billing.invoices", 3, {"retention.ms": _FOREVER, **twice}),
        ("billing.credit-notes", 1, {"retention.ms": _FOREVER, **twice}),
        ("billing.dunning", 1, {}),
        # analytics
        ("analytics.sessions-hourly", 2, {"retention.ms": 90 * _DAY}),
        ("analytics.revenue-daily", 1, {"retention.ms": 5 * 365 * _DAY}),
        ("analytics.exports", 1, {"retention.bytes": 1024 * _MIB, "segment.bytes": _MIB}),
        ("notifications.email", 3, {"retention.ms": 2 * _DAY}),
        # leftovers
        ("tmp.backfill", 8, {"retention.ms": 2 * _DAY}),
        ("tmp.replay", 1, {}),
        ("tmp.anna-test", 1, {"retention.ms": _FOREVER}),  # Anna has left
        # frameworks
        ("connect-configs", 1, {"cleanup.policy": "compact"}),
        ("connect-offsets", 5, {"cleanup.policy": "compact"}),
        ("connect-status", 3, {"cleanup.policy": "compact"}),
        (f"{STORE}-changelog", 3, {"cleanup.policy": "compact"}),
        (f"{STORE}-repartition", 3, {"retention.ms": _FOREVER, "segment.bytes": 50 * _MIB}),
    )  # fmt: skip


# -- users and their limits ------------------------------------------------------------------------

_SHA_256, _SHA_512 = ScramMechanism.SCRAM_SHA_256, ScramMechanism.SCRAM_SHA_512

USERS = (
    ("alice", _SHA_256, 8192),
    ("alice", _SHA_512, 8192),
    ("bob", _SHA_512, 4096),
    ("carol", _SHA_256, 4096),
    ("svc-payments", _SHA_512, 16384),
)


def _limit(entity: QuotaEntity, **limits: float) -> tuple[QuotaAlteration, ...]:
    return tuple(QuotaAlteration(entity, key, value) for key, value in limits.items())


# The defaults are high because they also apply to the users of the sandbox.
QUOTAS = (
    *_limit(
        QuotaEntity(user=DEFAULT),
        producer_byte_rate=100 * _MIB,
        consumer_byte_rate=200 * _MIB,
    ),
    *_limit(QuotaEntity(user="alice"), producer_byte_rate=5 * _MIB, request_percentage=50),
    *_limit(QuotaEntity(user="alice", client_id=DEFAULT), consumer_byte_rate=10 * _MIB),
    *_limit(QuotaEntity(user="bob"), consumer_byte_rate=20 * _MIB),
    *_limit(
        QuotaEntity(user="svc-payments"), producer_byte_rate=50 * _MIB, controller_mutation_rate=5
    ),
    *_limit(QuotaEntity(user="svc-payments", client_id="checkout"), producer_byte_rate=_MIB),
    *_limit(QuotaEntity(client_id="web-frontend"), producer_byte_rate=_MIB),
    *_limit(QuotaEntity(client_id="legacy-exporter"), consumer_byte_rate=1024),  # almost stopped
    *_limit(QuotaEntity(ip="10.1.2.3"), connection_creation_rate=10),
)

# -- access ----------------------------------------------------------------------------------------

_TOPIC, _GROUP = AclResourceType.TOPIC, AclResourceType.GROUP
_CLUSTER, _TXN = AclResourceType.CLUSTER, AclResourceType.TRANSACTIONAL_ID
_ALL, _READ, _WRITE = AclOperation.ALL, AclOperation.READ, AclOperation.WRITE
_DESCRIBE = AclOperation.DESCRIBE


def _allow(
    user: str,
    operation: AclOperation,
    kind: AclResourceType,
    name: str,
    *,
    prefixed: bool = False,
    host: str = "*",
    permission: AclPermission = AclPermission.ALLOW,
) -> AclBinding:
    pattern = PatternType.PREFIXED if prefixed else PatternType.LITERAL
    return AclBinding(f"User:{user}", host, operation, permission, kind, name, pattern)


def _deny(
    user: str, operation: AclOperation, kind: AclResourceType, name: str, host: str = "*"
) -> AclBinding:
    return _allow(user, operation, kind, name, host=host, permission=AclPermission.DENY)


ACLS = (
    _allow("alice", _ALL, _TOPIC, "orders.", prefixed=True),
    _allow("alice", _READ, _GROUP, "orders-", prefixed=True),
    _allow("bob", _READ, _TOPIC, "orders.placed"),
    _allow("bob", _READ, _TOPIC, "orders.shipped"),
    _allow("bob", _READ, _GROUP, "billing-sync"),
    _deny("bob", _WRITE, _TOPIC, "payments.captured"),
    _allow("svc-payments", _WRITE, _TOPIC, "payments.", prefixed=True),
    _allow("svc-payments", AclOperation.CREATE, _TOPIC, "payments.", prefixed=True),
    _allow("svc-payments", _WRITE, _TXN, "payments-", prefixed=True),
    _allow("svc-payments", AclOperation.IDEMPOTENT_WRITE, _CLUSTER, CLUSTER_NAME),
    _allow("web-frontend", _WRITE, _TOPIC, "web.clickstream", host="10.1.2.3"),
    _deny("web-frontend", _READ, _TOPIC, "customers.profile", "10.1.2.66"),
    _allow("carol", _READ, _TOPIC, "*"),  # including payments
    _allow("carol", _READ, _GROUP, "*"),
    _allow("carol", _ALL, _CLUSTER, CLUSTER_NAME),  # too many permissions for an analyst
    _allow("*", _DESCRIBE, _TOPIC, "*"),  # everyone sees every topic
    _allow("dave", _READ, _TOPIC, "payments.captured"),  # Dave has left
    _allow(
        "reporting", _READ, _TOPIC, "*", prefixed=True
    ),  # matches nothing: * is not a wildcard in a prefix
    _allow("alice", _WRITE, _TOPIC, "invoices.legacy"),  # the topic does not exist
)

# -- configs of groups and client metrics ----------------------------------------------------------


def _set(values: Mapping[str, str]) -> tuple[ConfigAlteration, ...]:
    return tuple(ConfigAlteration(key, ConfigOp.SET, value) for key, value in values.items())


CONFIGS = {
    ConfigResource(ResourceType.GROUP, "orders-enricher"): _set(
        {"consumer.session.timeout.ms": "50s", "consumer.heartbeat.interval.ms": "6s"}
    ),
    ConfigResource(ResourceType.CLIENT_METRICS, "slow-producers"): _set(
        {
            "metrics": "org.apache.kafka.producer.",
            "interval.ms": "1m",
            "match": "client_id=web-.*",
        }
    ),
}

# -- groups ----------------------------------------------------------------------------------------


class DemoGroup(Struct, frozen=True):
    """The share of a topic that a group has read, of all or of some partitions."""

    topic: str
    share: float = 1.0
    partitions: tuple[int, ...] = ()


GROUPS: dict[str, tuple[DemoGroup, ...]] = {
    "orders-enricher": (DemoGroup("orders.placed", 0.92),),  # a small lag
    "billing-sync": (DemoGroup("orders.placed"), DemoGroup("payments.captured")),  # no lag
    # Stopped at a record it cannot process.
    "fraud-check": (
        DemoGroup("payments.authorized", 1.0, (0, 1, 3, 4, 5)),
        DemoGroup("payments.authorized", 0.4, (2,)),
    ),
    # Half of the partitions were never read because the second member never started.
    "shipping-notifier": (
        DemoGroup("orders.shipped", 0.97),
        DemoGroup("shipping.parcels", 0.9, (0, 1, 2)),
    ),
    "analytics-loader": (DemoGroup("web.clickstream", 0.1), DemoGroup("web.searches", 0.6)),
    "crm-export": (DemoGroup("customers.support-tickets"),),  # both inactive for months
    "anna-console": (DemoGroup("tmp.replay", 0.0),),  # never used again
}
