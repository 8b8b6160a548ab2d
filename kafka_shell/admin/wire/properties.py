"""Java's `.properties` files, and the value of sasl.jaas.config."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from kafka_shell.common.files import read_bytes
from kafka_shell.errors import ShellError, Status

_ESCAPES = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_BLANK = " \t\f"
_MAX_SIZE = 1 << 22  # bytes; the file may contain certificates


class Property(Struct, frozen=True):
    """A value and its place, such as `client.properties:4`. `own`: of a profile in config.toml."""

    value: str
    where: str
    own: bool = False

    def __repr__(self) -> str:
        return f"Property({self.where!r})"


def read_properties(path: Path) -> dict[str, str]:
    """The values of a Java `.properties` file. Raises OSError, or ShellError with file and line,
    also for a key that is set twice."""
    text = _decode(read_bytes(path, largest=_MAX_SIZE))
    properties = parse_properties(text, str(path), unique=True)
    return {key: found.value for key, found in properties.items()}


def read_located(path: Path) -> dict[str, Property]:
    """The values of a Java `.properties` file with their lines."""
    return parse_properties(_decode(read_bytes(path, largest=_MAX_SIZE)), str(path))


def _decode(data: bytes) -> str:
    # Java reads ISO-8859-1, but most files are UTF-8.
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("iso-8859-1")


def parse_properties(text: str, name: str, *, unique: bool = False) -> dict[str, Property]:
    """Java's rules: `=`, `:` or blanks separate, `\\` continues and escapes, the last value of a
    key wins. If `unique`, a key that is set twice is an error."""
    found: dict[str, Property] = {}
    for number, line in _logical_lines(text):
        where = f"{name}:{number}"
        key, value = _split(line)
        if value is None:
            raise bad(where, f"{_first_word(line)} is not a setting", "Expected key=value.")
        key = _unescape(key, where)
        if unique and key in found:
            raise bad(where, f"{key} is set twice", f"It is also set at {found[key].where}.")
        found[key] = Property(_unescape(value, where), where)
    return found


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Lines with their numbers, without comments, and with continuation lines joined."""
    lines = iter(enumerate(re.split(r"\r\n|\r|\n", text), 1))
    for number, natural in lines:
        line = natural.lstrip(_BLANK)
        if not line or line[0] in "#!":
            continue
        while _continues(line):
            _, more = next(lines, (0, ""))
            line = line[:-1] + more.lstrip(_BLANK)
        yield number, line


def _continues(line: str) -> bool:
    """Whether the line ends with an odd number of backslashes."""
    return (len(line) - len(line.rstrip("\\"))) % 2 == 1


def _split(line: str) -> tuple[str, str | None]:
    """Key and value, still escaped. The value is None without a separator."""
    match = re.match(r"((?:\\.|[^\\=: \t\f])*)(?:[ \t\f]*[=:][ \t\f]*|[ \t\f]+)(.*)", line, re.S)
    return (match[1], match[2]) if match else (line, None)


def _unescape(text: str, where: str) -> str:
    def plain(match: re.Match[str]) -> str:
        if match[1]:
            return chr(int(match[1], 16))
        if match[2] == "u":
            raise bad(where, "\\u is not followed by four hexadecimal digits", "Expected \\uXXXX.")
        return _ESCAPES.get(match[2], match[2])

    if "\\" not in text:
        return text
    replaced = re.sub(r"\\u([0-9a-fA-F]{4})|\\(.)", plain, text)
    # Two escapes may be the surrogates of one character.
    return replaced.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def bad(where: str, what: str, expected: str) -> ShellError:
    """The error of an invalid file: the place, the problem, and the expected form."""
    return ShellError(f"{where}: {what}", hint=expected, code="bad-file", status=Status.WRONG)


def _first_word(line: str) -> str:
    """The line's first word, because the rest may be a secret."""
    word = re.split(r"[\s=:]", line, maxsplit=1)[0]
    return repr(word[:40])


# -- sasl.jaas.config ------------------------------------------------------------------------------


class Jaas(Struct, frozen=True):
    """A login module's class name and its options, some of which are secrets."""

    module: str
    options: dict[str, str]

    def __repr__(self) -> str:
        return f"Jaas({self.module!r})"


_OPTION = re.compile(
    r"""\s*([\w.\-]+)\s*=\s*(?:"((?:\\.|[^"\\])*)"|'((?:\\.|[^'\\])*)'|([^\s;"']+))"""
)
_CONTROL = ("required", "requisite", "sufficient", "optional")


def parse_jaas(found: Property) -> Jaas:
    """`org...PlainLoginModule required username="a" password="b";`. Raises ShellError."""
    text = found.value.strip()
    words = text.split(None, 2)
    if len(words) < 2 or words[1].rstrip(";").lower() not in _CONTROL:
        raise _bad_jaas(found.where, "it must start with a login module and `required`")
    rest = words[2] if len(words) > 2 else ""
    if not text.endswith(";"):
        raise _bad_jaas(found.where, "missing semicolon")
    options, at = {}, 0
    while match := _OPTION.match(rest, at):
        at = match.end()
        quoted = match[2] if match[2] is not None else match[3]
        value = match[4] if quoted is None else re.sub(r"\\(.)", r"\1", quoted)
        options[match[1]] = value
    if rest[at:].strip(" \t\r\n;"):
        raise _bad_jaas(found.where, f'expected key="value" after option {len(options)}')
    return Jaas(words[0].rpartition(".")[2], options)


def _bad_jaas(where: str, why: str) -> ShellError:
    return bad(
        where,
        f"sasl.jaas.config is malformed: {why}",
        'Expected: LOGIN_MODULE required OPTION="VALUE" OPTION="VALUE";',
    )
