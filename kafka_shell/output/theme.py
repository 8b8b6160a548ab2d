"""Themes: TOML files that map roles to styles. The built-in ones are in themes/."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, get_args

from msgspec import Struct, field

from kafka_shell.errors import ShellError, UsageError, near_miss
from kafka_shell.output.styles import Depth, parse_style, sgr
from kafka_shell.output.text import Role

Mode = Literal["light", "dark", "any"]

DEFAULT = "midnight"
OUTPUT_ROLES: tuple[Role, ...] = tuple(role for role in get_args(Role) if role)
PROMPT_ROLES = (
    "prompt",
    "prompt-confirm",
    "prompt-typed",
    "prompt-read-only",
    "command",
    "unknown",
    "option",
    "string",
    "pattern",
    "number",
    "operator",
    "comment",
    "menu",
    "menu-current",
    "menu-meta",
    "menu-meta-current",
    "documentation",
    "toolbar",
    "toolbar-warning",
    "suggestion",
    "banner",
)
_TABLES: dict[str, tuple[str, ...]] = {"output": OUTPUT_ROLES, "prompt": PROMPT_ROLES}
_FIELDS = ("name", "description", "mode")


class Theme(Struct, frozen=True):
    """Styles by role, as prompt_toolkit style strings.

    A missing role has the terminal's default style.
    """

    name: str
    description: str = ""
    mode: Mode = "any"
    output: dict[str, str] = field(default_factory=dict)
    prompt: dict[str, str] = field(default_factory=dict)

    def codes(self, depth: Depth) -> dict[Role, str]:
        """SGR parameters of the output roles that have a style."""
        found = {r: sgr(parse_style(self.output.get(r, "")), depth) for r in OUTPUT_ROLES}
        return {role: code for role, code in found.items() if code}


class ThemeInfo(Struct, frozen=True):
    """The name, description and file of a theme."""

    name: str
    description: str
    mode: Mode
    path: Path
    user: bool


def shipped_folder() -> Path:
    """The folder of the built-in themes: in the installed package, or in a checkout."""
    package = Path(__file__).parent.parent
    inside = package / "data" / "themes"
    return inside if inside.is_dir() else package.parent / "themes"


def load(name: str, *, user: Path | None = None) -> Theme:
    """The theme of this name ("": the default). Raises ShellError if unknown or malformed.

    Themes in the folder `user` override built-in ones of the same name.
    """
    name = name or DEFAULT
    for folder in filter(None, (user, shipped_folder())):
        path = folder / f"{name}.toml"
        if path.name == f"{name}.toml" and path.is_file():
            return read_theme(path)
    names = [info.name for info in available(user=user)]
    near = near_miss(name, names)
    raise ShellError(
        f"unknown theme '{name}'" + (f"; did you mean {near}?" if near else ""),
        hint=f"Themes: {', '.join(names)}.",
        code="unknown-theme",
    )


def load_or_default(name: str, *, user: Path | None = None) -> tuple[Theme, ShellError | None]:
    """The theme, or the default theme and the error: a bad theme must not stop a command."""
    try:
        return load(name, user=user), None
    except ShellError as error:
        return read_theme(shipped_folder() / f"{DEFAULT}.toml"), error


def available(*, user: Path | None = None) -> list[ThemeInfo]:
    """All themes by name; the description of an unreadable one is the error."""
    found: dict[str, ThemeInfo] = {}
    for folder in filter(None, (shipped_folder(), user)):
        for path in sorted(folder.glob("*.toml")) if folder.is_dir() else ():
            found[path.stem] = _info(path, folder == user)
    return sorted(found.values(), key=lambda info: info.name)


def _info(path: Path, own: bool) -> ThemeInfo:
    try:
        theme = read_theme(path)
    except ShellError as error:
        return ThemeInfo(path.stem, f"cannot be read: {error.message}", "any", path, own)
    return ThemeInfo(path.stem, theme.description, theme.mode, path, own)


def read_theme(path: Path) -> Theme:
    """Read a theme file. Raises ShellError with the file, the line and what was expected."""
    try:
        source = path.read_text("utf-8")
    except UnicodeDecodeError as error:
        raise _malformed(path, None, f"not valid UTF-8 ({error.reason})") from None
    except OSError as error:
        raise _malformed(path, None, f"cannot be read: {error.strerror}") from None
    return _checked(path, source, _parsed(path, source))


def _parsed(path: Path, source: str) -> dict[str, Any]:
    import tomllib

    try:
        return tomllib.loads(source)
    except tomllib.TOMLDecodeError as error:
        at = re.search(r"\(at line (\d+), column \d+\)", str(error))
        line = int(at[1]) if at else len(source.splitlines())
        problem = re.sub(r" \(at .*\)$", "", str(error))
        raise _malformed(path, line, f"invalid TOML: {problem}") from None


def _checked(path: Path, source: str, data: dict[str, Any]) -> Theme:
    for key, value in data.items():
        _check_entry(path, source, key, value)
    mode = data.get("mode", "any")
    if mode not in get_args(Mode):
        problem = f'mode must be "dark", "light" or "any", got {mode!r}'
        raise _malformed(path, _line_of(source, "mode"), problem)
    return Theme(
        name=path.stem,
        description=data.get("description", ""),
        mode=mode,
        output=data.get("output", {}),
        prompt=data.get("prompt", {}),
    )


def _check_entry(path: Path, source: str, key: str, value: object) -> None:
    if key in _TABLES and isinstance(value, dict):
        for problem, line in _role_problems(source, key, value):
            raise _malformed(path, line, problem)
    elif key in _TABLES:
        raise _malformed(path, _line_of(source, key), f"{key} must be a table of styles: [{key}]")
    elif key not in _FIELDS:
        known = (*_FIELDS, *_TABLES)
        expected = _expected(key, known, "one of " + ", ".join(known))
        raise _malformed(path, _line_of(source, key), f"unknown key {key}; {expected}")
    elif not isinstance(value, str):
        raise _malformed(path, _line_of(source, key), f"{key} must be a string")


def _role_problems(source: str, table: str, styles: dict[str, Any]) -> Iterator[tuple[str, int]]:
    roles = _TABLES[table]
    for role, style in styles.items():
        if role not in roles:
            expected = _expected(role, roles, "one of " + ", ".join(roles))
            yield f"unknown role {role}; {expected}", _line_of(source, role, table)
            continue
        try:
            parse_style(_string(style))
        except ValueError as error:
            problem = f'{role} must be a style such as "bold #80c0ff bg:#202020": {error}'
            yield problem, _line_of(source, role, table)


def _string(style: object) -> str:
    if not isinstance(style, str):
        raise ValueError(f"{style!r} is not a string")
    return style


def _expected(word: str, known: tuple[str, ...], otherwise: str) -> str:
    near = near_miss(word, known)
    return f"did you mean {near}?" if near else f"expected {otherwise}"


def _line_of(source: str, key: str, table: str = "") -> int:
    """The number of the line that sets a key in a table (tomllib does not report it)."""
    inside = ""
    for number, line in enumerate(source.splitlines(), 1):
        heading = re.match(r"\s*\[\s*([^\]]+?)\s*\]", line)
        if heading:
            inside = heading[1].strip("\"'")
            if not table and inside == key:
                return number
        elif inside == table and re.match(rf"""\s*["']?{re.escape(key)}["']?\s*[=.]""", line):
            return number
    return 1


def _malformed(path: Path, line: int | None, problem: str) -> ShellError:
    place = str(path) if line is None else f"{path}:{line}"
    return UsageError(f"{place}: {problem}", code="malformed-theme")
