"""Demo data: a small company that sells things and ships parcels, with its virtues and its sins.

Made through this program's own admin core; records and offsets through kafka-python.
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
from kafka_shell.admin.wire import metadata_scan
from kafka_shell.admin.wire.connection import Cluster
from kafka_shell.admin.wire.endpoint import ConnectionConfig
from kafka_shell.errors import ShellError
from kafka_shell.plan.apply import apply
from kafka_shell.plan.model import Plan, Secret
from kafka_shell.sandbox.jars import Report

from . import company
from .records import End, commit, produce

_TASK = "Making demo data"
_MAX_FACTOR = 3


def make_demo(connection: ConnectionConfig, report: Report) -> None:
    """Fill a cluster with the demo data, as somebody who may do everything there.

    Made again, it makes what is missing: users keep their passwords, topics their records. Raises
    ShellError that names whatever could not be made.
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
            _quotas,
            _acls,
            _configs,
            lambda cluster: _make(cluster, topic_changes.plan_create(new)),
            records,
            offsets,
        )
        for done, task in enumerate(tasks):
            report(_TASK, done, len(tasks))
            task(cluster)
        report(_TASK, len(tasks), len(tasks))


def _missing_topics(cluster: Cluster) -> list[NewTopic]:
    found = metadata_scan.scan(cluster)
    factor = min(_MAX_FACTOR, len(found.brokers))
    return [new for new in company.topics(factor) if new.name not in found]


def _users(cluster: Cluster) -> None:
    had = {(c.user, c.mechanism) for owned in scram.describe(cluster) for c in owned}
    missing = [
        # Nobody is to log in with these: the password is forgotten here.
        NewScramCredential(user, mechanism, Secret(secrets.token_urlsafe(24)), iterations)
        for user, mechanism, iterations in company.USERS
        if (user, mechanism) not in had
    ]
    _make(cluster, scram.plan_upsert(cluster, missing))


def _quotas(cluster: Cluster) -> None:
    _make(cluster, quota_changes.plan_alter(cluster, company.QUOTAS))


def _acls(cluster: Cluster) -> None:
    _make(cluster, acl_changes.plan_create(cluster, company.ACLS))


def _configs(cluster: Cluster) -> None:
    for resource, alterations in company.CONFIGS.items():
        plan = config_changes.plan_alter(cluster, {resource: alterations})
        _make(cluster, plan.without_refused("UNSUPPORTED_VERSION"))  # groups have none before 4.0


def _make(cluster: Cluster, plan: Plan) -> None:
    failed = dict(plan.refused.failures)
    failed |= {change.resource: why for change, why in apply(plan, cluster).failures.items()}
    if failed:
        said = "; ".join(f"{resource}: {why}" for resource, why in failed.items())
        raise ShellError(
            f"the demo data could not be made: {said}",
            hint="`sandbox start --empty` makes a sandbox without.",
            code="demo-data",
        )
