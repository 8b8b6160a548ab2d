"""Compare two states."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from kafka_shell import settings
from kafka_shell.base.errors import ShellError, UsageError
from kafka_shell.base.plans import reverse
from kafka_shell.base.results import Failure
from kafka_shell.base.units import ConfigType, same_value, shorten, to_path
from kafka_shell.commands.state.files import load
from kafka_shell.commands.state.model import Differing, Fields, State, StateDiff, only
from kafka_shell.commands.state.read import read_state
from kafka_shell.commands.state.section import (
    Difference,
    Section,
    StateRequest,
    order,
    section_of,
)
from kafka_shell.commands.state.sections.topics import ASSIGNMENT
from kafka_shell.commands.state.spec import KINDS
from kafka_shell.context import Context
from kafka_shell.identity import on_expected_cluster
from kafka_shell.language.command import Invocation
from kafka_shell.language.kinds import is_pattern, select_whole


def differences(before: State, after: State) -> Iterator[Difference]:
    """Every difference. What could not be read on one side is left out."""
    unread, texts = _unread(before, after), before.texts | after.texts
    for kind in KINDS:
        if kind not in unread:
            parts = before.part(kind), after.part(kind)
            yield from _of_section(section_of(kind), *parts, (), unread, texts)


class FileDifferences(Struct):
    """The differences between a cluster and a state file: what `apply --prune` changes.

    `out_of_scope` is what only the cluster has, on resources that the file names but its scope does
    not select; these are not differences. `unmatched` are the selectors of the scope that select
    nothing, by kind.
    """

    found: list[Difference] = field(default_factory=list)
    out_of_scope: list[Difference] = field(default_factory=list)
    unmatched: list[tuple[str, str]] = field(default_factory=list)

    @property
    def only_on_cluster(self) -> list[Difference]:
        """What the file does not have, within its scope."""
        return [difference for difference in self.found if difference.removes]


def from_file(now: State, wanted: State) -> FileDifferences:
    """The differences between a cluster and a state file."""
    all = FileDifferences()
    unread = _unread(now, wanted)
    for kind in KINDS:
        if kind in unread or not (kind in wanted.parts or kind in wanted.scope):
            continue
        section = section_of(kind)
        owners = {key: section.owner(key) for key in now.part(kind)}
        named = {section.owner(key) for key in wanted.part(kind)} | wanted.covered.get(kind, set())
        words = wanted.scope.get(kind, ())
        within = select_whole(words, list(dict.fromkeys(owners.values()))) if words else frozenset()
        here = {
            key: fields
            for key, fields in now.part(kind).items()
            if owners[key] in named or owners[key] in within
        }
        parts = here, wanted.part(kind)
        for difference in _of_section(section, *parts, section.optional, unread, now.texts):
            kept = difference.removes and owners[difference.key] not in within
            (all.out_of_scope if kept else all.found).append(difference)
        names = {*owners.values(), *named}
        all.unmatched += [(kind, word) for word in _unmatched(words, names)]
    return all


def _unmatched(words: Sequence[str], names: Collection[str]) -> Iterator[str]:
    every = list(names)
    for word in dict.fromkeys(words):
        if (
            word != "*"
            and word not in names
            and not (is_pattern(word) and select_whole((word,), every))
        ):
            yield word


def sensitive_in(state: State, other: State) -> Iterator[tuple[str, str]]:
    """The configs (resource and key) whose values `state`, a cluster, does not show, and that
    `other` has: those that a file names, those that are set on two clusters."""
    if not state.sensitive:
        return
    named = {
        (str(section.resource(key)), name)
        for section in map(section_of, other.parts)
        if section.typed
        for key, fields in other.part(section.name).items()
        for name in fields
    }
    for config, is_set in state.sensitive.items():
        if config in named or (is_set and other.sensitive is not None):
            yield config


def _unread(before: State, after: State) -> Collection[str]:
    hidden = (
        f"{resource} {key}"
        for state in (before, after)
        for resource, key in (state.sensitive or ())
    )
    return {*before.unread, *before.absent, *after.unread, *after.absent, *hidden}


def _of_section(
    section: Section,
    before: Mapping[Any, Fields],
    after: Mapping[Any, Fields],
    optional: Collection[str],
    unread: Collection[str],
    texts: Collection[str],
) -> Iterator[Difference]:
    """The differences of one kind. A field in `optional` that `after` leaves out is not one. The
    values of `texts` are compared as they are."""
    for key in sorted(before.keys() | after.keys(), key=order):
        old, new = before.get(key), after.get(key)
        resource = str(section.resource(key))
        if resource in unread:
            continue
        if section.whole and (old is None or new is None):
            whole, verb = (old or {}, "delete") if new is None else (new, "create")
            yield Difference(section, key, verb=verb, whole=whole)
            continue
        old, new = old or {}, new or {}
        for name, value in section.compared(old, new):
            if (name not in new and name in optional) or f"{resource} {name}" in unread:
                continue
            as_text = section.typed and name in texts
            type = ConfigType.STRING if as_text else ConfigType.UNKNOWN
            if not same_value(name, old.get(name), value, type):
                yield Difference(section, key, name, old.get(name), value)


# What `diff` and `apply` compare: state files, and clusters.

_STDIN = "-"


class StateSource(Struct, frozen=True):
    """One side of a comparison: a file, or the cluster of a context."""

    name: str
    file: State | None = None
    context: Context | None = None


def this_cluster(context: Context) -> StateSource:
    """The cluster of this session."""
    return StateSource(f"cluster {context.settings.cluster_name}", context=context)


def source_of(invocation: Invocation, context: Context, argument: str) -> StateSource:
    """What a word names: a file, a folder or a profile."""
    word: str = invocation[argument]
    profiles = settings.profile_names(context.paths.config_file)
    exists = to_path(word).exists()
    if word in profiles and exists:
        raise UsageError(
            f"'{word}' is both a profile and a file",
            hint=f"For the file, use ./{word}.",
            code="ambiguous",
            span=invocation.span(argument),
        )
    if word in profiles:
        flags = {"profile": word}
        loaded = settings.load_for_line(
            context.settings, flags, context.environ, context.paths.config_file
        )
        return StateSource(f"cluster {word}", context=context.with_settings(loaded))
    if exists or "." in word or "/" in word or word == _STDIN:
        return StateSource(word, file=state_in(invocation, context, argument))
    known = f"Profiles: {', '.join(profiles)}." if profiles else "config.toml has no profiles."
    raise UsageError(
        f"'{word}' is neither a file nor a profile",
        hint=known,
        code="bad-value",
        span=invocation.span(argument),
    )


def state_in(invocation: Invocation, context: Context, argument: str) -> State:
    """The state in a file, in a folder, or on standard input (`-`)."""
    word: str = invocation[argument]
    if word != _STDIN:
        return load(word)
    if context.script.from_stdin or sys.stdin.isatty():
        why = "a terminal" if sys.stdin.isatty() else "the script"
        raise UsageError(
            f"a state cannot be read from standard input, which is {why}",
            hint="Use a file.",
            span=invocation.span(argument),
        )
    return load("/dev/stdin", Path())


def read_covered_state(context: Context, wanted: State) -> State:
    """The part of a cluster that a state file covers."""
    topics = wanted.part("topics")
    brokers = [resource.name for resource in wanted.part("broker_configs")]
    return read_state(
        context.cluster,
        StateRequest(
            wanted.parts.keys() | wanted.scope.keys(),
            topics=frozenset(topics),
            others=bool(wanted.scope.get("topics")),
            brokers=None if "broker_configs" in wanted.scope else brokers,
            assignments=any(ASSIGNMENT in fields for fields in topics.values()),
            subjects=(*wanted.part("subjects"), *wanted.scope.get("subjects", ())),
            properties=context.settings.properties,
        ),
    )


def compare_sources(
    before: StateSource, after: StateSource, kinds: Sequence[str], context: Context
) -> StateDiff:
    """Read both sides and compare these kinds."""
    files = [only(side.file, kinds) if side.file else None for side in (before, after)]
    first = files[0] or _read(before, files[1], kinds, context)
    second = files[1] or _read(after, files[0], kinds, context)
    both = FileDifferences()
    if (files[0] is None) != (files[1] is None):
        now, wanted = (first, second) if files[0] is None else (second, first)
        both = from_file(now, wanted)
        note_unmatched(both, context)
    else:
        both.found += differences(first, second)
    turned = files[0] is not None and files[1] is None
    differing, outside = (
        tuple(Differing.of(reverse(item.change) if turned else item.change) for item in every)
        for every in (both.found, both.out_of_scope)
    )
    unread = {
        f"{source.name}: {about}": why
        for source, state, other in ((before, first, second), (after, second, first))
        for about, why in missing(state, other).items()
    }
    return StateDiff(before.name, after.name, differing, unread, outside)


def note_unmatched(compared: FileDifferences, context: Context) -> None:
    """Print the selectors of a scope that select nothing: they may be misspelled."""
    for kind, word in compared.unmatched:
        context.note(f"scope.{kind}: {shorten(word)} matches nothing")


def missing(state: State, other: State) -> dict[str, Failure]:
    """What could not be read, and what the cluster does not have but the other side does."""
    absent = {kind: why for kind, why in state.absent.items() if other.part(kind)}
    hidden = {
        f"{resource} {key}": Failure(
            "sensitive",
            "brokers do not show the values of sensitive configs",
            hint="Set it with alter-configs, and remove it from the file.",
        )
        for resource, key in sensitive_in(state, other)
    }
    return {**state.unread, **absent, **hidden}


def _read(source: StateSource, file: State | None, kinds: Sequence[str], context: Context) -> State:
    assert source.context is not None
    connected = source.context

    def read() -> State:
        if file is not None:
            return read_covered_state(connected, file)
        properties = connected.settings.properties
        request = StateRequest(kinds, temporary=False, properties=properties)
        return read_state(connected.cluster, request)

    try:
        return on_expected_cluster(connected, read)
    except ShellError as error:
        error.message = f"{source.name}: {error.message}"
        raise
    finally:
        if connected.session is not context.session:
            connected.close()
