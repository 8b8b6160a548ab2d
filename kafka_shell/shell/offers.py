"""What is wanted -> candidates of a view. Pure, and without prompt_toolkit: the completion scripts
of bash, zsh and fish offer the same from the view on disk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kafka_shell.commands.shell import SETTINGS
from kafka_shell.language.command import Command, Kind
from kafka_shell.language.cursor import Want, Wanted
from kafka_shell.metadata.view import ClusterView

from . import candidates
from .candidates import NONE, Candidates
from .places import Places
from .subject import subject_of

CONFIGS = (Kind.CONFIG_KEY, Kind.CONFIG_KEYS, Kind.CONFIG_PAIR, Kind.CONFIG_PAIRS)
_PAIRS = (Kind.CONFIG_PAIR, Kind.CONFIG_PAIRS)


def offers(
    found: Wanted, view: ClusterView, registry: Sequence[Command], places: Places
) -> Candidates:
    """Candidates for what is being typed, the best first."""
    if found.want is Want.COMMAND:
        flags = found.prefix.startswith("-")
        return candidates.commands(registry, found.prefix, flags=flags)
    if found.want is Want.OPTION:
        return candidates.options(found.options, found.prefix)
    if found.want is not Want.VALUE or found.kind is None:
        return NONE
    if found.choices:
        return candidates.said(found.choices, found.prefix)
    offered = _of_kind(found, found.kind, view, registry, places)
    for kind in found.alternatives:
        other = replace(found, kind=kind, part="", key="")
        also = _of_kind(other, kind, view, registry, places)
        offered = Candidates(offered.offered + also.offered, offered.more + also.more)
    return offered


def _of_kind(
    found: Wanted, kind: Kind, view: ClusterView, registry: Sequence[Command], places: Places
) -> Candidates:
    typed = found.prefix
    if kind in CONFIGS:
        return _configs(found, view)
    if kind is Kind.TOPIC:
        return candidates.topics(view, typed)
    if kind is Kind.BROKER:
        return candidates.brokers(view, typed)
    if kind is Kind.HOST_PORT:
        return candidates.addresses(view, typed)
    if kind is Kind.COMMAND:
        return candidates.commands(registry, typed)
    if kind in candidates.INDEXES:
        return candidates.said(candidates.INDEXES[kind](view), typed)
    if found.command is not None and found.command.name == "set":
        return candidates.said(SETTINGS.get(_first(found.words.get("name", ())), ()), typed)
    return places.of_kind(kind, typed)


def _first(words: Sequence[str]) -> str:
    return words[0] if words else ""


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
    """What the words of this argument or option go by."""
    if found.argument is not None:
        return found.argument.name
    return found.option.name.lstrip("-") if found.option else ""
