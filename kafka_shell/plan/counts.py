"""Resources counted in Kafka's words: `6 topics`, `16 offsets of 1 group`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .model import Change, Resource

# The kind of a resource -> what one and several are called.
_NOUNS: dict[str, tuple[str, str]] = {
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
_FEW = 3
_OFFSETS = ("group-offsets", "share-group-offsets")
_VERBS = {"create": "Create", "delete": "Delete", "abort": "Abort", "fence": "Fence"}


def counted(count: int, kind: str) -> str:
    """`1 topic`, `3 ACLs`; thousands apart."""
    one, many = _NOUNS.get(kind, (kind, f"{kind}s"))
    return f"{count:,} {one if count == 1 else many}"


def count_kinds(resources: Iterable[Resource]) -> str:
    """`2 topics, 1 broker`, each resource once."""
    kinds: dict[str, int] = {}
    for resource in dict.fromkeys(resources):
        kinds[resource.kind] = kinds.get(resource.kind, 0) + 1
    return ", ".join(counted(count, kind) for kind, count in kinds.items())


def name_few(resources: Iterable[Resource]) -> str:
    """`topic a, topic b`; of more than three `30 topics, a to z`."""
    each = list(dict.fromkeys(resources))
    if len(each) <= _FEW:
        return ", ".join(map(str, each))
    return f"{count_kinds(each)}, {each[0].name} to {each[-1].name}"


def count_changes(changes: Iterable[Change]) -> str:
    """`3 changes to 2 topics`, `16 offsets of 1 group`."""
    every = list(changes)
    offsets = every and all(change.resource.kind in _OFFSETS for change in every)
    what, of = ("offset", "of") if offsets else ("change", "to")
    return f"{counted(len(every), what)} {of} {count_kinds(change.resource for change in every)}"


def question(changes: Iterable[Change]) -> str:
    """What is about to happen and how much of it: `Delete 6 topics?`, `Apply 3 changes to 2
    topics?`."""
    every = [change for change in changes if change.resource.kind != "rollback-file"]
    verbs = {change.verb for change in every}
    verb = verbs.pop() if len(verbs) == 1 else "alter"
    if verb in _VERBS and not any(change.field for change in every):
        return f"{_VERBS[verb]} {count_kinds(change.resource for change in every)}?"
    if every and all(change.resource.kind in _OFFSETS for change in every):
        return f"{'Delete' if verb == 'delete' else 'Reset'} {count_changes(every)}?"
    return f"Apply {count_changes(every)}?"
