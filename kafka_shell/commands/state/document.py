"""A YAML or JSON document with the line and column of each value, for errors."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from kafka_shell.commands.state.node import MAX_DEPTH, FilePosition, Node
from kafka_shell.common.files import bad_file, read_text
from kafka_shell.common.units import shorten
from kafka_shell.errors import ShellError, did_you_mean

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
        found = {}
        for key, value in self.pairs(what):
            name = key.name()
            if name.startswith(_PRIVATE):
                continue
            if name not in known:
                otherwise = f"Fields: {', '.join(known)}."
                hint = did_you_mean(name, known, otherwise)
                raise key.error(f"unknown field {shorten(name)} of {what}", hint)
            found[name] = value
        return found

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
        for each in merges:
            for name, pair in self._at(each)._merged(what).items():
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
    from kafka_shell.commands.state.json_tree import InvalidJson, json_tree

    if not text.strip():
        return None
    try:
        return json_tree(text)
    except InvalidJson as error:
        line, column = error.position.line, error.position.column
        raise bad_file(file, f"not valid JSON: {error}", line=line, column=column) from None


def _yaml_tree(file: str, text: str) -> Node | None:
    import yaml

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
    import yaml

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
