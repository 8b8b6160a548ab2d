"""What `diff` and `apply` compare: state files, and clusters."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from kafka_shell.commands.state.compare import FileDifferences, differences, from_file, sensitive_in
from kafka_shell.commands.state.load import load
from kafka_shell.commands.state.model import (
    ASSIGNMENT,
    Difference,
    Differing,
    State,
    StateDiff,
    only,
)
from kafka_shell.commands.state.read import StateRequest, read_state
from kafka_shell.common.units import shorten, to_path
from kafka_shell.errors import ShellError, UsageError
from kafka_shell.identity import on_expected_cluster
from kafka_shell.plan.results import Failure

if TYPE_CHECKING:
    from kafka_shell.admin.wire.connection import Cluster
    from kafka_shell.context import Context
    from kafka_shell.language.command import Invocation


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
    from kafka_shell import settings

    word: str = invocation[argument]
    profiles = settings.profile_names(context.paths.config_file)
    exists = to_path(word).exists()
    if word in profiles and exists:
        raise UsageError(
            f"'{word}' is a profile and a file",
            hint=f"For the file, use ./{word}.",
            code="ambiguous",
            span=invocation.span(argument),
            text=invocation.text,
        )
    if word in profiles:
        flags = {"profile": word}
        found = settings.load_for_line(
            context.settings, flags, context.environ, context.paths.config_file
        )
        return StateSource(f"cluster {word}", context=context.with_settings(found))
    if exists or "." in word or "/" in word or word == _STDIN:
        return StateSource(word, file=state_in(invocation, context, argument))
    known = f"Profiles: {', '.join(profiles)}." if profiles else "There are no profiles."
    raise UsageError(
        f"'{word}' is neither a file nor a profile",
        hint=known,
        code="bad-value",
        span=invocation.span(argument),
        text=invocation.text,
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
            text=invocation.text,
        )
    return load("/dev/stdin", Path())


def read_covered_state(cluster: Cluster, wanted: State) -> State:
    """The part of a cluster that a state file covers."""
    topics = wanted.part("topics")
    brokers = [resource.name for resource in wanted.part("broker_configs")]
    return read_state(
        cluster,
        StateRequest(
            wanted.parts.keys() | wanted.scope.keys(),
            topics=frozenset(topics),
            others=bool(wanted.scope.get("topics")),
            brokers=None if "broker_configs" in wanted.scope else brokers,
            assignments=any(ASSIGNMENT in fields for fields in topics.values()),
        ),
    )


def compare_sources(
    before: StateSource, after: StateSource, kinds: Sequence[str], context: Context
) -> StateDiff:
    """Read both sides and compare these kinds."""
    files = [only(each.file, kinds) if each.file else None for each in (before, after)]
    first = files[0] or _read(before, files[1], kinds, context)
    second = files[1] or _read(after, files[0], kinds, context)
    found: list[Difference]
    kept: list[Difference] = []
    if (files[0] is None) != (files[1] is None):
        now, wanted = (first, second) if files[0] is None else (second, first)
        both = from_file(now, wanted)
        found, kept = both.found, both.out_of_scope
        if files[0] is not None:
            found, kept = ([each.reversed() for each in every] for every in (found, kept))
        note_unmatched(both, context)
    else:
        found = list(differences(first, second))
    unread = {
        f"{source.name}: {about}": why
        for source, state, other in ((before, first, second), (after, second, first))
        for about, why in missing(state, other).items()
    }
    differing, outside = (tuple(map(Differing.of, every)) for every in (found, kept))
    return StateDiff(before.name, after.name, differing, unread, outside)


def note_unmatched(found: FileDifferences, context: Context) -> None:
    """Print the selectors of a scope that select nothing: they may be misspelled."""
    for kind, word in found.unmatched:
        context.note(f"scope.{kind}: {shorten(word)} selects nothing in the file or on the cluster")


def missing(state: State, other: State) -> dict[str, Failure]:
    """What could not be read, and what the cluster does not have but the other side does."""
    absent = {kind: why for kind, why in state.absent.items() if other.part(kind)}
    hidden = {
        f"{resource} {key}": Failure(
            "sensitive",
            "brokers do not show the values of sensitive configs",
            hint="Set it with alter-configs, and leave it out of the file.",
        )
        for resource, key in sensitive_in(state, other)
    }
    return {**state.unread, **absent, **hidden}


def _read(source: StateSource, file: State | None, kinds: Sequence[str], context: Context) -> State:
    assert source.context is not None
    connected = source.context

    def read() -> State:
        if file is not None:
            return read_covered_state(connected.cluster, file)
        return read_state(connected.cluster, StateRequest(kinds, temporary=False))

    try:
        return on_expected_cluster(connected, read)
    except ShellError as error:
        error.message = f"{source.name}: {error.message}"
        raise
    finally:
        if connected.session is not context.session:
            connected.close()
