"""Completion candidates for a position of a line. Independent of prompt_toolkit, because the
completion scripts of bash, zsh and fish use it as well."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kafka_shell.admin.configs.model import ConfigType
from kafka_shell.admin.users.model import ScramMechanism
from kafka_shell.commands.configs.config_clients import DEFAULTS, NAMED
from kafka_shell.commands.configs.config_dynamic import SUPPORTED, has_dynamic
from kafka_shell.commands.program.commands import SETTINGS
from kafka_shell.language.command import Command, Kind
from kafka_shell.language.cursor import Want, Wanted
from kafka_shell.structs import replace
from kafka_shell.view import candidates
from kafka_shell.view.candidates import NONE, Candidates
from kafka_shell.view.view import ClusterView

from .places import Places, files
from .subject import group_of, subject_of

if TYPE_CHECKING:
    from kafka_shell.admin.client_configs.keys import ClientConfigKey

CONFIGS = (Kind.CONFIG_KEY, Kind.CONFIG_KEYS, Kind.CONFIG_PAIR, Kind.CONFIG_PAIRS)
_PAIRS = (Kind.CONFIG_PAIR, Kind.CONFIG_PAIRS)
_WITH_QUOTAS = {"users", "clients", "ips"}  # KIP-248's --entity-type


def offers(
    found: Wanted, view: ClusterView, registry: Sequence[Command], places: Places
) -> Candidates:
    """Return candidates for the word at the cursor, best first."""
    if found.want is Want.COMMAND:
        flags = found.prefix.startswith("-")
        return candidates.commands(registry, found.prefix, flags=flags)
    if found.want is Want.OPTION:
        return candidates.options(found.options, found.prefix)
    if found.want is not Want.VALUE or found.kind is None:
        return NONE
    if found.choices:
        chosen = candidates.same_about(found.choices, found.prefix)
        return (
            chosen if found.kind is not Kind.TIME else _also(chosen, candidates.times(found.prefix))
        )
    offered = _of_kind(found, found.kind, view, registry, places)
    for kind in found.alternatives:
        other = replace(found, kind=kind, part="", key="")
        offered = _also(offered, _of_kind(other, kind, view, registry, places))
    return _as_values(offered, found)


def _as_values(offered: Candidates, found: Wanted) -> Candidates:
    """Drop names that would be parsed as options."""
    if not any(found.is_option(each.text) for each in offered.offered):
        return offered
    kept = tuple(each for each in offered.offered if not found.is_option(each.text))
    return Candidates(kept, offered.more)


def _also(one: Candidates, other: Candidates) -> Candidates:
    return Candidates(one.offered + other.offered, one.more + other.more)


def _of_kind(
    found: Wanted, kind: Kind, view: ClusterView, registry: Sequence[Command], places: Places
) -> Candidates:
    typed = found.prefix
    if kind in CONFIGS:
        return _of_entity(found, view) if is_about_quotas(found) else _configs(found, view)
    if kind in (Kind.QUOTA_KEY, Kind.QUOTA_PAIR):
        return _quotas(found, view)
    if kind in (Kind.CLIENT_CONFIG_KEYS, Kind.CLIENT_CONFIG_PAIR):
        return _client_configs(found)
    if kind is Kind.TOPIC_PARTITIONS and found.part == "partition":
        return candidates.partitions(view, found.key, typed)
    if kind is Kind.TOPIC_PARTITIONS:
        return _topics_of_group(found, view)
    if kind is Kind.TOPIC:
        return candidates.topics(view, typed)
    if kind is Kind.ACL_RULE:
        from kafka_shell.commands.acls import complete as rule_candidates

        return rule_candidates.of_rule(found, view)
    if kind in (Kind.SQL, Kind.AUDIT_TABLE, Kind.AUDIT_CONTROL):
        from kafka_shell.commands.spark import complete as audit_candidates

        return audit_candidates.of_kind(kind, found, places.controls)
    if kind is Kind.FEATURE_LEVEL and found.part == "value":
        return candidates.feature_levels(view, found.key, typed)
    if kind in (Kind.FEATURE, Kind.FEATURE_LEVEL):
        return candidates.features(view, typed, "=" if kind is Kind.FEATURE_LEVEL else "")
    if kind is Kind.IP:
        from kafka_shell.commands.quotas import complete as quota_candidates

        return quota_candidates.addresses(view, typed)
    if kind is Kind.TIME:
        return candidates.times(typed)
    if _is_reset(found):
        return _reset_to(view, typed)
    if _is_to(found, "delete-records"):
        return _also(candidates.same_about(("latest",), typed), candidates.times(typed))
    if kind is Kind.BROKER:
        return candidates.brokers(view, typed)
    if kind is Kind.HOST_PORT:
        return candidates.addresses(view, typed)
    if kind is Kind.COMMAND:
        return candidates.commands(registry, typed)
    if kind in candidates.INDEXES:
        return candidates.same_about(candidates.INDEXES[kind](view), typed)
    if found.command is not None and found.command.name == "set":
        return candidates.same_about(SETTINGS.get(_first(found.words.get("name", ())), ()), typed)
    return places.of_kind(kind, typed)


def _topics_of_group(found: Wanted, view: ClusterView) -> Candidates:
    """Return the topics in which the group of the line has offsets; otherwise all topics."""
    group = group_of(found)
    known = view.group_topics.get(group) if group is not None else None
    offered = candidates.topics(view, found.prefix, known.value) if known is not None else NONE
    return offered if offered.offered else candidates.topics(view, found.prefix)


def is_about_quotas(found: Wanted) -> bool:
    """Return whether config-command is used for a user, client ID or IP address."""
    if found.command is None or found.command.name != "config-command":
        return False
    words = found.words
    return bool(_WITH_QUOTAS & set(words.get("entity-type", ()))) or any(
        option in words for option in (*NAMED, *DEFAULTS)
    )


def documented(found: Wanted, key: str, view: ClusterView) -> tuple[str, str] | None:
    """Return heading and text about a key of a quota or client config, or None."""
    of_entity = found.kind in CONFIGS and is_about_quotas(found)
    if found.kind in (Kind.QUOTA_KEY, Kind.QUOTA_PAIR) or of_entity:
        from kafka_shell.commands.quotas import complete as quota_candidates

        about = quota_candidates.documentation(view, found.words, key)
        if about or not of_entity:
            return about
    if found.kind in (Kind.CLIENT_CONFIG_KEYS, Kind.CLIENT_CONFIG_PAIR) or of_entity:
        from kafka_shell.admin.client_configs.keys import KEYS

        known = KEYS.get(key)
        return (f"{_summary(known)} · {known.takes_effect}", known.about) if known else None
    return None


def part_of(found: Wanted) -> str:
    """Return the name in PARTS of the view that the candidates come from, or an empty string."""
    if found.kind is None or found.choices:
        return ""
    if found.kind in CONFIGS and is_about_quotas(found):
        return "quotas"
    if _is_reset(found):
        return "groups" if found.prefix.startswith("group:") else ""
    return candidates.PARTS.get(found.kind, "")


def _first(words: Sequence[str]) -> str:
    return words[0] if words else ""


def _is_reset(found: Wanted) -> bool:
    return _is_to(found, "reset-offsets")


def _is_to(found: Wanted, command: str) -> bool:
    """Return whether the cursor is at the value of --to of this command."""
    matches = found.command is not None and found.command.name == command
    return matches and found.option is not None and found.option.name == "--to"


def _reset_to(view: ClusterView, typed: str) -> Candidates:
    """Return the targets of reset-offsets; after `group:` the groups, after `file:` the files."""
    head, colon, rest = typed.partition(":")
    if colon and head in ("group", "file"):
        inner = candidates.same_about(view.groups.value, rest) if head == "group" else files(rest)
        named = (replace(each, text=f"{head}:{each.text}") for each in inner.offered)
        return Candidates(tuple(named), inner.more)
    fixed = candidates.pick(_RESETS, typed, lambda word: (_RESETS[word], ""))
    return _also(fixed, candidates.times(typed))


_RESETS = {
    "earliest": "the first offset",
    "latest": "the end of the log",
    "+10": "10 offsets forward",
    "-10": "10 offsets back",
    "group:": "the offsets of another group",
    "file:": "the offsets of a CSV file",
}


def _quotas(found: Wanted, view: ClusterView) -> Candidates:
    from kafka_shell.commands.quotas import complete as quota_candidates

    if found.part == "value":
        return quota_candidates.values(view, found.words, found.key, found.prefix)
    name = _name(found)
    return quota_candidates.keys(
        view,
        found.words,
        found.prefix,
        pairs=found.kind in (Kind.QUOTA_PAIR, *_PAIRS),
        taken=[word.partition("=")[0] for word in found.words.get(name, ())],
        only_set=name == "delete-config",
    )


def _of_entity(found: Wanted, view: ClusterView) -> Candidates:
    """Return keys of config-command for a user, client ID or IP address: quotas, and for users also
    dynamic client configs and SCRAM mechanisms."""
    from kafka_shell.commands.quotas import complete as quota_candidates

    offered = _quotas(found, view)
    entity = quota_candidates.entity_of(found.words)
    if not has_dynamic(entity):
        return offered
    offered = _also(offered, _client_configs(found))
    if found.part == "value" or entity.client_id is not None:
        return offered
    tail = "=" if found.kind in _PAIRS else ""
    known = dict.fromkeys((mechanism.label for mechanism in ScramMechanism), "credential")
    if _name(found) == "delete-config":
        known[SUPPORTED] = "configs that clients support"
    scram = candidates.pick(known, found.prefix, lambda name: (known[name], ""), tail)
    return _also(offered, scram)


def _client_configs(found: Wanted) -> Candidates:
    from kafka_shell.admin.client_configs.keys import KEYS

    if found.part == "value":
        known = KEYS.get(found.key)
        return candidates.same_about(_choices_of(known), found.prefix) if known else NONE
    taken = {word.partition("=")[0] for word in found.words.get(_name(found), ())}
    keys = {name: key for name, key in KEYS.items() if name not in taken}
    tail = "=" if found.kind in (Kind.CLIENT_CONFIG_PAIR, *_PAIRS) else ""
    return candidates.pick(keys, found.prefix, lambda name: (_summary(keys[name]), ""), tail)


def _summary(key: ClientConfigKey) -> str:
    return f"{key.type.name.lower():<7}  {', '.join(key.of)}"


def _choices_of(key: ClientConfigKey) -> tuple[str, ...]:
    return ("true", "false") if key.type is ConfigType.BOOLEAN else key.choices


def _configs(found: Wanted, view: ClusterView) -> Candidates:
    kind, resource = subject_of(found, view)
    if found.part == "value":
        grouped = found.kind is Kind.CONFIG_PAIRS
        return candidates.config_values(
            view, kind, resource, found.key, found.prefix, grouped=grouped
        )
    name = _name(found)
    return candidates.config_keys(
        view,
        kind,
        resource,
        found.prefix,
        pairs=found.kind in _PAIRS,
        taken=[word.partition("=")[0] for word in found.words.get(name, ())],
        only_overridden=name == "delete-config",
        only_lists=name in ("append", "subtract"),
    )


def _name(found: Wanted) -> str:
    """Return the name of the argument or option at the cursor."""
    if found.argument is not None:
        return found.argument.name
    return found.option.name.lstrip("-") if found.option else ""
