"""A YAML or JSON document with the line and column of each value, for errors."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import yaml
from msgspec import Struct

from kafka_shell.base.errors import ShellError, did_you_mean
from kafka_shell.base.files import bad_file, read_text
from kafka_shell.base.units import shorten

# The nodes of a YAML or JSON document.

MAX_DEPTH = 50


class FilePosition(Struct, frozen=True):
    """A position in a file, from 1."""

    line: int
    column: int


class Node:
    """A scalar, sequence or mapping of the document; the keys and values of a mapping in turn.

    `plain` scalars are written without quotes: they can be null, booleans, numbers and merge keys.
    """

    __slots__ = ("kind", "plain", "position", "value")

    def __init__(
        self, kind: str, value: Any, position: FilePosition, *, plain: bool = False
    ) -> None:
        self.kind = kind
        self.value = value
        self.position = position
        self.plain = plain


_MAX_SIZE = 64 << 20
_PRIVATE = "x-"  # fields that are not read, as a home for anchors
_NULL = ("", "~", "null", "Null", "NULL")
_TRUE = ("true", "yes", "on")
_BOOLEAN = (*_TRUE, "false", "no", "off")


Mapping = dict[str, tuple[Node, Node]]  # key -> (node of the key, node of the value)
Mappings = dict[int, Mapping | None]  # by the identity of the node; None while it is being read


class DocumentValue:
    """A value of a document. `mappings` are the mappings whose merge keys are read already."""

    def __init__(self, file: str, node: Node, mappings: Mappings) -> None:
        self.file = file
        self._node = node
        self._mappings = mappings

    def __str__(self) -> str:
        return f"{self.file}:{self._node.position.line}:{self._node.position.column}"

    def error(self, what: str, hint: str = "") -> ShellError:
        """The error that something is wrong here."""
        position = self._node.position
        return bad_file(self.file, what, hint=hint, line=position.line, column=position.column)

    @property
    def is_null(self) -> bool:
        """Whether nothing is written here."""
        return self._node.plain and self._node.value in _NULL

    def pairs(self, what: str) -> Iterator[tuple[DocumentValue, DocumentValue]]:
        """The keys and values of a mapping, with those that its merge keys add."""
        if self.is_null:
            return
        for key, value in self._merged(what).values():
            yield self._at(key), self._at(value)

    def fields(self, what: str, known: Collection[str]) -> dict[str, DocumentValue]:
        """The values of a mapping by key. An unknown key is an error with the near miss."""
        values = {}
        for key, value in self.pairs(what):
            name = key.name()
            if name.startswith(_PRIVATE):
                continue
            if name not in known:
                otherwise = f"Use one of: {', '.join(known)}."
                hint = did_you_mean(name, known, otherwise)
                raise key.error(f"unknown field {shorten(name)} of {what}", hint)
            values[name] = value
        return values

    def items(self, what: str) -> list[DocumentValue]:
        """The values of a list."""
        if self.is_null:
            return []
        if not self.is_list:
            raise self.error(f"{what} must be a list")
        return [self._at(node) for node in self._node.value]

    @property
    def is_list(self) -> bool:
        """Whether this is a list."""
        return self._node.kind == "sequence"

    def name(self) -> str:
        """A key, as it is written: `yes` is a name, not a boolean."""
        if self._node.kind != "scalar":
            raise self.error(f"a key must be a name, not {self._description()}")
        return str(self._node.value)

    def word(self, what: str) -> str:
        """A name among values, as it is written: `yes` is a name, not a boolean."""
        if self._node.kind != "scalar" or self.is_null:
            hint = "Put the name in quotes." if self.is_null and self._node.value else ""
            raise self.error(f"{what} must be a value, not {self._description()}", hint)
        return str(self._node.value)

    def text(self, what: str) -> str:
        """A string, number or boolean, as it is written, but `true` or `false` for a boolean."""
        text = self.word(what)
        if self._is_boolean:
            return "true" if text.lower() in _TRUE else "false"
        return text

    def integer(self, what: str, least: int, most: int) -> int:
        """A whole number."""
        text = self.text(what)
        digits = self._node.plain and text.isascii() and text.isdigit() and len(text) < 20
        if not (digits and least <= int(text) <= most):
            raise self.error(f"{what} must be an integer from {least} to {most}, got {text[:60]!r}")
        return int(text)

    def is_number(self, number: int) -> bool:
        """Whether this number is written here, without quotes."""
        return self._node.plain and self._node.value == str(number)

    def boolean(self, what: str) -> bool:
        """True or false."""
        if not self._is_boolean:
            raise self.error(f"{what} must be true or false")
        return self.text(what) == "true"

    def _at(self, node: Node) -> DocumentValue:
        return DocumentValue(self.file, node, self._mappings)

    def _merged(self, what: str) -> Mapping:
        """What the mapping itself has, then what it merges (`<<`)."""
        if self._node.kind != "mapping":
            raise self.error(f"{what} must be a mapping")
        known = self._mappings.get(id(self._node), {})
        if known is None:
            raise self.error("a mapping is merged into itself")
        if known:
            return known
        self._mappings[id(self._node)] = None
        own: Mapping = {}
        merges: list[Node] = []
        nodes = iter(self._node.value)
        for key, value in zip(nodes, nodes, strict=True):
            if key.plain and key.value == "<<":
                merges += value.value if value.kind == "sequence" else [value]
                continue
            name = self._at(key).name()
            if name in own:
                first = self._at(own[name][0])
                raise self._at(key).error(f"{shorten(name)} is set twice; first at {first}")
            own[name] = (key, value)
        for merge in merges:
            for name, pair in self._at(merge)._merged(what).items():
                own.setdefault(name, pair)
        self._mappings[id(self._node)] = own
        return own

    @property
    def _is_boolean(self) -> bool:
        return self._node.plain and str(self._node.value).lower() in _BOOLEAN

    def _description(self) -> str:
        if self.is_null:
            return "nothing"
        return {"mapping": "a mapping", "sequence": "a list"}.get(self._node.kind, "a value")


def read_document(path: Path) -> DocumentValue | None:
    """The only document of a YAML or JSON file; None if it is empty."""
    file = str(path)
    text = read_text(path, largest=_MAX_SIZE)
    read = _json_tree if path.suffix.lower() == ".json" else _yaml_tree
    root = read(file, text)
    return None if root is None else DocumentValue(file, root, {})


def _json_tree(file: str, text: str) -> Node | None:
    """The root of a JSON document: YAML limits names to 1,024 characters."""
    if not text.strip():
        return None
    try:
        return json_tree(text)
    except InvalidJson as error:
        line, column = error.position.line, error.position.column
        raise bad_file(file, f"not valid JSON: {error}", line=line, column=column) from None


def _yaml_tree(file: str, text: str) -> Node | None:
    try:
        return _tree(file, text)
    except yaml.MarkedYAMLError as error:
        position = error.problem_mark
        line, column = (position.line + 1, position.column + 1) if position else (None, None)
        # Newer versions of libyaml have a limit of their own, and read ahead of the events.
        too_deep = "nesting depth" in str(error.problem)
        what = "nested too deeply" if too_deep else f"not valid YAML: {error.problem}"
        raise bad_file(file, what, line=line, column=column) from None
    except (yaml.YAMLError, ValueError) as error:
        raise bad_file(file, f"not valid YAML: {' '.join(str(error).split())}") from None


def _tree(file: str, text: str) -> Node | None:
    """The root of the document. Built from events: PyYAML's own trees are built recursively, and a
    deep document would end the process."""
    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    root: Node | None = None
    parents: list[Node] = []
    anchors: dict[str, Node] = {}
    for event in yaml.parse(text, Loader=loader):
        if isinstance(event, yaml.CollectionEndEvent):
            parents.pop()
            continue
        if isinstance(event, yaml.ScalarEvent):
            plain = not event.style and event.tag is None
            node = Node("scalar", event.value, _mark(event), plain=plain)
        elif isinstance(event, yaml.CollectionStartEvent):
            kind = "mapping" if isinstance(event, yaml.MappingStartEvent) else "sequence"
            node = Node(kind, [], _mark(event))
        elif isinstance(event, yaml.AliasEvent):
            if event.anchor not in anchors:
                where = DocumentValue(file, Node("scalar", "", _mark(event)), {})
                raise where.error(f"the alias *{event.anchor} has no anchor")
            node = anchors[event.anchor]
        else:
            if isinstance(event, yaml.DocumentStartEvent) and root is not None:
                where = DocumentValue(file, Node("scalar", "", _mark(event)), {})
                raise where.error("a second document begins here", "Use one file for each.")
            continue
        if isinstance(event, yaml.ScalarEvent | yaml.CollectionStartEvent) and event.anchor:
            anchors[event.anchor] = node
        if parents:
            parents[-1].value.append(node)
        root = root or node
        if isinstance(event, yaml.CollectionStartEvent):
            parents.append(node)
            if len(parents) > MAX_DEPTH:
                raise DocumentValue(file, node, {}).error("nested too deeply")
    return root


def _mark(event: Any) -> FilePosition:
    return FilePosition(event.start_mark.line + 1, event.start_mark.column + 1)


# The tree of a JSON document, with the position of each node. Built without recursion.

_TOKEN = re.compile(
    r"""[ \t\r\n]*
    (?: ([{}\[\],:]) | ("(?:[^"\\\x00-\x1f]|\\.)*+") | ([^\s{}\[\],:"]+) | (.) | \Z )""",
    re.DOTALL | re.VERBOSE,
)
_PLAIN = re.compile(r"true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?", re.ASCII)
_CLOSING = {"mapping": "}", "sequence": "]"}


class InvalidJson(Exception):
    """What is wrong, and where."""

    def __init__(self, problem: str, position: FilePosition) -> None:
        super().__init__(problem)
        self.position = position


class _Token(Struct, frozen=True):
    """A punctuation character, a `"` with the text of a string, or a word."""

    kind: str
    text: str
    position: FilePosition


def json_tree(text: str) -> Node:
    """The root of the document. Raises InvalidJson."""
    tokens = _tokens(text)
    root: Node | None = None
    parents: list[Node] = []
    token = next(tokens)
    while True:
        parent = parents[-1] if parents else None
        if parent is not None and token.text == _CLOSING[parent.kind] and token.kind != '"':
            parents.pop()
            token = next(tokens)
        else:
            if parent is not None and parent.value:
                token = _after(token, ",", tokens)
            if parent is not None and parent.kind == "mapping":
                if token.kind != '"':
                    raise InvalidJson("expected a name in double quotes", token.position)
                parent.value.append(Node("scalar", token.text, token.position))
                token = _after(next(tokens), ":", tokens)
            node = _node(token)
            (parents[-1].value.append(node) if parents else None)
            root = root or node
            if node.kind != "scalar":
                parents.append(node)
                if len(parents) > MAX_DEPTH:
                    raise InvalidJson("nested too deeply", node.position)
            token = next(tokens)
        if not parents:
            if token.kind:
                raise InvalidJson("expected the end of the document", token.position)
            assert root is not None
            return root


def _after(token: _Token, expected: str, tokens: Iterator[_Token]) -> _Token:
    """The token after an expected one."""
    if token.kind != expected:
        raise InvalidJson(f"expected {expected!r}", token.position)
    return next(tokens)


def _node(token: _Token) -> Node:
    if token.kind in ("{", "["):
        return Node("mapping" if token.kind == "{" else "sequence", [], token.position)
    if token.kind == '"':
        return Node("scalar", token.text, token.position)
    if token.kind == "word" and _PLAIN.fullmatch(token.text):
        return Node("scalar", token.text, token.position, plain=True)
    raise InvalidJson("expected a value", token.position)


def _tokens(text: str) -> Iterator[_Token]:
    """The tokens of the document, and one without a kind at its end."""
    lines = [0, *(match.end() for match in re.finditer("\n", text))]
    for match in _TOKEN.finditer(text):
        at = match.start(match.lastindex or 0) if match.lastindex else len(text)
        line = bisect_right(lines, at)
        position = FilePosition(line, at - lines[line - 1] + 1)
        if match[1]:
            yield _Token(match[1], match[1], position)
        elif match[2]:
            yield _Token('"', _string(match[2], position), position)
        elif match[3]:
            yield _Token("word", match[3], position)
        elif match[4]:
            raise InvalidJson("unexpected character, or a string without an end", position)
        else:
            yield _Token("", "", position)
            return


def _string(raw: str, position: FilePosition) -> str:
    try:
        text = str(json.loads(raw))
        text.encode()
    except ValueError:
        raise InvalidJson("a string has an invalid escape", position) from None
    return text
