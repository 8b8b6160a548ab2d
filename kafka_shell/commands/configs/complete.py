"""Completion of keys and values of configs, quotas and dynamic client configs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kafka_shell.admin.client_configs.keys import KEYS, ClientConfigKey
from kafka_shell.admin.configs.model import ENTITY_TYPES, ConfigEntry, ConfigResource, ResourceType
from kafka_shell.admin.quotas.model import (
    CLIENT_QUOTAS,
    DEFAULT,
    ENTITY_FIELDS,
    IP_QUOTAS,
    Default,
    QuotaEntity,
)
from kafka_shell.admin.users.model import ScramMechanism
from kafka_shell.base.units import ConfigType, allowed_values, format_config_value, format_quota
from kafka_shell.commands.client_configs.spec import SUPPORTED, has_dynamic
from kafka_shell.language.cursor import CompletionRequest
from kafka_shell.language.kinds import is_pattern
from kafka_shell.view.candidates import NONE, Candidate, Candidates, Catalog, pick
from kafka_shell.view.view import ClusterView, ConfigDoc, Key

_LEVELS = ("TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL")


def offer(request: CompletionRequest, known: Catalog) -> Candidates:
    """Return config keys or values of the resource that the line names."""
    if is_about_quotas(request):
        return _of_entity(request, known)
    kind, resource = subject_of(request, known.view)
    of = _values if request.part == "value" else _keys
    return of(known.view, kind, resource, request)


def needs(request: CompletionRequest, view: ClusterView) -> Sequence[Key]:
    """Return the resource, and its type if the documentation of its configs is unknown."""
    if is_about_quotas(request):
        return ("quotas",)
    kind, resource = subject_of(request, view)
    docs = view.documentation.get(kind)
    documented: list[Key] = [] if docs is not None and docs.read_at else [kind]
    return documented if resource is None else [*documented, resource]


def document(request: CompletionRequest, key: str, view: ClusterView) -> tuple[str, str] | None:
    """Return heading and text about a quota or client config; None for configs of brokers."""
    if not is_about_quotas(request):
        return None
    return document_quota(request, key, view) or document_client_config(request, key, view)


def is_about_quotas(request: CompletionRequest) -> bool:
    """Return whether config-command is used for a user, client ID or IP address."""
    command = request.command.name if request.command is not None else ""
    return command == "config-command" and bool(entity_of(request.words).parts)


def _of_entity(request: CompletionRequest, known: Catalog) -> Candidates:
    """Return keys of config-command for a user, client ID or IP address: quotas, and for users also
    dynamic client configs and SCRAM mechanisms."""
    offered = offer_quotas(request, known)
    entity = entity_of(request.words)
    if not has_dynamic(entity):
        return offered
    offered += offer_client_configs(request, known)
    if request.part == "value" or entity.client_id is not None:
        return offered
    scram = dict.fromkeys((mechanism.label for mechanism in ScramMechanism), "credential")
    if request.name == "delete-config":
        scram[SUPPORTED] = "configs that clients support"
    return offered + pick(scram, request.prefix, tail=request.tail)


# -- the resource ----------------------------------------------------------------------------------

# Name of an argument or option -> resource type of its value.
_NAMED = {
    "broker-id": ResourceType.BROKER,
    "logger": ResourceType.BROKER_LOGGER,
    "broker-logger": ResourceType.BROKER_LOGGER,
    "group": ResourceType.GROUP,
    "client-metrics": ResourceType.CLIENT_METRICS,
}


def subject_of(
    wanted: CompletionRequest, view: ClusterView
) -> tuple[ResourceType, ConfigResource | None]:
    """Return the resource type, and the resource if the line names exactly one."""
    words = wanted.words
    if "broker-default" in words:
        return ResourceType.BROKER, ConfigResource(ResourceType.BROKER, "")
    if words.get("entity-type"):
        return _entity(words)
    for name, kind in _NAMED.items():
        if name in words:
            return kind, _one(kind, words[name])
    if any(map(str.isdecimal, words.get("broker", ()))):  # otherwise --broker is the connection
        return ResourceType.BROKER, _one(ResourceType.BROKER, words["broker"])
    resource = _one(ResourceType.TOPIC, words.get("topic", ()))
    if resource is not None and view.read_at and resource.name not in view.topics.value:
        resource = None
    return ResourceType.TOPIC, resource


def _entity(
    words: Mapping[str, tuple[str, ...]],
) -> tuple[ResourceType, ConfigResource | None]:
    kind = ENTITY_TYPES.get(words["entity-type"][0], ResourceType.TOPIC)
    if "entity-default" in words and kind is ResourceType.BROKER:
        return kind, ConfigResource(kind, "")
    return kind, _one(kind, words.get("entity-name", ()))


def _one(kind: ResourceType, names: tuple[str, ...]) -> ConfigResource | None:
    if len(names) != 1 or is_pattern(names[0]) or not names[0]:
        return None
    numbered = kind in (ResourceType.BROKER, ResourceType.BROKER_LOGGER)
    if numbered and not names[0].isdecimal():
        return None
    return ConfigResource(kind, names[0])


# -- keys and values -------------------------------------------------------------------------------


def _keys(
    view: ClusterView, kind: ResourceType, resource: ConfigResource | None, asked: CompletionRequest
) -> Candidates:
    """Return config keys with type and value, overridden ones first.

    Keys that are given already are omitted, and so are read-only ones where a value follows.
    """
    docs, entries = view.docs(kind), view.entries(resource) if resource else {}
    known: dict[str, ConfigDoc | ConfigEntry] = {**docs, **entries}
    if asked.name == "delete-config" and entries:
        known = {key: entry for key, entry in entries.items() if entry.overridden}
    if asked.part == "key":
        known = {key: config for key, config in known.items() if not config.read_only}
    if asked.name in ("append", "subtract"):
        lists = (ConfigType.LIST, ConfigType.UNKNOWN)
        known = {key: config for key, config in known.items() if config.type in lists}
    order = sorted(
        known.keys() - asked.taken, key=lambda key: (not _overridden(entries.get(key)), key)
    )
    unread = _unread(view, resource)

    def about(key: str) -> tuple[str, str]:
        return _config(key, docs.get(key), entries.get(key), unread)

    typed = asked.prefix
    fitting = pick(order, typed, about, asked.tail)
    ranked = sorted(
        fitting.offered,
        key=lambda each: (not each.text.startswith(typed), not _overridden(entries.get(each.text))),
    )
    return Candidates(tuple(ranked), fitting.more)


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
    """Return a description such as `long  7d  overridden`, and its role."""
    config = entry or doc
    assert config is not None
    kind = config.type.name.lower() if config.type is not ConfigType.UNKNOWN else ""
    raw = entry.value if entry else doc.default if doc else None
    value = "(sensitive)" if config.sensitive else _with_units(key, config.type, raw)
    if unread is not None and entry is None and not config.sensitive:
        value = unread
    overridden = _overridden(entry)
    marks = "overridden" if overridden else "read-only" if config.read_only else ""
    shown = "  ".join(filter(None, (f"{kind:<7}", value, marks))).rstrip()
    return shown, "override" if overridden else ""


def _with_units(key: str, kind: ConfigType, raw: str | None) -> str:
    if raw is None:
        return ""
    return format_config_value(key, kind, raw) if raw else '""'


def _values(
    view: ClusterView, kind: ResourceType, resource: ConfigResource | None, asked: CompletionRequest
) -> Candidates:
    """Return the possible values of a key, or its current and default value.

    In a list of pairs, values with commas are put in brackets (KIP-248).
    """
    key, typed = asked.key, asked.prefix
    grouped = asked.kind is not None and asked.kind.several
    entry = view.entries(resource).get(key) if resource else None
    doc = view.docs(kind).get(key)
    config = entry or doc
    about = _values_known(entry, doc)
    type_ = config.type if config else ConfigType.UNKNOWN
    choices = _choices(key, kind, type_)
    if choices and type_ is ConfigType.LIST and "," in typed and not grouped:
        head, _, last = typed.rpartition(",")
        left = [choice for choice in choices if choice not in head.split(",")]
        fitting = pick(left, last)
        return Candidates(tuple(Candidate(f"{head},{each.text}") for each in fitting.offered))
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
        here = "now, overridden" if entry.overridden else "now"
        also = ", the default" if now in known else ""
        known = {now: here + also, **{k: v for k, v in known.items() if k != now}}
    return known


def _choices(key: str, kind: ResourceType, type_: ConfigType) -> tuple[str, ...]:
    if kind is ResourceType.BROKER_LOGGER:
        return _LEVELS
    if type_ is ConfigType.BOOLEAN:
        return ("true", "false")
    return allowed_values(key)


def offer_client_configs(request: CompletionRequest, known: Catalog) -> Candidates:
    """Return the keys, or the values of a key."""
    if request.part == "value":
        key = KEYS.get(request.key)
        return pick(key.choices, request.prefix) if key else NONE
    keys = {name: key for name, key in KEYS.items() if name not in request.taken}
    return pick(keys, request.prefix, lambda name: (_summary_of(keys[name]), ""), request.tail)


def document_client_config(
    request: CompletionRequest, key: str, view: ClusterView
) -> tuple[str, str] | None:
    """Return heading and text about a key; None for other keys."""
    known = KEYS.get(key)
    return (f"{_summary_of(known)} · {known.takes_effect}", known.about) if known else None


def _summary_of(key: ClientConfigKey) -> str:
    return f"{key.type.name.lower():<7}  {', '.join(key.of)}"


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


def offer_quotas(request: CompletionRequest, known: Catalog) -> Candidates:
    """Return the quota keys of the entity, those already set first, or the values of a key."""
    entity = entity_of(request.words)
    current = {each.key: each.value for each in known.view.quotas.value if each.entity == entity}
    if request.part == "value":
        return _values_of_quota(request, current)
    names = [key for key in _keys_of(entity) if key not in request.taken]
    if request.name == "delete-config" and current:
        names = [key for key in names if key in current]
    names.sort(key=lambda key: key not in current)

    def about(key: str) -> tuple[str, str]:
        value_text = f"  now {format_quota(key, current[key])}" if key in current else ""
        return _CANDIDATE_KEYS[key][0] + value_text, "override" if value_text else ""

    return pick(names, request.prefix, about, request.tail)


def _values_of_quota(request: CompletionRequest, current: Mapping[str, float]) -> Candidates:
    """Return the current value and sample values."""
    key = request.key
    if key not in _CANDIDATE_KEYS:
        return NONE
    known = {format_quota(key, current[key]): "now"} if key in current else {}
    known |= {sample: "" for sample in _CANDIDATE_KEYS[key][2] if sample not in known}
    return pick(known, request.prefix)


def document_quota(
    request: CompletionRequest, key: str, view: ClusterView
) -> tuple[str, str] | None:
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
    fields: dict[str, str | Default] = {}
    for name, field in _QUOTAS_NAMED.items():
        if named := words.get(name):
            fields[field] = named[0] or DEFAULT
        if f"{name}-default" in words or f"{name}-defaults" in words:
            fields[field] = DEFAULT
    types = words.get("entity-type", ())
    names = iter(words.get("entity-name", ()))
    for kind in types:
        field = ENTITY_FIELDS.get(kind, "")
        if field:
            fields[field] = next(names, "") or DEFAULT
    return QuotaEntity(**fields)


_QUOTAS_NAMED = {"user": "user", "client-id": "client_id", "client": "client_id", "ip": "ip"}


def _keys_of(entity: QuotaEntity) -> tuple[str, ...]:
    if entity.ip is not None:
        return IP_QUOTAS
    return CLIENT_QUOTAS if entity.parts else (*CLIENT_QUOTAS, *IP_QUOTAS)
