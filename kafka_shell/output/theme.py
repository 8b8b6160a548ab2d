"""Themes: TOML files that map roles to styles. The built-in ones are in themes/."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal, get_args

from msgspec import Struct, field

from kafka_shell.base.errors import ShellError, near_miss
from kafka_shell.base.files import bad_file, read_toml, toml_line
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
    source, data = read_toml(path)
    tables = {name: data[name] for name in _TABLES if isinstance(data.get(name), dict)}
    for table, values in (("", data), *tables.items()):
        for key, value in values.items():
            if problem := _problem(table, key, value):
                raise bad_file(path, problem, line=toml_line(source, table, key))
    return Theme(**{**data, "name": path.stem})


def _problem(table: str, key: str, value: object) -> str:
    """What is wrong with a key of the file ("" for the table) or of a table; "" if nothing is."""
    known = _TABLES[table] if table else (*_FIELDS, *_TABLES)
    if key not in known:
        near = near_miss(key, known)
        expected = f"did you mean {near}?" if near else f"expected one of {', '.join(known)}"
        return f"unknown {'role' if table else 'key'} {key}; {expected}"
    if table:
        return _invalid_style(key, value)
    if key in _TABLES:
        return "" if isinstance(value, dict) else f"{key} must be a table of styles: [{key}]"
    if key == "mode" and value not in get_args(Mode):
        return f'mode must be "dark", "light" or "any", got {value!r}'
    return "" if isinstance(value, str) else f"{key} must be a string"


def _invalid_style(role: str, value: object) -> str:
    try:
        parse_style(value if isinstance(value, str) else repr(value))
    except ValueError as error:
        return f'{role} must be a style such as "bold #80c0ff bg:#202020": {error}'
    return ""
