"""Commands that export and compare the state of clusters, and print the schema of state files."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from kafka_shell.admin.acls.model import AclBinding, AclResourceType, PatternType
from kafka_shell.admin.topics.visibility import HIDDEN, hidden
from kafka_shell.base.command_results import Document
from kafka_shell.base.errors import ShellError, Status, UsageError, did_you_mean
from kafka_shell.base.files import replace_files
from kafka_shell.base.structs import replace
from kafka_shell.base.units import counted, to_path
from kafka_shell.commands import select
from kafka_shell.commands.state.compare import compare_sources, source_of, this_cluster
from kafka_shell.commands.state.files import document, is_state_file, json_text, load, yaml_text
from kafka_shell.commands.state.model import State, StateDiff, only
from kafka_shell.commands.state.read import read_state
from kafka_shell.commands.state.schema import schema
from kafka_shell.commands.state.section import Content, StateRequest, section_of
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
    if wanted.required and state.unread and not state.part("topics"):
        return Document("", failures=state.unread)
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
            kinds={*wanted.kinds} - {*state.absent}, whole=_is_whole(invocation, state),
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


_REST = "cluster"  # the file of what belongs to no topic
_PREFIX = re.compile("[A-Za-z0-9]+")  # an ACL may be on any name, also `*` and `/etc/x`


class FolderExport(Struct, frozen=True):
    """The paths of the files that were written, and of those that were deleted or not replaced."""

    written: tuple[str, ...]
    deleted: tuple[str, ...] = ()
    not_replaced: tuple[str, ...] = ()


def write_folder(
    state: State,
    folder: str,
    by: str | None,
    suffix: str,
    as_text: Callable[[Content], str],
    *,
    kinds: Collection[str],
    whole: bool,
) -> FolderExport:
    """Write a file for each part of the state of these kinds.

    A file with other kinds is not replaced: those that `--only` leaves out, or subjects where
    there is no schema registry. Other state files in the folder are an error: they would be
    applied as well. But where the `whole` cluster is exported, a file that is as an earlier export
    wrote it, of kinds that were read, is deleted: what was in it does not exist any more. If
    something could not be read, the files of earlier exports stay as they are, and all new ones
    are FILE.partial: together they would be no state that existed. If a file cannot be written,
    none is replaced or deleted.
    """
    path = to_path(folder)
    parts = _by_prefix(state) if by == "prefix" else _by_kind(state)
    names = {f"{name}{suffix}": part for name, part in parts.items()}
    partial = bool(state.unread)
    try:
        path.mkdir(parents=True, exist_ok=True)
        others = _others(path, names)
        earlier = [
            file for file in others if (whole or partial) and _is_export(file, as_text, kinds)
        ]
        lost = [path / name for name in names if not _has_only(path / name, kinds)]
        _refuse(path, [file.name for file in (*others, *lost) if file not in earlier])
        kept = [path / name for name in names if (path / name).exists()] + earlier
        kept = kept if partial else []
        end = ".partial" if kept else ""
        texts = {path / f"{name}{end}": as_text(document(part)) for name, part in names.items()}
        replace_files(texts)
        # Names that differ in case may be one file (macOS), which was just written.
        written = {_identity(file) for file in texts}
        stale = [file for file in earlier if not partial and _identity(file) not in written]
        for file in stale:
            file.unlink()
    except OSError as error:
        where = error.filename or folder
        raise ShellError(
            f"cannot write {where}: {error.strerror}", code="bad-file", status=Status.WRONG
        ) from None
    return FolderExport(tuple(map(str, texts)), tuple(map(str, stale)), tuple(map(str, kept)))


def _identity(file: Path) -> tuple[int, int]:
    stat_result = file.lstat()
    return stat_result.st_dev, stat_result.st_ino


def _others(path: Path, names: Collection[str]) -> list[Path]:
    return sorted(file for file in path.iterdir() if is_state_file(file) and file.name not in names)


def _is_export(file: Path, as_text: Callable[[Content], str], kinds: Collection[str]) -> bool:
    """Whether a file is as an export of the same kinds writes it, without a change by anybody."""
    try:
        unchanged = as_text(document(load(str(file)))) == file.read_text(encoding="utf-8")
    except ShellError:
        return False
    return unchanged and _has_only(file, kinds)


def _has_only(file: Path, kinds: Collection[str]) -> bool:
    try:
        return load(str(file)).parts.keys() <= {*kinds}
    except ShellError:
        return True


def _refuse(path: Path, others: Sequence[str]) -> None:
    if others:
        raise ShellError(
            f"{path} contains other state files: {', '.join(others[:5])}",
            hint="Use another directory, or move them away: apply reads all files of a directory.",
            code="bad-file",
            status=Status.WRONG,
        )


def _by_kind(state: State) -> dict[str, State]:
    return {kind.replace("_", "-"): only(state, [kind]) for kind in state.parts}


def _by_prefix(state: State) -> dict[str, State]:
    """Topics and their ACLs by the first word of the topic; the rest together."""
    files: dict[str, dict[str, dict[Any, Any]]] = {}
    spelled: dict[str, str] = {}
    for kind, part in state.parts.items():
        section = section_of(kind)
        for key, fields in part.items():
            name = _prefix(section.topic(key))
            name = spelled.setdefault(name.lower(), name)  # names of files may ignore case
            files.setdefault(name, {}).setdefault(kind, {})[key] = fields
    if not files:  # the scope of an empty cluster
        files[_REST] = {}
    return {
        # The files of a folder are read as one state, and the first one contains its scope.
        name: replace(state, parts=files[name], scope={} if number else state.scope)
        for number, name in enumerate(sorted(files))
    }


def _prefix(topic: str) -> str:
    word = _PREFIX.match(topic)
    return word.group() if word and not topic.startswith("__") else _REST
