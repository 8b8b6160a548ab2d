"""Topics that a login may not see: brokers leave them out of lists without a word."""

from __future__ import annotations

from collections.abc import Container
from uuid import uuid4

from kafka_shell.admin.acls import rights
from kafka_shell.admin.acls.model import AclOperation
from kafka_shell.admin.partitions import log_dirs
from kafka_shell.base.errors import ShellError
from kafka_shell.base.results import Failure, as_failure
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.error_codes import (
    CLUSTER_AUTHORIZATION_FAILED,
    TOPIC_AUTHORIZATION_FAILED,
    UNKNOWN_TOPIC_OR_PARTITION,
)
from kafka_shell.wire.failures import failure
from kafka_shell.wire.metadata_scan import scan

HIDDEN = "hidden topics"


def hidden(cluster: Cluster, visible: Container[str]) -> dict[str, Failure]:
    """Why topics may be missing in a list of all, by `topic NAME`, or by HIDDEN if their names are
    not known. Empty if none is hidden, or if the broker does not report rights (KIP-430).

    Metadata contains only topics with DESCRIBE permission; log directories (API key 35), which
    require DESCRIBE on the cluster, contain all. They are not read for a login with ALTER on the
    cluster and DESCRIBE on topics of any name.
    """
    allowed = rights.on_cluster(cluster)
    if allowed is None:
        return {}
    administers = {AclOperation.ALTER, AclOperation.CLUSTER_ACTION} <= allowed
    if administers and may_be_hidden(cluster) is None:
        return {}
    if AclOperation.DESCRIBE not in allowed:
        text = "topics without DESCRIBE permission are hidden"
        requires = "DESCRIBE on the cluster"
        return {HIDDEN: failure(CLUSTER_AUTHORIZATION_FAILED, text=text, requires=requires)}
    directories = log_dirs.describe(cluster)
    stored = {replica.topic for dirs in directories for dir_ in dirs for replica in dir_.replicas}
    others = sorted(name for name in stored if name not in visible)
    refused = {
        f"topic {name}": failure(code, about=f"topic {name}")
        for name, code in (scan(cluster, others).errors if others else {}).items()
        if code == TOPIC_AUTHORIZATION_FAILED  # others were just deleted
    }
    return refused | {f"{HIDDEN} on broker {id}": why for id, why in directories.failures.items()}


def may_be_hidden(cluster: Cluster) -> Failure | None:
    """Why topics may be hidden from the login, or None with DESCRIBE on topics of any name.

    Asks for the metadata of a topic that does not exist (API key 3), which does not create it: only
    a login with DESCRIBE on this name is told that it does not. If the request fails, topics may
    be hidden. ACLs that deny DESCRIBE on some topics are not noticed.
    """
    name = f"{uuid4()}.kafka-shell"  # no ACL for a prefix applies to it
    try:
        code = scan(cluster, [name]).errors.get(name, TOPIC_AUTHORIZATION_FAILED)
    except ShellError as error:
        return as_failure(error)
    if code == UNKNOWN_TOPIC_OR_PARTITION:
        return None
    if code == TOPIC_AUTHORIZATION_FAILED:
        text = "topics without DESCRIBE permission are hidden"
        return failure(code, text=text, requires="DESCRIBE on all topics")
    return failure(code, about="the metadata of topics")
