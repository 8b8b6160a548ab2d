"""Compare two states."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct, field

from kafka_shell.admin.configs.model import ConfigType
from kafka_shell.admin.users.model import MIN_ITERATIONS
from kafka_shell.commands.state.model import (
    ANY_ITERATIONS,
    ASSIGNMENT,
    CONFIG_KINDS,
    FACTOR,
    KINDS,
    SHAPE,
    Difference,
    Fields,
    State,
    order,
    owner,
    resource_of,
)
from kafka_shell.commands.state.read import TEMPORARY
from kafka_shell.common.config_units import same_value
from kafka_shell.language.selectors import is_pattern, select_whole

_WITH_TYPES = frozenset(("topics", *CONFIG_KINDS))  # their configs have types


def differences(before: State, after: State) -> Iterator[Difference]:
    """Every difference. What could not be read on one side is left out."""
    unread, texts = _unread(before, after), before.texts | after.texts
    for kind in KINDS:
        if kind not in unread:
            parts = before.part(kind), after.part(kind)
            yield from _of_kind(kind, *parts, (), unread, texts)


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
        return [each for each in self.found if only_on_cluster(each)]


def from_file(now: State, wanted: State) -> FileDifferences:
    """The differences between a cluster and a state file."""
    all = FileDifferences()
    unread = _unread(now, wanted)
    for kind in KINDS:
        if kind in unread or not (kind in wanted.parts or kind in wanted.scope):
            continue
        named = {owner(kind, key) for key in wanted.part(kind)} | wanted.covered.get(kind, set())
        within = _scoped(kind, now, wanted)
        here = {
            key: fields
            for key, fields in now.part(kind).items()
            if (name := owner(kind, key)) in named or name in within
        }
        optional = (*SHAPE, *TEMPORARY)
        for each in _of_kind(kind, here, wanted.part(kind), optional, unread, now.texts):
            kept = only_on_cluster(each) and owner(kind, each.key) not in within
            (all.out_of_scope if kept else all.found).append(each)
        names = {owner(kind, key) for key in now.part(kind)} | named
        all.unmatched += [(kind, word) for word in _unmatched(wanted.scope.get(kind, ()), names)]
    return all


def only_on_cluster(each: Difference) -> bool:
    """Whether the file does not have what differs."""
    return each.verb == "delete" or (bool(each.field) and each.after is None)


def _scoped(kind: str, now: State, wanted: State) -> frozenset[str]:
    """The names (`owner`) of this kind on the cluster that are within the scope of the file."""
    words = wanted.scope.get(kind, ())
    names = list(dict.fromkeys(owner(kind, key) for key in now.part(kind)))
    return select_whole(words, names) if words else frozenset()


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
        (str(resource_of(kind, key)), name)
        for kind in CONFIG_KINDS
        for key, fields in other.part(kind).items()
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


def _of_kind(
    kind: str,
    before: Mapping[Any, Fields],
    after: Mapping[Any, Fields],
    optional: Collection[str],
    unread: Collection[str],
    texts: Collection[str],
) -> Iterator[Difference]:
    """The differences of one kind. A field in `optional` that `after` leaves out is not one. The
    values of `texts` are compared as they are."""
    has_whole = kind in ("topics", "acls")
    for key in sorted(before.keys() | after.keys(), key=order):
        old, new = before.get(key), after.get(key)
        if str(resource_of(kind, key)) in unread:
            continue
        if has_whole and (old is None or new is None):
            whole, verb = (old or {}, "delete") if new is None else (new, "create")
            yield Difference(kind, key, verb=verb, whole=whole)
            continue
        for each in _of_fields(kind, key, old or {}, new or {}, optional, texts):
            if f"{resource_of(kind, key)} {each.field}" not in unread:
                yield each


def _of_fields(
    kind: str,
    key: Any,
    old: Fields,
    new: Fields,
    optional: Collection[str],
    texts: Collection[str],
) -> Iterator[Difference]:
    for name in dict.fromkeys((*old, *new)):
        if name == ASSIGNMENT and not (name in old and name in new):
            continue  # exported only if asked for
        if name == FACTOR and ASSIGNMENT in new:
            continue  # follows from the assignment
        if name not in new and name in optional:
            continue
        value = new.get(name)
        if kind == "users" and value == ANY_ITERATIONS:
            if name in old:
                continue
            value = MIN_ITERATIONS
        as_text = name in texts and kind in _WITH_TYPES
        type = ConfigType.STRING if as_text else ConfigType.UNKNOWN
        if not same_value(name, old.get(name), value, type):
            yield Difference(kind, key, name, old.get(name), value)
