"""The tree of a JSON document, with the position of each node. Built without recursion."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterator

from msgspec import Struct

from kafka_shell.commands.state.node import MAX_DEPTH, FilePosition, Node

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
    lines = [0, *(found.end() for found in re.finditer("\n", text))]
    for found in _TOKEN.finditer(text):
        at = found.start(found.lastindex or 0) if found.lastindex else len(text)
        line = bisect_right(lines, at)
        position = FilePosition(line, at - lines[line - 1] + 1)
        if found[1]:
            yield _Token(found[1], found[1], position)
        elif found[2]:
            yield _Token('"', _string(found[2], position), position)
        elif found[3]:
            yield _Token("word", found[3], position)
        elif found[4]:
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
