"""Commands that export and compare the state of clusters, and print the schema of state files."""

from __future__ import annotations

import json
from collections.abc import Collection
from pathlib import Path

from kafka_shell.admin.acls.model import AclBinding, AclResourceType, PatternType
from kafka_shell.admin.topics.visibility import HIDDEN, hidden
from kafka_shell.base.command_results import Document
from kafka_shell.base.errors import UsageError, did_you_mean
from kafka_shell.base.structs import replace
from kafka_shell.base.units import counted
from kafka_shell.commands import select
from kafka_shell.commands.state.compare import compare_sources, source_of, this_cluster
from kafka_shell.commands.state.files import document, json_text, yaml_text
from kafka_shell.commands.state.folder import write_folder
from kafka_shell.commands.state.model import State, StateDiff
from kafka_shell.commands.state.read import read_state
from kafka_shell.commands.state.schema import schema
from kafka_shell.commands.state.section import StateRequest
from kafka_shell.commands.state.spec import KIND_NAMES, KINDS
from kafka_shell.context import Context
from kafka_shell.language.command import Invocation
from kafka_shell.language.kinds import is_pattern, select_whole, split

_OF_TOPICS = ("topics", "acls")  # what can be exported by topic
_ALL_TOPICS = "topic *"  # the literal resource pattern of ACLs on all topics


def chosen_kinds(invocation: Invocation) -> list[str]:
    """The kinds of --only, or all, as in a file."""
    chosen: list[str] = []
    if any(not text.strip(", ") for text in invocation["only"]):
        raise UsageError("--only must not be empty", span=invocation.span("only"))
    for index, text in enumerate(invocation["only"]):
        for word in filter(None, text.split(",")):
            if word.replace("_", "-") not in KIND_NAMES:
                raise UsageError(
                    f"unknown kind '{word}'",
                    hint=did_you_mean(word, KIND_NAMES, f"Use one of: {', '.join(KIND_NAMES)}."),
                    code="bad-value",
                    span=invocation.span("only", index),
                )
            chosen.append(word.replace("-", "_"))
    return [kind for kind in KINDS if kind in chosen or not chosen]


# -- export ----------------------------------------------------------------------------------------


def export(invocation: Invocation, context: Context) -> Document:
    """The state of the cluster as YAML or JSON, on standard output or in a folder."""
    output = invocation["output"] or context.settings.output
    if output == "csv":
        raise UsageError(
            "a state cannot be exported as CSV",
            hint="Use --output yaml (default) or --output json.",
            span=invocation.span("output"),
        )
    if invocation["directory"]:
        context.refuse_dry_run("export --directory")
    wanted = _export_request(invocation, context)
    state = read_state(context.cluster, wanted)
    if wanted.topics is not None:
        _select(state, invocation["topic"], wanted.topics, context)
    else:
        _cover_everything(state, context)
    for note in state.notes:
        context.note(note)
    as_text = json_text if output == "json" else yaml_text
    if invocation["directory"]:
        suffix = ".json" if output == "json" else ".yaml"
        made = write_folder(
            state, invocation["directory"], invocation["by"], suffix, as_text,
            whole=_is_whole(invocation, state),
        )  # fmt: skip
        for path in made.deleted:
            context.note(f"{path} was deleted: it is not part of this export")
        if made.not_replaced:
            names = ", ".join(Path(path).name for path in made.not_replaced)
            context.note(f"not replaced: {names}; the incomplete export is in FILE.partial")
        return Document("\n".join(made.written), failures=state.unread)
    return Document(as_text(document(state)), "yaml", state.unread)


def _is_whole(invocation: Invocation, state: State) -> bool:
    """Whether all of the cluster is exported, and could be read."""
    narrowed = any(invocation[name] for name in ("topic", "only", "exclude-internal"))
    return not narrowed and not state.unread


def _export_request(invocation: Invocation, context: Context) -> StateRequest:
    wanted = StateRequest(
        chosen_kinds(invocation),
        internal=not invocation["exclude-internal"],
        assignments=invocation["with-assignments"],
        temporary=False,
        properties=context.settings.properties,
    )
    if not invocation["topic"]:
        return wanted
    kinds = wanted.kinds if invocation["only"] else _OF_TOPICS
    others = [kind.replace("_", "-") for kind in kinds if kind not in _OF_TOPICS]
    if others:
        raise UsageError(
            f"{others[0]} cannot be exported by topic",
            hint=f"Omit the topics, or {others[0]}.",
            span=invocation.span("only"),
        )
    names = frozenset(select.topics(invocation, context.cluster))
    return replace(wanted, kinds=kinds, topics=names, required=True)


def _cover_everything(state: State, context: Context) -> None:
    """Make everything that was read the scope of the file. A kind that could not be read completely
    is left out: --prune would delete what is missing."""
    state.scope |= {kind: ("*",) for kind in state.parts if kind in state.complete}
    missing = [kind for kind in state.parts if kind not in state.complete]
    if missing:
        names = ", ".join(kind.replace("_", " ") for kind in missing)
        context.note(f"not in the scope of the export, because not read completely: {names}")


def _select(
    state: State, words: tuple[str, ...], topics: Collection[str], context: Context
) -> None:
    """Keep the ACLs on the exported topics, and make the topics the scope of the file, if all of
    them could be read."""
    if any(map(is_pattern, words)):
        for about, why in hidden(context.cluster, topics).items():
            if about.startswith(HIDDEN) or select_whole(words, [about.removeprefix("topic ")]):
                state.unread[about] = why
    prefixes = {name[:end] for name in topics for end in range(1, len(name) + 1)}

    def applies(binding: AclBinding) -> bool:
        literal = binding.pattern_type is PatternType.LITERAL
        named = binding.name in topics if literal else binding.name in prefixes
        return binding.resource_type is AclResourceType.TOPIC and named

    if "acls" in state.parts:
        others = sum(each.target == _ALL_TOPICS for each in state.part("acls"))
        state.parts["acls"] = {each: {} for each in state.part("acls") if applies(each)}
        if others:
            apply, are = ("applies", "is") if others == 1 else ("apply", "are")
            context.note(
                f"{counted(others, 'ACL')} on {_ALL_TOPICS} also {apply} to these topics and {are}"
                " not exported"
            )
    if any(about.startswith(("topic ", HIDDEN)) for about in state.unread):
        context.note(
            "no scope was written: apply --prune would delete the topics that were not read"
        )
    elif "topics" in state.parts:
        state.scope["topics"] = tuple(item for word in words for item in split(word))


# -- diff ------------------------------------------------------------------------------------------


def diff(invocation: Invocation, context: Context) -> StateDiff:
    """The differences between a state file or cluster and another one, or this cluster."""
    kinds = chosen_kinds(invocation)
    first = source_of(invocation, context, "what")
    if invocation["other"] is None:
        before, after = this_cluster(context), first
    else:
        before, after = first, source_of(invocation, context, "other")
    return compare_sources(before, after, kinds, context)


def state_schema(invocation: Invocation, context: Context) -> str:
    """The JSON Schema of state files."""
    return json.dumps(schema(), indent=2) + "\n"
