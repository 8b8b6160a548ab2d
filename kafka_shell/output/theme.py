"""Themes: TOML files that map roles to styles. The built-in ones are in themes/."""

from __future__ import annotations

from collections.abc import Mapping
from math import dist
from pathlib import Path
from typing import Any, Literal, get_args

from msgspec import Struct, field

from kafka_shell.base.errors import ShellError, near_miss
from kafka_shell.base.files import bad_file, read_toml, shipped_folder, toml_line
from kafka_shell.base.structs import replace
from kafka_shell.output.terminal import is_dumb
from kafka_shell.output.text import SYNTAX, Role

# Convert prompt_toolkit style strings ("bold #rrggbb bg:#rrggbb") to SGR codes.

Depth = Literal[0, 256, 16777216]
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
_BASIC = ["black", "red", "green", "yellow", "blue", "magenta", "cyan"]
NAMED = (
    *(f"ansi{name}" for name in (*_BASIC, "gray")),
    *(f"ansibright{name}" for name in _BASIC),
    "ansiwhite",
)
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
        index = NAMED.index(color)
        return str(base + index if index < 8 else base + 60 + index - 8)
    if depth == 16777216:
        return f"{base + 8};2;{color[0]};{color[1]};{color[2]}"
    return f"{base + 8};5;{_nearest_256(color)}"


def _luminance(color: Color) -> float:
    red, green, blue = (float((part / 255) ** 2.2) for part in color)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _nearest_256(color: Color) -> int:
    steps = [min(range(6), key=lambda i: abs(_LEVELS[i] - part)) for part in color]
    cube = (_LEVELS[steps[0]], _LEVELS[steps[1]], _LEVELS[steps[2]])
    shade = max(0, min(23, round((sum(color) / 3 - 8) / 10)))
    gray = (8 + 10 * shade,) * 3
    if dist(color, gray) < dist(color, cube):
        return 232 + shade
    return 16 + 36 * steps[0] + 6 * steps[1] + steps[2]


def depth_of(environ: Mapping[str, str]) -> Depth:
    """The number of colors of the terminal (COLORTERM, TERM); 0 for a dumb one."""
    if is_dumb(environ):
        return 0
    term = environ["TERM"]
    if term.endswith("-direct") or environ.get("COLORTERM", "").lower() in ("truecolor", "24bit"):
        return 16777216
    return 256


Mode = Literal["light", "dark", "any"]

DEFAULT = "midnight"
OUTPUT_ROLES: tuple[Role, ...] = tuple(r for r in get_args(Role) if r and r not in SYNTAX)
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
_FIELDS = ("name", "description", "mode", "style")
PYGMENTS = "pygments:"  # before the name of a style of Pygments

# The roles of tokens in other languages. A token type without an entry has the role of its parent.
_TOKENS: dict[str, str] = {
    "Token.Keyword": "command",
    "Token.Name.Function": "command",
    "Token.Name.Attribute": "option",
    "Token.Name.Tag": "key",
    "Token.Literal.String": "string",
    "Token.Literal.String.Regex": "pattern",
    "Token.Literal.Number": "number",
    "Token.Operator": "operator",
    "Token.Punctuation": "operator",
    "Token.Comment": "comment",
    "Token.Error": "unknown",
    "Token.Generic.Deleted": "unknown",
    "Token.Generic.Inserted": "good",
}


class Theme(Struct, frozen=True):
    """Styles by role, as prompt_toolkit style strings.

    A missing role has the terminal's default style. `style` names the style of Pygments for diffs
    and other languages; tokens that it leaves plain have the styles of roles.
    """

    name: str
    description: str = ""
    mode: Mode = "any"
    style: str = ""
    output: dict[str, str] = field(default_factory=dict)
    prompt: dict[str, str] = field(default_factory=dict)

    def codes(self, depth: Depth) -> dict[Role, str]:
        """SGR parameters of the output roles that have a style."""
        codes = {r: sgr(parse_style(self.output.get(r, "")), depth) for r in OUTPUT_ROLES}
        return {role: code for role, code in codes.items() if code}

    def token_style(self, token: Any) -> str:
        """The style of a type of tokens of Pygments. Tokens of shell.lexer always have the
        style of a role."""
        from pygments.token import STANDARD_TYPES

        known = [part for part in token.split() if part in STANDARD_TYPES]
        if self.style and token[-1:] != ("Shell",):
            plain, look = map(_pygments_style(self.style).style_for_token, (known[0], known[-1]))
            words = [word for word in ("bold", "italic", "underline") if look[word]]
            if look["color"] != plain["color"]:  # else the terminal's own
                words.append(f"#{look['color']}")
            if look["bgcolor"]:
                words.append(f"bg:#{look['bgcolor']}")
            if words:
                return " ".join(words)
        role = next((_TOKENS[str(part)] for part in reversed(known) if str(part) in _TOKENS), "")
        return {**self.output, **self.prompt}.get(role, "")


class ThemeInfo(Struct, frozen=True):
    """The name, description and file of a theme."""

    name: str
    description: str
    mode: Mode
    path: Path
    user: bool


def load(name: str, *, user: Path | None = None) -> Theme:
    """The theme of this name ("": the default). Raises ShellError if unknown or malformed.

    Themes in the folder `user` override built-in ones of the same name.
    """
    name = name or DEFAULT
    for folder in filter(None, (user, shipped_folder("themes"))):
        path = folder / f"{name}.toml"
        if path.name == f"{name}.toml" and path.is_file():
            return read_theme(path)
    if name.startswith(PYGMENTS) and name in pygments_themes():
        return _of_pygments(name)
    names = (
        pygments_themes()
        if name.startswith(PYGMENTS)
        else [info.name for info in available(user=user)]
    )
    near = near_miss(name, names)
    raise ShellError(
        f"unknown theme '{name}'" + (f"; did you mean {near}?" if near else ""),
        hint=f"Use one of: {', '.join(names)}.",
        code="unknown-theme",
    )


def pygments_themes() -> list[str]:
    """The styles of Pygments as names of themes."""
    from pygments.styles import get_all_styles

    return sorted(f"{PYGMENTS}{style}" for style in get_all_styles())


def _pygments_style(name: str) -> Any:
    from pygments.styles import get_style_by_name

    return get_style_by_name(name)


def _of_pygments(name: str) -> Theme:
    """The built-in theme for the background of a style, in its colors as far as it has them."""
    from pygments.token import string_to_tokentype

    style = name.removeprefix(PYGMENTS)
    behind = parse_style(_pygments_style(style).background_color).foreground
    dark = isinstance(behind, tuple) and _luminance(behind) < 0.2
    base = read_theme(shipped_folder("themes") / f"{'midnight' if dark else 'daylight'}.toml")
    theme = replace(base, name=name, style=style)
    styles = {
        r: theme.token_style(string_to_tokentype(token))
        for token, r in _TOKENS.items()
        if "Generic" not in token
    }
    output, prompt = (
        {role: styles.get(role) or style for role, style in table.items()}
        for table in (base.output, base.prompt)
    )
    return replace(theme, output=output, prompt=prompt)


def load_or_default(name: str, *, user: Path | None = None) -> tuple[Theme, ShellError | None]:
    """The theme, or the default theme and the error: a bad theme must not stop a command."""
    try:
        return load(name, user=user), None
    except ShellError as error:
        return read_theme(shipped_folder("themes") / f"{DEFAULT}.toml"), error


def available(*, user: Path | None = None) -> list[ThemeInfo]:
    """All themes by name; the description of an unreadable one is the error."""
    themes: dict[str, ThemeInfo] = {}
    for folder in filter(None, (shipped_folder("themes"), user)):
        for path in sorted(folder.glob("*.toml")) if folder.is_dir() else ():
            themes[path.stem] = _info(path, folder == user)
    return sorted(themes.values(), key=lambda info: info.name)


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
    own = path.parent != shipped_folder("themes")
    for table, values in (("", data), *tables.items()):
        for key, value in values.items():
            problem = _problem(table, key, value)
            style = value if own and not problem and (table, key) == ("", "style") else ""
            if style and f"{PYGMENTS}{style}" not in pygments_themes():
                problem = f"unknown style of Pygments {value!r}"
            if problem:
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
