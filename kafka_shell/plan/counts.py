"""Counts of resources in Kafka's terms: `6 topics`, `16 offsets of 1 group`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .model import Change, Resource

# Resource kind -> (singular, plural), unless the plural is the kind with an s.
_TERMS: dict[str, tuple[str, str]] = {
    "broker-default": ("cluster-wide broker default", "cluster-wide broker defaults"),
    "client-metrics": ("client metrics subscription", "client metrics subscriptions"),
    "user-default": ("default user", "default users"),
    "client-id": ("client ID", "client IDs"),
    "client-id-default": ("default client ID", "default client IDs"),
    "ip": ("IP address", "IP addresses"),
    "ip-default": ("default IP address", "default IP addresses"),
    "client-config": ("client entity", "client entities"),
    "acl": ("ACL", "ACLs"),
    "token": ("delegation token", "delegation tokens"),
    "token for": ("delegation token", "delegation tokens"),
    "rollback-file": ("rollback file", "rollback files"),
    "throttle": ("replication throttle", "replication throttles"),
    "group-offsets": ("group", "groups"),
    "share-group-offsets": ("group", "groups"),
    "group-member": ("group member", "group members"),
    "transactional-id": ("transactional ID", "transactional IDs"),
}
_MAX_NAMES = 3
_OFFSETS = ("group-offsets", "share-group-offsets")
_VERBS = {"create": "Create", "delete": "Delete", "abort": "Abort", "fence": "Fence"}


def counted(count: int, kind: str) -> str:
    """`1 topic`, `3 ACLs`, `1,200 topics`."""
    singular, plural = _TERMS.get(kind, (kind, f"{kind}s"))
    return f"{count:,} {singular if count == 1 else plural}"


def count_kinds(resources: Iterable[Resource]) -> str:
    """`2 topics, 1 broker`. Each resource is counted once."""
    counts: dict[str, int] = {}
    for resource in dict.fromkeys(resources):
        counts[resource.kind] = counts.get(resource.kind, 0) + 1
    return ", ".join(counted(count, kind) for kind, count in counts.items())


def name_few(resources: Iterable[Resource]) -> str:
    """`topic a, topic b`, or `30 topics, a to z` for more than three resources."""
    unique = list(dict.fromkeys(resources))
    if len(unique) <= _MAX_NAMES:
        return ", ".join(map(str, unique))
    return f"{count_kinds(unique)}, {unique[0].name} to {unique[-1].name}"


def count_changes(changes: Iterable[Change]) -> str:
    """`3 changes to 2 topics`, `16 offsets of 1 group`."""
    changes = list(changes)
    resources = count_kinds(change.resource for change in changes)
    if changes and _only_offsets(changes):
        return f"{counted(len(changes), 'offset')} of {resources}"
    return f"{counted(len(changes), 'change')} to {resources}"


def question(changes: Iterable[Change]) -> str:
    """What would happen and how much of it: `Delete 6 topics?`, `Apply 3 changes to 2 topics?`."""
    changes = [change for change in changes if change.resource.kind != "rollback-file"]
    verbs = {change.verb for change in changes}
    verb = verbs.pop() if len(verbs) == 1 else "alter"
    if verb in _VERBS and not any(change.field for change in changes):
        return f"{_VERBS[verb]} {count_kinds(change.resource for change in changes)}?"
    if changes and _only_offsets(changes):
        return f"{'Delete' if verb == 'delete' else 'Reset'} {count_changes(changes)}?"
    return f"Apply {count_changes(changes)}?"


def _only_offsets(changes: Iterable[Change]) -> bool:
    return all(change.resource.kind in _OFFSETS for change in changes)
