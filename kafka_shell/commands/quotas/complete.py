"""Completion of quota keys and values, and the documentation of keys."""

from __future__ import annotations

from collections.abc import Mapping

from kafka_shell.admin.quotas.model import (
    CLIENT_QUOTAS,
    DEFAULT,
    ENTITY_FIELDS,
    IP_QUOTAS,
    Default,
    QuotaEntity,
)
from kafka_shell.base.units import format_quota
from kafka_shell.language.cursor import CompletionRequest
from kafka_shell.view.candidates import NONE, Candidates, Catalog, pick
from kafka_shell.view.view import ClusterView

# key -> summary, documentation, sample values
_CANDIDATE_KEYS: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "producer_byte_rate": (
        "bytes sent per second",
        "Bytes per second that all producers of the entity together may send to each broker."
        " Clients above the quota are throttled. Units: 5MB/s, 512KiB/s.",
        ("1MB/s", "10MB/s", "100MB/s"),
    ),
    "consumer_byte_rate": (
        "bytes fetched per second",
        "Bytes per second that all consumers of the entity together may fetch from each broker."
        " Clients above the quota are throttled. Units: 5MB/s, 512KiB/s.",
        ("1MB/s", "10MB/s", "100MB/s"),
    ),
    "request_percentage": (
        "percentage of request handler time",
        "Time on each broker's request handler and network threads, as a percentage of one thread."
        " With 8 request handler and 3 network threads, a whole broker is 1100%.",
        ("50%", "100%", "200%"),
    ),
    "controller_mutation_rate": (
        "partitions created, added or deleted per second",
        "Partitions per second that the entity may create, add or delete on the whole cluster."
        " Requests above the quota fail with THROTTLING_QUOTA_EXCEEDED.",
        ("5/s", "50/s"),
    ),
    "connection_creation_rate": (
        "new connections per second",
        "New connections per second that each broker accepts from this address. Connections above"
        " the quota are delayed.",
        ("10/s", "100/s"),
    ),
}


def offer(request: CompletionRequest, known: Catalog) -> Candidates:
    """Return the quota keys of the entity, those already set first, or the values of a key."""
    entity = entity_of(request.words)
    current = {each.key: each.value for each in known.view.quotas.value if each.entity == entity}
    if request.part == "value":
        return _values(request, current)
    names = [key for key in _keys_of(entity) if key not in request.taken]
    if request.name == "delete-config" and current:
        names = [key for key in names if key in current]
    names.sort(key=lambda key: key not in current)

    def about(key: str) -> tuple[str, str]:
        value_text = f"  now {format_quota(key, current[key])}" if key in current else ""
        return _CANDIDATE_KEYS[key][0] + value_text, "override" if value_text else ""

    return pick(names, request.prefix, about, request.tail)


def _values(request: CompletionRequest, current: Mapping[str, float]) -> Candidates:
    """Return the current value and sample values."""
    key = request.key
    if key not in _CANDIDATE_KEYS:
        return NONE
    known = {format_quota(key, current[key]): "now"} if key in current else {}
    known |= {sample: "" for sample in _CANDIDATE_KEYS[key][2] if sample not in known}
    return pick(known, request.prefix)


def document(request: CompletionRequest, key: str, view: ClusterView) -> tuple[str, str] | None:
    """Return heading and documentation of a quota key; None for other keys."""
    if key not in _CANDIDATE_KEYS:
        return None
    entity = entity_of(request.words)
    now = [f" · now {format_quota(key, quota.value)}" for quota in view.quotas.value
           if (quota.entity, quota.key) == (entity, key)]  # fmt: skip
    summary, prose, _ = _CANDIDATE_KEYS[key]
    return "".join([summary, *now]), prose


def entity_of(words: Mapping[str, tuple[str, ...]]) -> QuotaEntity:
    """The entity that the words typed so far name."""
    found: dict[str, str | Default] = {}
    for name, field in _NAMED.items():
        if named := words.get(name):
            found[field] = named[0] or DEFAULT
        if f"{name}-default" in words or f"{name}-defaults" in words:
            found[field] = DEFAULT
    types = words.get("entity-type", ())
    names = iter(words.get("entity-name", ()))
    for kind in types:
        field = ENTITY_FIELDS.get(kind, "")
        if field:
            found[field] = next(names, "") or DEFAULT
    return QuotaEntity(**found)


_NAMED = {"user": "user", "client-id": "client_id", "client": "client_id", "ip": "ip"}


def _keys_of(entity: QuotaEntity) -> tuple[str, ...]:
    if entity.ip is not None:
        return IP_QUOTAS
    return CLIENT_QUOTAS if entity.parts else (*CLIENT_QUOTAS, *IP_QUOTAS)
