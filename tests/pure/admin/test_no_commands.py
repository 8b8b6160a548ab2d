"""The core names no commands or options of the shell."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import kafka_shell.admin
from kafka_shell.admin.configs.model import ConfigResource, ResourceType
from kafka_shell.base.plans import Effect
from kafka_shell.base.structs import Resource
from kafka_shell.commands import REGISTRY
from kafka_shell.language.parse import parse
from kafka_shell.language.tokens import tokenize
from kafka_shell.output.resource_kinds import KINDS, command_for

ADMIN = Path(kafka_shell.admin.__file__).parent
NAMES = sorted((command.name for command in REGISTRY if "-" in command.name), key=len, reverse=True)
COMMAND = re.compile(rf"(?<![\w.-])({'|'.join(map(re.escape, NAMES))})(?![\w-])")
OPTION = re.compile(r"(?<![\w-])--[a-z]")
# Options of protoc and of kafka-reassign-partitions.
OF_OTHER_PROGRAMS = {"schemas/protobuf.py", "partitions/partition_files.py"}
NAMES_OF_RESOURCES = {
    "group-members": ("g", "-x", "it's"),
    "group-offsets": ("g", "-x", "it's"),
    "log-dirs": ("", "1"),
    "partition-offsets": ("orders:0", "-x:1", "it's:2"),
    "topic-config": ("orders cleanup.policy", "-x cleanup.policy"),
}


def test_no_text_of_the_core_names_a_command() -> None:
    offenders = [
        f"{path.relative_to(ADMIN)}:{line}: {text!r}"
        for path in sorted(ADMIN.rglob("*.py"))
        for line, text in _strings(ast.parse(path.read_text()))
        if COMMAND.search(text)
    ]
    assert not offenders, "\n".join(offenders)


def test_no_text_of_the_core_names_an_option() -> None:
    offenders = [
        f"{name}:{line}: {text!r}"
        for path in sorted(ADMIN.rglob("*.py"))
        if (name := path.relative_to(ADMIN).as_posix()) not in OF_OTHER_PROGRAMS
        for line, text in _strings(ast.parse(path.read_text()))
        if OPTION.search(text)
    ]
    assert not offenders, "\n".join(offenders)


def _strings(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """The string constants of a module, but not its docstrings."""
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        text = node.value if isinstance(node, ast.Constant) else None
        if isinstance(text, str) and id(node) not in docstrings:
            yield node.lineno, text


def test_every_resource_that_a_failure_names_has_a_command_that_only_reads() -> None:
    kinds = {
        kind
        for path in ADMIN.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.keyword) and node.arg == "see"
        for kind in _kinds(node.value)
    }
    assert {"topic", "group-members", "topic-config"} <= kinds
    wrong = []
    for kind in kinds:
        for name in NAMES_OF_RESOURCES.get(kind, ("", "1", "-x", "it's")):
            line = command_for(Resource(kind, name))
            if not line or parse(tokenize(line), REGISTRY).command.effect is not Effect.READ:
                wrong.append(f"{kind} {name!r}: {line!r}")
    assert not wrong, "\n".join(wrong)


def test_every_kind_of_resource_that_the_core_names_is_known() -> None:
    named = {
        kind for path in ADMIN.rglob("*.py") for kind in _kinds(ast.parse(path.read_text()))
    } | {ConfigResource(type, "1").kind for type in ResourceType}
    assert {"topic", "token for", "hanging-transaction"} <= named
    assert named <= KINDS.keys(), f"no ResourceKind: {sorted(named - KINDS.keys())}"


def _kinds(see: ast.AST) -> Iterator[str]:
    for node in ast.walk(see):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Resource":
            kind = node.args[0]
            if isinstance(kind, ast.Constant):
                yield str(kind.value)
