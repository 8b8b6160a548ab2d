"""Write a state to a folder: one file per kind, or per prefix of its topics."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from kafka_shell.base.errors import ShellError, Status
from kafka_shell.base.files import open_private, replace_file
from kafka_shell.base.structs import replace
from kafka_shell.base.units import to_path
from kafka_shell.commands.state.files import document, is_state_file, load
from kafka_shell.commands.state.model import State, only
from kafka_shell.commands.state.section import Content, section_of

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
    whole: bool,
) -> FolderExport:
    """Write a file for each part of the state.

    Other state files in the folder are an error: they would be applied as well. But where the
    `whole` cluster is exported, a file that is as an earlier export wrote it, of kinds that were
    read, is deleted: what was in it does not exist any more. If something could not be read, the
    files of earlier exports stay as they are, and all new ones are FILE.partial: together they
    would be no state that existed. If a file cannot be written, none is replaced or deleted.
    """
    path = to_path(folder)
    parts = _by_prefix(state) if by == "prefix" else _by_kind(state)
    names = {f"{name}{suffix}": part for name, part in parts.items()}
    partial = bool(state.unread)
    try:
        path.mkdir(parents=True, exist_ok=True)
        others = _others(path, names)
        earlier = [
            file for file in others if (whole or partial) and _is_export(file, as_text, state)
        ]
        _refuse(path, [file.name for file in others if file not in earlier])
        kept = [path / name for name in names if (path / name).exists()] + earlier
        kept = kept if partial else []
        end = ".partial" if kept else ""
        texts = {path / f"{name}{end}": as_text(document(part)) for name, part in names.items()}
        _write_all(texts)
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


def _write_all(texts: Mapping[Path, str]) -> None:
    """Write all files under temporary names, which `load` ignores, and only then replace any: a
    state file that is cut short may be valid, and --prune would delete what it lacks. Raises
    OSError that names the file."""
    real = {path: path.resolve() for path in texts}  # keep symbolic links
    end = os.urandom(4).hex()
    temporary = {path: each.with_name(f".{each.name[:200]}.{end}") for path, each in real.items()}
    try:
        for path, text in texts.items():
            _check_replaceable(real[path])
            with open_private(temporary[path], "x") as file:
                file.write(text)
        for path in texts:
            replace_file(temporary[path], real[path])
    except OSError as error:
        error.filename = str(path)
        raise
    finally:
        for each in temporary.values():
            each.unlink(missing_ok=True)


def _identity(file: Path) -> tuple[int, int]:
    stat_result = file.lstat()
    return stat_result.st_dev, stat_result.st_ino


def _check_replaceable(file: Path) -> None:
    """Raise OSError if there is a file that cannot be replaced."""
    if file.exists() and not file.is_file():
        raise OSError(errno.EINVAL, "not a regular file")
    if file.exists() and not os.access(file, os.W_OK):
        raise OSError(errno.EACCES, os.strerror(errno.EACCES))


def _others(path: Path, names: Collection[str]) -> list[Path]:
    return sorted(file for file in path.iterdir() if is_state_file(file) and file.name not in names)


def _is_export(file: Path, as_text: Callable[[Content], str], state: State) -> bool:
    """Whether a file is as an export writes it, without a change by anybody, and has no kinds that
    this export lacks, such as subjects without a schema registry."""
    try:
        earlier = load(str(file))
        unchanged = as_text(document(earlier)) == file.read_text(encoding="utf-8")
    except ShellError:
        return False
    return unchanged and earlier.parts.keys().isdisjoint(state.absent)


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
    found: dict[str, dict[str, dict[Any, Any]]] = {}
    spelled: dict[str, str] = {}
    for kind, part in state.parts.items():
        section = section_of(kind)
        for key, fields in part.items():
            name = _prefix(section.topic(key))
            name = spelled.setdefault(name.lower(), name)  # names of files may ignore case
            found.setdefault(name, {}).setdefault(kind, {})[key] = fields
    if not found:  # the scope of an empty cluster
        found[_REST] = {}
    return {
        # The files of a folder are read as one state, and the first one contains its scope.
        name: replace(state, parts=found[name], scope={} if number else state.scope)
        for number, name in enumerate(sorted(found))
    }


def _prefix(topic: str) -> str:
    word = _PREFIX.match(topic)
    return word.group() if word and not topic.startswith("__") else _REST
