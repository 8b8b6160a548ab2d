"""Candidates for quotas: keys with what they limit and what holds, values; and the pane's text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kafka_shell.admin.quotas.model import CLIENT_QUOTAS, DEFAULT, IP_QUOTAS, Default, QuotaEntity
from kafka_shell.quota_units import format_quota
from kafka_shell.view.candidates import NONE, Candidate, Candidates, pick
from kafka_shell.view.view import ClusterView

Words = Mapping[str, tuple[str, ...]]

# key -> what it limits in a few words, the whole of it, and values to begin with
_KEYS: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "producer_byte_rate": (
        "bytes sent per second",
        "How many bytes per second its producers may send to each broker, all of them together."
        " Whoever sends more is answered later (throttled). Takes units: 5MB/s, 512KiB/s.",
        ("1MB/s", "10MB/s", "100MB/s"),
    ),
    "consumer_byte_rate": (
        "bytes fetched per second",
        "How many bytes per second its consumers may fetch from each broker, all of them together."
        " Whoever fetches more is answered later (throttled). Takes units: 5MB/s, 512KiB/s.",
        ("1MB/s", "10MB/s", "100MB/s"),
    ),
    "request_percentage": (
        "percent of a broker thread's time",
        "How much of the time of each broker's request and network threads it may use, in percent"
        " of one thread: with 8 request and 3 network threads all of a broker is 1100%.",
        ("50%", "100%", "200%"),
    ),
    "controller_mutation_rate": (
        "partitions created, added or deleted per second",
        "How many partitions per second it may create, add or delete on the whole cluster. What is"
        " beyond it fails with THROTTLING_QUOTA_EXCEEDED.",
        ("5/s", "50/s"),
    ),
    "connection_creation_rate": (
        "new connections per second",
        "How many new connections per second each broker takes from this address. Those beyond it"
        " wait.",
        ("10/s", "100/s"),
    ),
}


def keys(
    view: ClusterView, words: Words, typed: str, *, pairs: bool, taken: Iterable[str] = (),
    only_set: bool = False,
) -> Candidates:  # fmt: skip
    """Keys that the line's entity can have, those set first; with `pairs` a value is to follow."""
    entity = entity_of(words)
    now = _now(view, entity)
    known = [key for key in _of(entity) if key not in set(taken)]
    if only_set and now:
        known = [key for key in known if key in now]
    known.sort(key=lambda key: key not in now)

    def about(key: str) -> tuple[str, str]:
        held = f"  now {format_quota(key, now[key])}" if key in now else ""
        return _KEYS[key][0] + held, "override" if held else ""

    return pick(known, typed, about, "=" if pairs else "")


def values(view: ClusterView, words: Words, key: str, typed: str) -> Candidates:
    """What holds now, and values to begin with."""
    if key not in _KEYS:
        return NONE
    now = _now(view, entity_of(words))
    known = {format_quota(key, now[key]): "now"} if key in now else {}
    known |= {sample: "" for sample in _KEYS[key][2] if sample not in known}
    return pick(known, typed, lambda value: (known[value], ""))


def documentation(view: ClusterView, words: Words, key: str) -> tuple[str, str] | None:
    """The heading and the text of a key's pane; None for what is no quota."""
    if key not in _KEYS:
        return None
    now = _now(view, entity_of(words)).get(key)
    title, text, _ = _KEYS[key]
    return title if now is None else f"{title} · now {format_quota(key, now)}", text


def entity_of(words: Words) -> QuotaEntity:
    """Whom the line is about, as far as it says so."""
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


def _of(entity: QuotaEntity) -> tuple[str, ...]:
    if entity.ip is not None:
        return IP_QUOTAS
    return CLIENT_QUOTAS if entity.parts else (*CLIENT_QUOTAS, *IP_QUOTAS)


def _now(view: ClusterView, entity: QuotaEntity) -> dict[str, float]:
    return {quota.key: quota.value for quota in view.quotas.value if quota.entity == entity}


def addresses(view: ClusterView, typed: str) -> Candidates:
    """The addresses that quotas are set for."""
    ips = {quota.entity.ip for quota in view.quotas.value}
    known = sorted(ip for ip in ips if isinstance(ip, str))
    return Candidates(tuple(Candidate(ip) for ip in known if ip.startswith(typed)))
