"""Completion candidates from a view. Sends no requests."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence

from msgspec import Struct

from kafka_shell.admin.configs.model import ConfigEntry, ConfigResource, ConfigType, ResourceType
from kafka_shell.admin.topics.model import TopicSummary
from kafka_shell.config_units import allowed_values, format_config_value
from kafka_shell.language.command import Command, Kind, Option

from .match import LIMIT, NameIndex
from .view import ClusterView, ConfigDoc


class Candidate(Struct, frozen=True):
    """A candidate. `about` is its description, in the style of `role`.

    `tail` is text that follows the candidate: the `=` of a pair, the `/` of a folder.
    """

    text: str
    about: str = ""
    role: str = ""
    tail: str = ""


class Candidates(Struct, frozen=True):
    """Candidates, and the number of further matches."""

    offered: tuple[Candidate, ...] = ()
    more: int = 0


NONE = Candidates()
About = Callable[[str], tuple[str, str]]

LEVELS = ("TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL")


def pick(names: Iterable[str] | NameIndex, typed: str, about: About, tail: str = "") -> Candidates:
    """Return the best matches, each with its description."""
    if isinstance(names, NameIndex):
        found = names.find(typed)
        chosen, more = found.names, found.more
    else:
        in_order = tuple(names)
        matches = NameIndex(in_order).find(typed)
        chosen = matches.names if typed else in_order[:LIMIT]
        more = max(0, (matches.total if typed else len(in_order)) - len(chosen))
    return Candidates(tuple(Candidate(name, *about(name), tail) for name in chosen), more)


def same_about(names: Iterable[str] | NameIndex, typed: str, what: str = "") -> Candidates:
    """Return the best matches, all with the same description."""
    return pick(names, typed, lambda name: (what, ""))


# -- commands and options
# ----------------------------------------------------------------------------


def commands(registry: Sequence[Command], typed: str, *, flags: bool = False) -> Candidates:
    """Return commands and short forms by name, then commands by search word."""
    if flags:
        spelled = {f"--{command.name}": command.summary for command in registry
                   if command.verb_noun}  # fmt: skip
        return pick(spelled, typed, lambda name: (spelled[name], ""))
    summaries = {command.name: command.summary for command in registry}
    for command in registry:
        for short in command.shorts:
            summaries.setdefault(short.word, f"short for {short.line}")
    found = pick(summaries, typed, lambda name: (summaries[name], ""))
    if len(typed) < 3:
        return found
    known = {candidate.text for candidate in found.offered}
    related = tuple(
        Candidate(command.name, command.summary)
        for command in registry
        if command.name not in known and any(word.startswith(typed) for word in command.search)
    )
    return Candidates(found.offered + related, found.more)


def options(free: Iterable[Option], typed: str) -> Candidates:
    """Return unused options in their declared order, including aliases that match."""
    spelled: dict[str, Option] = {}
    for option in free:
        if option.hidden:
            continue
        spelled[option.name] = option
        if len(typed) > 2 and not option.name.startswith(typed):
            spelled |= {alias: option for alias in option.aliases if alias.startswith(typed)}
    found = pick(spelled, typed, lambda name: (spelled[name].help, ""))
    declared = {name: number for number, name in enumerate(spelled)}
    ranked = sorted(
        found.offered, key=lambda each: (not each.text.startswith(typed), declared[each.text])
    )
    return Candidates(tuple(ranked), found.more)


# -- names of the cluster
# ---------------------------------------------------------------------------


def topics(view: ClusterView, typed: str, among: Sequence[str] | None = None) -> Candidates:
    """Return topics with partitions and health; `among` restricts the names."""
    index = view.topics.value

    def about(name: str) -> tuple[str, str]:
        summary = index.summary_of(name)
        return _shape(summary) if summary else ("", "")

    return pick(index.index if among is None else among, typed, about)


def _shape(summary: TopicSummary) -> tuple[str, str]:
    shape = f"{summary.partitions} × {summary.replication_factor}"
    if summary.offline:
        return f"{shape}  {summary.offline} offline", "bad"
    if summary.under_replicated:
        return f"{shape}  {summary.under_replicated} under-replicated", "warning"
    return f"{shape}  internal" if summary.internal else shape, ""


def brokers(view: ClusterView, typed: str) -> Candidates:
    """Return broker IDs with address and rack."""
    known = {str(broker.id): broker for broker in view.brokers.value}

    def about(name: str) -> tuple[str, str]:
        broker = known[name]
        rack = f"  rack {broker.rack}" if broker.rack else ""
        return f"{broker.host}:{broker.port}{rack}", ""

    return pick(known, typed, about)


def addresses(view: ClusterView, typed: str) -> Candidates:
    """Return host:port of the known brokers."""
    known = {f"{b.host}:{b.port}": f"broker {b.id}" for b in view.brokers.value}
    return pick(known, typed, lambda name: (known[name], ""))


def partitions(view: ClusterView, topic: str, typed: str) -> Candidates:
    """Return the partitions of a known topic."""
    summary = view.topics.value.summary_of(topic)
    if summary is None:
        return NONE
    numbers = [str(number) for number in range(summary.partitions)]
    fitting = [number for number in numbers if number.startswith(typed)]
    offered = tuple(Candidate(number) for number in fitting[:LIMIT])
    return Candidates(offered, len(fitting) - len(offered))


def features(view: ClusterView, typed: str, tail: str = "") -> Candidates:
    """Return features with their levels."""
    known = {each.name: each for each in view.features.value}

    def about(name: str) -> tuple[str, str]:
        each = known[name]
        now = f"level {each.level}" if each.level else "off"
        label = f" ({each.release})" if each.release else ""
        more = f"  up to {each.highest}" if each.highest > each.level else ""
        return now + label + more, ""

    return pick(known, typed, about, tail)


def feature_levels(view: ClusterView, name: str, typed: str) -> Candidates:
    """Return the supported levels of a feature, highest first."""
    each = next((each for each in view.features.value if each.name == name), None)
    if each is None:
        return NONE
    marks = {0: ("off", "")}
    marks[each.highest] = ("highest level", "")
    marks[each.level] = (f"now {each.release}".rstrip(), "override")
    levels = [*range(each.highest, max(each.lowest, 1) - 1, -1), 0]
    fitting = [level for level in dict.fromkeys(levels) if str(level).startswith(typed)]
    return Candidates(
        tuple(Candidate(str(level), *marks.get(level, ("", ""))) for level in fitting[:LIMIT]),
        max(0, len(fitting) - LIMIT),
    )


def times(typed: str) -> Candidates:
    """Return sample times: relative ones, and the start of today."""
    today = time.strftime("%Y-%m-%dT00:00")
    known = {"-1h": "one hour ago", "-1d": "one day ago", "-7d": "one week ago",
             today: "start of today", "now": ""}  # fmt: skip
    return pick(known, typed, lambda word: (known[word], ""))


# -- configs ---------------------------------------------------------------------------------------


def config_keys(
    view: ClusterView,
    kind: ResourceType,
    resource: ConfigResource | None,
    typed: str,
    *,
    pairs: bool = False,
    taken: Iterable[str] = (),
    only_overridden: bool = False,
    only_lists: bool = False,
) -> Candidates:
    """Return config keys with type and value, overridden ones first.

    With `pairs`, read-only keys are omitted. Keys in `taken` are omitted as well.
    """
    docs, entries = view.docs(kind), view.entries(resource) if resource else {}
    known: dict[str, ConfigDoc | ConfigEntry] = {**docs, **entries}
    for key in taken:
        known.pop(key, None)
    if only_overridden and entries:
        known = {key: entry for key, entry in entries.items()
                 if entry.overridden and key in known}  # fmt: skip
    if pairs:
        known = {key: config for key, config in known.items() if not config.read_only}
    if only_lists:
        lists = (ConfigType.LIST, ConfigType.UNKNOWN)
        known = {key: config for key, config in known.items() if config.type in lists}
    order = sorted(known, key=lambda key: (not _overridden(entries.get(key)), key))
    unread = _unread(view, resource)

    def about(key: str) -> tuple[str, str]:
        return _config(key, docs.get(key), entries.get(key), unread)

    found = pick(order, typed, about, "=" if pairs else "")
    ranked = sorted(
        found.offered,
        key=lambda each: (not each.text.startswith(typed), not _overridden(entries.get(each.text))),
    )
    return Candidates(tuple(ranked), found.more)


def _overridden(entry: ConfigEntry | None) -> bool:
    return entry is not None and entry.overridden


def _unread(view: ClusterView, resource: ConfigResource | None) -> str | None:
    """Return the placeholder for values of a resource that was not read, or None."""
    if resource is None:
        return None
    part = view.configs.get(resource)
    if part is None or (not part.read_at and part.error is None):
        return "…"
    return "" if part.error is not None and not part.value else None


def _config(
    key: str, doc: ConfigDoc | None, entry: ConfigEntry | None, unread: str | None
) -> tuple[str, str]:
    """Return a description such as `long  7d  set here`, and its role."""
    config = entry or doc
    assert config is not None
    kind = config.type.name.lower() if config.type is not ConfigType.UNKNOWN else ""
    raw = entry.value if entry else doc.default if doc else None
    value = "(sensitive)" if config.sensitive else _with_units(key, config.type, raw)
    if unread is not None and entry is None and not config.sensitive:
        value = unread
    marks = "set here" if _overridden(entry) else "read-only" if config.read_only else ""
    words = [f"{kind:<7}", value, marks]
    return "  ".join(
        word for word in words if word
    ).rstrip(), "override" if marks == "set here" else ""


def _with_units(key: str, kind: ConfigType, raw: str | None) -> str:
    if raw is None:
        return ""
    return format_config_value(key, kind, raw) if raw else '""'


def config_values(
    view: ClusterView,
    kind: ResourceType,
    resource: ConfigResource | None,
    key: str,
    typed: str,
    *,
    grouped: bool = False,
) -> Candidates:
    """Return the possible values of a key, or its current and default value.

    `grouped`: commas separate pairs, so values with commas are put in brackets (KIP-248).
    """
    entry = view.entries(resource).get(key) if resource else None
    doc = view.docs(kind).get(key)
    config = entry or doc
    about = _values_known(entry, doc)
    type_ = config.type if config else ConfigType.UNKNOWN
    choices = _choices(key, kind, type_)
    if choices and type_ is ConfigType.LIST and "," in typed and not grouped:
        head, _, last = typed.rpartition(",")
        left = [choice for choice in choices if choice not in head.split(",")]
        found = pick(left, last, lambda value: ("", ""))
        return Candidates(tuple(Candidate(f"{head},{each.text}") for each in found.offered))
    spelled = {f"[{value}]" if grouped and "," in value else value: value
               for value in dict.fromkeys([*choices, *about])}  # fmt: skip
    return pick(spelled, typed, lambda value: (about.get(spelled[value], ""), ""))


def _values_known(entry: ConfigEntry | None, doc: ConfigDoc | None) -> dict[str, str]:
    """Return the current value and the default, with descriptions."""
    known: dict[str, str] = {}
    if doc is not None and doc.default:
        known[format_config_value(doc.name, doc.type, doc.default)] = "default"
    if entry is not None and entry.value and not entry.sensitive:
        now = format_config_value(entry.name, entry.type, entry.value)
        here = "now, set here" if entry.overridden else "now"
        also = ", the default" if now in known else ""
        known = {now: here + also, **{k: v for k, v in known.items() if k != now}}
    return known


def _choices(key: str, kind: ResourceType, type_: ConfigType) -> tuple[str, ...]:
    if kind is ResourceType.BROKER_LOGGER:
        return LEVELS
    if type_ is ConfigType.BOOLEAN:
        return ("true", "false")
    return allowed_values(key)


# Kinds of arguments whose candidates are a NameIndex of the view.
INDEXES: Mapping[Kind, Callable[[ClusterView], NameIndex]] = {
    Kind.GROUP: lambda view: view.groups.value,
    Kind.USER: lambda view: view.users.value,
    Kind.CLIENT_ID: lambda view: view.client_ids.value,
    Kind.PRINCIPAL: lambda view: view.principals.value,
    Kind.CLIENT_METRICS: lambda view: view.client_metrics.value,
    Kind.TRANSACTIONAL_ID: lambda view: view.transactional_ids.value,
    Kind.LOG_DIR: lambda view: view.log_dirs.value,
    Kind.TOKEN: lambda view: view.tokens.value,
}

# Kinds of arguments whose candidates need one of the PARTS of the view.
PARTS: Mapping[Kind, str] = {
    Kind.GROUP: "groups",
    Kind.USER: "users",
    Kind.CLIENT_ID: "client_ids",
    Kind.PRINCIPAL: "principals",
    Kind.ACL_RULE: "principals",
    Kind.CLIENT_METRICS: "client_metrics",
    Kind.TRANSACTIONAL_ID: "transactional_ids",
    Kind.LOG_DIR: "log_dirs",
    Kind.TOKEN: "tokens",
    Kind.QUOTA_KEY: "quotas",
    Kind.QUOTA_PAIR: "quotas",
    Kind.IP: "quotas",
    Kind.FEATURE: "features",
    Kind.FEATURE_LEVEL: "features",
}
