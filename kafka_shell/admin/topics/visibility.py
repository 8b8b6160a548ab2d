"""Topics that a login may not see: brokers leave them out of lists without a word."""

from __future__ import annotations

from collections.abc import Container

from kafka_shell.admin.acls import rights
from kafka_shell.admin.acls.model import AclOperation
from kafka_shell.admin.partitions import log_dirs
from kafka_shell.admin.wire.connection import Cluster
from kafka_shell.admin.wire.error_codes import (
    CLUSTER_AUTHORIZATION_FAILED,
    TOPIC_AUTHORIZATION_FAILED,
)
from kafka_shell.admin.wire.failures import failure, requires
from kafka_shell.admin.wire.metadata_scan import scan
from kafka_shell.plan.results import Failure

HIDDEN = "hidden topics"


def hidden(cluster: Cluster, visible: Container[str]) -> dict[str, Failure]:
    """Why topics may be missing in a list of all, by `topic NAME`, or by HIDDEN if their names are
    not known. Empty if none is hidden, or if the broker does not report rights (KIP-430).

    Metadata contains only topics that the login may DESCRIBE; log directories (API key 35), which
    require DESCRIBE on the cluster, contain all. A login that may alter the cluster sees them all.
    """
    allowed = rights.on_cluster(cluster)
    if allowed is None or {AclOperation.ALTER, AclOperation.CLUSTER_ACTION} <= {*allowed}:
        return {}
    if AclOperation.DESCRIBE not in allowed:
        text = "only topics that you may DESCRIBE are visible"
        hint = requires(CLUSTER_AUTHORIZATION_FAILED, "DESCRIBE on the cluster")
        return {HIDDEN: failure(CLUSTER_AUTHORIZATION_FAILED, text=text, hint=hint)}
    found = log_dirs.describe(cluster)
    stored = {replica.topic for dirs in found for each in dirs for replica in each.replicas}
    others = sorted(name for name in stored if name not in visible)
    refused = {
        f"topic {name}": failure(code, about=f"topic {name}")
        for name, code in (scan(cluster, others).errors if others else {}).items()
        if code == TOPIC_AUTHORIZATION_FAILED  # others were just deleted
    }
    return refused | {f"{HIDDEN} on broker {id}": why for id, why in found.failures.items()}
