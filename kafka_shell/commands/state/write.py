"""Write a state as a file: YAML or JSON, the same bytes for the same state."""

from __future__ import annotations

from kafka_shell.commands.state.model import State
from kafka_shell.commands.state.section import Content, order, section_of
from kafka_shell.commands.state.spec import KINDS
from kafka_shell.output import data as encoders
from kafka_shell.output.data import dump_yaml

VERSION = 1


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
