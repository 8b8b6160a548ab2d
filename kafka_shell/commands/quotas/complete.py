"""Completion of quota keys and values, and the documentation of keys."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kafka_shell.admin.quotas.model import CLIENT_QUOTAS, DEFAULT, IP_QUOTAS, Default, QuotaEntity
from kafka_shell.quota_units import format_quota
from kafka_shell.view.candidates import NONE, Candidate, Candidates, pick
from kafka_shell.view.view import ClusterView

Words = Mapping[str, tuple[str, ...]]

# key -> summary, documentation, sample values
_KEYS: dict[str, tuple[str, str, tuple[str, ...]]] = {
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


def keys(
    view: ClusterView, words: Words, typed: str, *, pairs: bool, taken: Iterable[str] = (),
    only_set: bool = False,
) -> Candidates:  # fmt: skip
    """The quota keys of the entity, those already set first; `pairs` appends `=`."""
    entity = entity_of(words)
    current = _current_quotas(view, entity)
    known = [key for key in _keys_of(entity) if key not in set(taken)]
    if only_set and current:
        known = [key for key in known if key in current]
    known.sort(key=lambda key: key not in current)

    def about(key: str) -> tuple[str, str]:
        value_text = f"  now {format_quota(key, current[key])}" if key in current else ""
        return _KEYS[key][0] + value_text, "override" if value_text else ""

    return pick(known, typed, about, "=" if pairs else "")


def values(view: ClusterView, words: Words, key: str, typed: str) -> Candidates:
    """The current value and sample values."""
    if key not in _KEYS:
        return NONE
    current = _current_quotas(view, entity_of(words))
    known = {format_quota(key, current[key]): "now"} if key in current else {}
    known |= {sample: "" for sample in _KEYS[key][2] if sample not in known}
    return pick(known, typed, lambda value: (known[value], ""))


def documentation(view: ClusterView, words: Words, key: str) -> tuple[str, str] | None:
    """The heading and documentation of a quota key; None for other keys."""
    if key not in _KEYS:
        return None
    current = _current_quotas(view, entity_of(words)).get(key)
    summary, prose, _ = _KEYS[key]
    return summary + ("" if current is None else f" · now {format_quota(key, current)}"), prose


def entity_of(words: Words) -> QuotaEntity:
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
        field = _ENTITY_FIELDS.get(kind, "")
        if field:
            found[field] = next(names, "") or DEFAULT
    return QuotaEntity(**found)


_NAMED = {"user": "user", "client-id": "client_id", "client": "client_id", "ip": "ip"}
_ENTITY_FIELDS = {"users": "user", "clients": "client_id", "ips": "ip"}


def _keys_of(entity: QuotaEntity) -> tuple[str, ...]:
    if entity.ip is not None:
        return IP_QUOTAS
    return CLIENT_QUOTAS if entity.parts else (*CLIENT_QUOTAS, *IP_QUOTAS)


def _current_quotas(view: ClusterView, entity: QuotaEntity) -> dict[str, float]:
    return {quota.key: quota.value for quota in view.quotas.value if quota.entity == entity}


def addresses(view: ClusterView, typed: str) -> Candidates:
    """The IP addresses that have quotas."""
    ips = {quota.entity.ip for quota in view.quotas.value}
    known = sorted(ip for ip in ips if isinstance(ip, str))
    return Candidates(tuple(Candidate(ip) for ip in known if ip.startswith(typed)))
