"""Read state files, one file or all files of a folder, and write a state as a file."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from kafka_shell.base.errors import ShellError
from kafka_shell.base.files import bad_file
from kafka_shell.base.units import to_path
from kafka_shell.commands.state.document import DocumentValue, read_document
from kafka_shell.commands.state.model import State
from kafka_shell.commands.state.section import Content, Loading, Section, order, section_of
from kafka_shell.commands.state.spec import KINDS
from kafka_shell.language.kinds import check
from kafka_shell.output import data as encoders
from kafka_shell.output.data import dump_yaml
from kafka_shell.output.resource_kinds import title_of

VERSION = 1
SUFFIXES = (".yaml", ".yml", ".json")


def load(name: str, folder: Path | None = None) -> State:
    """The state in a file, or in all state files of a folder. Raises ShellError, status 2, that
    lists the mistakes of all topics, ACLs and other items. Password files are relative to the
    `folder` (default: that of the file)."""
    path = to_path(name)
    if not path.is_dir():
        return _load([path], folder)
    files = sorted(file for file in path.iterdir() if is_state_file(file))
    if (first := next(_in_subfolders(path), None)) is not None:
        hint = "Only the files of the directory itself are read."
        raise bad_file(first, f"is in a subfolder of {name}", hint=hint)
    if not files:
        raise bad_file(name, "contains no state file (.yaml, .yml, .json)")
    return _load(files)


def _in_subfolders(path: Path) -> Iterator[Path]:
    for folder, folders, names in os.walk(path):
        folders[:] = [each for each in folders if not each.startswith(".")]
        if folder != str(path):
            yield from filter(is_state_file, (Path(folder, name) for name in names))


def is_state_file(path: Path) -> bool:
    """Whether a file of a folder is read: not the locks and copies of editors."""
    return path.suffix.lower() in SUFFIXES and not path.name.startswith(".") and path.is_file()


def _load(files: Sequence[Path], folder: Path | None = None) -> State:
    loading = Loading()
    for file in files:
        loading.folder = folder or file.parent
        with loading.mistakes.collecting():
            _add(loading, file)
    loading.mistakes.check()
    return loading.state


def _add(loading: Loading, path: Path) -> None:
    root = read_document(path)
    if root is None:
        raise bad_file(path, "is empty", hint=f"Start with: version: {VERSION}")
    if root.is_list:
        hint = "export writes state files, for example: export TOPIC > topics.yaml"
        raise root.error("a state file must be a mapping", hint)
    fields = root.fields("a state file", ("version", "scope", *KINDS))
    if "version" not in fields:
        raise root.error("version is missing", f"Add: version: {VERSION}")
    if not fields["version"].is_number(VERSION):
        raise fields["version"].error(f"version must be {VERSION}")
    if "scope" in fields:
        _scope(loading.state, fields["scope"])
    for kind in KINDS:
        if kind in fields:
            _section(loading, section_of(kind), fields[kind])


def _scope(state: State, place: DocumentValue) -> None:
    for kind, words in place.fields("scope", KINDS).items():
        given = tuple(_selector(section_of(kind), item) for item in words.items(f"scope.{kind}"))
        state.scope[kind] = (*state.scope.get(kind, ()), *given)


def _selector(section: Section, place: DocumentValue) -> str:
    """A name, glob or /regex/ of the scope."""
    text = place.word("a selector")
    if not text.strip():
        raise place.error(f"a selector of scope.{section.name} is empty")
    try:
        check(text)
    except ShellError as error:
        raise place.error(error.message, error.hint) from None
    return section.selector(text, place)


def _section(loading: Loading, section: Section, content: DocumentValue) -> None:
    part = loading.state.parts.setdefault(section.name, {})
    for name, place in content.pairs(section.name):
        with loading.mistakes.collecting():
            for key, fields, at in section.load(loading, name.name(), name, place):
                _refuse_second(loading.state, section, key, at)
                part[key] = fields


def _refuse_second(state: State, section: Section, key: Any, at: DocumentValue) -> None:
    first = state.places.setdefault((section.name, key), at)
    if first is not at:
        title = title_of(section.resource(key))
        raise at.error(f"{title} is already defined at {first}", "Define it once.")


# -- write: the same bytes for the same state -----------------------------------------------------


def document(state: State) -> Content:
    """The state as plain data, in the order of the file. Tuples are lists on one line."""
    content: Content = {"version": VERSION}
    if state.scope:
        content["scope"] = {kind: tuple(words) for kind, words in state.scope.items()}
    for kind in KINDS:
        if kind in state.parts:
            resources = state.parts[kind]
            content[kind] = section_of(kind).write(
                {key: resources[key] for key in sorted(resources, key=order)}, state.lists
            )
    return content


def yaml_text(content: Content) -> str:
    """The document as YAML, with an empty line between its sections."""
    return "\n".join(dump_yaml({name: section}) for name, section in content.items())


def json_text(content: Content) -> str:
    """The document as indented JSON."""
    return "".join(encoders.json_text(content))
