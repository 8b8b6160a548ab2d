"""Demo data: a small online shop, with good and bad configs.

Created with the admin core of kafka.sh; records and offsets with kafka-python.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable

from kafka_shell.admin.acls import change as acl_changes
from kafka_shell.admin.configs import change as config_changes
from kafka_shell.admin.quotas import change as quota_changes
from kafka_shell.admin.topics import change as topic_changes
from kafka_shell.admin.topics.model import NewTopic
from kafka_shell.admin.users import scram
from kafka_shell.admin.users.model import NewScramCredential
from kafka_shell.base.errors import ShellError
from kafka_shell.base.plans import Plan, Secret, apply
from kafka_shell.sandbox.demo import company
from kafka_shell.sandbox.demo.records import End, commit, produce
from kafka_shell.sandbox.jars import Report
from kafka_shell.wire import metadata_scan
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.endpoint import ConnectionConfig

_TASK = "Creating demo data"
_MAX_FACTOR = 3


def make_demo(connection: ConnectionConfig, report: Report) -> None:
    """Create the demo data in a cluster. Requires a super user.

    Existing users and topics are kept. Raises ShellError with the resources that could not be
    created.
    """
    ends: dict[str, dict[int, End]] = {}

    def records(cluster: Cluster) -> None:
        ends.update(produce(connection, new))

    def offsets(cluster: Cluster) -> None:
        commit(cluster, ends)

    with Cluster(connection) as cluster:
        new = _missing_topics(cluster)
        tasks: tuple[Callable[[Cluster], None], ...] = (
            _users,
            lambda cluster: _apply(cluster, quota_changes.plan_alter(cluster, company.QUOTAS)),
            lambda cluster: _apply(cluster, acl_changes.plan_create(cluster, company.ACLS)),
            _configs,
            lambda cluster: _apply(cluster, topic_changes.plan_create(new)),
            records,
            offsets,
        )
        for done, task in enumerate(tasks):
            report(_TASK, done, len(tasks))
            task(cluster)
        report(_TASK, len(tasks), len(tasks))


def _missing_topics(cluster: Cluster) -> list[NewTopic]:
    metadata = metadata_scan.scan(cluster)
    factor = min(_MAX_FACTOR, len(metadata.brokers))
    return [new for new in company.topics(factor) if new.name not in metadata]


def _users(cluster: Cluster) -> None:
    existing = {(c.user, c.mechanism) for owned in scram.describe(cluster) for c in owned}
    missing = [
        # These users are not meant to log in, so their passwords are discarded.
        NewScramCredential(user, mechanism, Secret(secrets.token_urlsafe(24)), iterations)
        for user, mechanism, iterations in company.USERS
        if (user, mechanism) not in existing
    ]
    _apply(cluster, scram.plan_upsert(cluster, missing))


def _configs(cluster: Cluster) -> None:
    for resource, alterations in company.CONFIGS.items():
        plan = config_changes.plan_alter(cluster, {resource: alterations})
        _apply(
            cluster, plan.without_refused("UNSUPPORTED_VERSION")
        )  # no group configs before Kafka 4.0


def _apply(cluster: Cluster, plan: Plan) -> None:
    failed = dict(plan.refused.failures)
    failed |= {change.resource: why for change, why in apply(plan, cluster).failures.items()}
    if failed:
        reasons = "; ".join(f"{resource}: {why}" for resource, why in failed.items())
        raise ShellError(
            f"cannot create the demo data: {reasons}",
            hint="Run sandbox start --empty for a sandbox without demo data.",
            code="demo-data",
        )
