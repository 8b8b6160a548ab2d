"""Themes: TOML files that map roles to styles. The built-in ones are in themes/."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, get_args

from msgspec import Struct, field

from kafka_shell.base.errors import ShellError, UsageError, near_miss
from kafka_shell.output.terminal import is_dumb
from kafka_shell.output.text import Role

# Convert prompt_toolkit style strings ("bold #rrggbb bg:#rrggbb") to SGR codes.

Depth = Literal[0, 16, 256, 16777216]
Color = tuple[int, int, int]

ATTRIBUTES = {
    "bold": "1",
    "dim": "2",
    "italic": "3",
    "underline": "4",
    "blink": "5",
    "reverse": "7",
    "strike": "9",
}
NAMED: dict[str, Color] = {
    "ansiblack": (0, 0, 0),
    "ansired": (205, 0, 0),
    "ansigreen": (0, 205, 0),
    "ansiyellow": (205, 205, 0),
    "ansiblue": (0, 0, 238),
    "ansimagenta": (205, 0, 205),
    "ansicyan": (0, 205, 205),
    "ansigray": (229, 229, 229),
    "ansibrightblack": (127, 127, 127),
    "ansibrightred": (255, 0, 0),
    "ansibrightgreen": (0, 255, 0),
    "ansibrightyellow": (255, 255, 0),
    "ansibrightblue": (92, 92, 255),
    "ansibrightmagenta": (255, 0, 255),
    "ansibrightcyan": (0, 255, 255),
    "ansiwhite": (255, 255, 255),
}
# (hue in degrees, ANSI color): red, yellow, green, cyan, blue, magenta up to that hue; then red.
_HUES = ((25, 1), (62, 3), (160, 2), (198, 6), (260, 4), (330, 5))
_LEVELS = (0, 95, 135, 175, 215, 255)


class Style(Struct, frozen=True):
    """A parsed style string. None is the terminal's default; a name is one of its 16 colors."""

    attributes: tuple[str, ...] = ()
    foreground: Color | str | None = None
    background: Color | str | None = None


def parse_style(source: str) -> Style:
    """Parse a style string. Raises ValueError with the invalid word."""
    attributes: list[str] = []
    foreground: Color | str | None = None
    background: Color | str | None = None
    for word in source.split():
        if word in ATTRIBUTES:
            attributes.append(word)
        elif word.startswith("bg:"):
            background = _color(word[3:], word)
        else:
            foreground = _color(word.removeprefix("fg:"), word)
    return Style(tuple(attributes), foreground, background)


def _color(name: str, word: str) -> Color | str | None:
    if name == "default":
        return None
    if name in NAMED:
        return name
    digits = name.removeprefix("#")
    if name.startswith("#") and len(digits) == 3:
        digits = "".join(digit * 2 for digit in digits)
    if name.startswith("#") and len(digits) == 6:
        try:
            return int(digits[:2], 16), int(digits[2:4], 16), int(digits[4:], 16)
        except ValueError:
            pass
    raise ValueError(f"invalid style {word!r}")


def sgr(style: Style, depth: Depth) -> str:
    """The SGR parameters of a style, `1;38;2;r;g;b`; empty for no style."""
    codes = [ATTRIBUTES[name] for name in style.attributes]
    if style.foreground is not None:
        codes.append(_code(style.foreground, depth, base=30))
    if style.background is not None:
        codes.append(_code(style.background, depth, base=40))
    return ";".join(codes)


def _code(color: Color | str, depth: Depth, *, base: int) -> str:
    if isinstance(color, str):
        return _sixteen(list(NAMED).index(color), base)
    if depth == 16777216:
        return f"{base + 8};2;{color[0]};{color[1]};{color[2]}"
    if depth == 256:
        return f"{base + 8};5;{_nearest_256(color)}"
    return _sixteen(_nearest_16(color), base)


def _nearest_16(color: Color) -> int:
    """The nearest of 16 colors by hue, so that pale red becomes red and not gray."""
    top, bottom = max(color), min(color)
    if top < 64 or (top - bottom) / top < 0.32:
        return next(
            index for index, least in ((15, 226), (7, 154), (8, 64), (0, 0)) if top >= least
        )
    hue = _hue(color)
    index = next((index for end, index in _HUES if hue < end), 1)
    return index + (8 if _luminance(color) > 0.25 else 0)


def _hue(color: Color) -> float:
    red, green, blue = color
    top, spread = max(color), max(color) - min(color)
    if top == red:
        return (60 * (green - blue) / spread) % 360
    if top == green:
        return 60 * (blue - red) / spread + 120
    return 60 * (red - green) / spread + 240


def _luminance(color: Color) -> float:
    red, green, blue = (float((part / 255) ** 2.2) for part in color)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _sixteen(index: int, base: int) -> str:
    return str(base + index if index < 8 else base + 60 + index - 8)


def _nearest_256(color: Color) -> int:
    steps = [min(range(6), key=lambda i: abs(_LEVELS[i] - part)) for part in color]
    cube = (_LEVELS[steps[0]], _LEVELS[steps[1]], _LEVELS[steps[2]])
    shade = max(0, min(23, round((sum(color) / 3 - 8) / 10)))
    gray = (8 + 10 * shade,) * 3
    if _distance(color, gray) < _distance(color, cube):
        return 232 + shade
    return 16 + 36 * steps[0] + 6 * steps[1] + steps[2]


def _distance(one: Color, other: Color) -> float:
    """The perceived difference of two colors ("redmean")."""
    mean = (one[0] + other[0]) / 2
    red, green, blue = (a - b for a, b in zip(one, other, strict=True))
    return (2 + mean / 256) * red**2 + 4 * green**2 + (2 + (255 - mean) / 256) * blue**2


def depth_of(environ: Mapping[str, str]) -> Depth:
    """The number of colors of the terminal (COLORTERM, TERM); 0 for a dumb one."""
    if is_dumb(environ):
        return 0
    term = environ["TERM"]
    if term.endswith("-direct") or environ.get("COLORTERM", "").lower() in ("truecolor", "24bit"):
        return 16777216
    return 256 if "256" in term else 16


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
