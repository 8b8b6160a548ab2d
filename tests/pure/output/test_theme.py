from __future__ import annotations

from pathlib import Path

import pytest
from pygments.token import STANDARD_TYPES, Escape, Generic, Name, Other, Text

from kafka_shell.base.errors import ShellError
from kafka_shell.base.files import shipped_folder
from kafka_shell.output.theme import (
    OUTPUT_ROLES,
    PROMPT_ROLES,
    Color,
    Style,
    available,
    load,
    load_or_default,
    parse_style,
    pygments_themes,
)

INVISIBLE = {Text.Whitespace, Escape, Other}
NAMES = sorted(path.stem for path in shipped_folder("themes").glob("*.toml"))
BACKGROUNDS: dict[str, str] = {"dark": "#1e1e1e", "light": "#ffffff"}
DESIGNED_FOR = {"contrast-dark": "#000000", "ember": "#282522", "parchment": "#fbf3dd"}


@pytest.fixture
def nobody(tmp_path: Path) -> Path:
    return tmp_path / "none"


@pytest.mark.parametrize("name", NAMES)
def test_a_shipped_theme_styles_every_role(name: str, nobody: Path) -> None:
    theme = load(name, user=nobody)
    assert tuple(theme.output) == OUTPUT_ROLES
    assert tuple(theme.prompt) == PROMPT_ROLES
    assert theme.description


def test_there_are_light_dark_color_blind_and_colorless_ones(nobody: Path) -> None:
    infos = available(user=nobody)
    assert len(infos) >= 7
    assert {info.mode for info in infos} == {"light", "dark", "any"}
    assert [info.name for info in infos] == NAMES


def assert_readable(what: str, style: Style, behind: Color | str | None, least: float) -> None:
    if style.foreground is not None:
        found = _contrast(style.foreground, behind)
        assert found >= least, f"{what}: {found:.2f}"


def least_contrast(name: str) -> float:
    return 7.0 if name.startswith("contrast") else 4.5


@pytest.mark.parametrize("name", NAMES)
def test_text_reads_on_its_background(name: str, nobody: Path) -> None:
    theme = load(name, user=nobody)
    if theme.mode == "any":
        return
    behind = parse_style(DESIGNED_FOR.get(name, BACKGROUNDS[theme.mode])).foreground
    for role, source in {**theme.output, **theme.prompt}.items():
        style = parse_style(source)
        assert_readable(role, style, style.background or behind, least_contrast(name))


@pytest.mark.parametrize("name", NAMES)
def test_text_reads_on_the_usual_background_too(name: str, nobody: Path) -> None:
    theme = load(name, user=nobody)
    if theme.mode == "any":
        return
    usual = parse_style(BACKGROUNDS[theme.mode]).foreground
    for role in OUTPUT_ROLES:
        assert_readable(role, parse_style(theme.output[role]), usual, 4.5)


@pytest.mark.parametrize("name", NAMES)
def test_other_languages_read_on_both_backgrounds(name: str, nobody: Path) -> None:
    theme = load(name, user=nobody)
    if theme.mode == "any":
        return
    usual = BACKGROUNDS[theme.mode]
    for background in (usual, DESIGNED_FOR.get(name, usual)):
        behind = parse_style(background).foreground
        for token in set(STANDARD_TYPES) - INVISIBLE:
            style = parse_style(theme.token_style(token))
            on = f"{token} on {background}"
            assert_readable(on, style, style.background or behind, least_contrast(name))


@pytest.mark.parametrize("name", NAMES)
def test_added_and_removed_differ(name: str, nobody: Path) -> None:
    theme = load(name, user=nobody)
    added, removed = map(theme.token_style, (Generic.Inserted, Generic.Deleted))
    assert added != removed
    assert bool(added) == (name != "mono")


def test_a_diff_has_the_colors_of_its_style(nobody: Path) -> None:
    gruvbox = load("pygments:gruvbox-dark", user=nobody)  # which colors the background
    assert gruvbox.token_style(Generic.Deleted) == "#282828 bg:#fb4934"
    plain = load("pygments:xcode", user=nobody)  # which has no style for a diff
    assert plain.token_style(Generic.Inserted) == plain.output["good"]


def test_a_style_of_pygments_is_a_theme(nobody: Path) -> None:
    dark, light = load("pygments:monokai", user=nobody), load("pygments:xcode", user=nobody)
    assert dark.token_style(Name.Tag) == dark.output["key"] == "#ff4689"
    assert dark.token_style(Name.Function) == dark.prompt["command"] == "#a6e22e"
    assert (dark.mode, light.mode) == ("dark", "light")
    assert dark.output["good"] == load("midnight", user=nobody).output["good"]
    with pytest.raises(ShellError, match="did you mean pygments:monokai"):
        load("pygments:monokay", user=nobody)
    assert len(pygments_themes()) > 40
    for name in pygments_themes():
        load(name, user=nobody).codes(256)


def test_a_users_theme_may_name_a_style_of_pygments(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text('style = "monokai"\n')
    assert load("mine", user=tmp_path).token_style(Name.Tag) == "#ff4689"
    (tmp_path / "mine.toml").write_text('name = "mine"\nstyle = "monokay"\n')
    with pytest.raises(ShellError, match=r"mine.toml:2: unknown style of Pygments 'monokay'"):
        load("mine", user=tmp_path)
    for wrong, said in (('[prompt]\nstyle = "monokai"', "unknown role style"),
                        ("style = 5", "style must be a string")):  # fmt: skip
        (tmp_path / "mine.toml").write_text(wrong)
        with pytest.raises(ShellError, match=said):
            load("mine", user=tmp_path)


def test_mono_has_no_color(nobody: Path) -> None:
    theme = load("mono", user=nobody)
    tokens = map(theme.token_style, STANDARD_TYPES)
    for source in [*theme.output.values(), *theme.prompt.values(), *tokens]:
        style = parse_style(source)
        assert style.foreground is None
        assert style.background is None


@pytest.mark.parametrize("name", NAMES)
def test_prompt_toolkit_accepts_the_styles(name: str, nobody: Path) -> None:
    from prompt_toolkit.styles import Style

    Style.from_dict(load(name, user=nobody).prompt)


def test_the_empty_name_is_the_default(nobody: Path) -> None:
    assert load("", user=nobody) == load("midnight", user=nobody)


def test_a_users_theme_wins_and_may_leave_roles_out(tmp_path: Path) -> None:
    (tmp_path / "midnight.toml").write_text('mode = "light"\n[output]\ngood = "bold"\n')
    theme = load("midnight", user=tmp_path)
    assert theme.output == {"good": "bold"}
    assert theme.codes(256) == {"good": "1"}
    assert next(i for i in available(user=tmp_path) if i.name == "midnight").user


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ('[output]\ngoood = "bold"\n', ":2: unknown role goood; did you mean good?"),
        ('[prompt]\n\nzzz = ""\n', ":3: unknown role zzz; expected one of prompt,"),
        (
            '[output]\n# x\nbad = "blod"\n',
            ':3: bad must be a style such as "bold #80c0ff bg:#202020":',
        ),
        ("[output]\nbad = 3\n", ":2: bad must be a style such as"),
        ('x = "1"\n[output]\n', ":1: unknown key x; expected one of name,"),
        ('[ouput]\ngood = ""\n', ":1: unknown key ouput; did you mean output?"),
        ('mode = "dusk"\n', ":1: mode must be "),
        ('name = "a"\noutput = "b"\n', ":2: output must be a table of styles"),
        ("name = 3\n", ":1: name must be a string"),
        ('name = "x\n', ":1: invalid TOML"),
        ("\n[output\n", ":2: invalid TOML"),
    ],
)
def test_a_malformed_theme_names_file_line_and_what_was_expected(
    tmp_path: Path, source: str, said: str
) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(source)
    with pytest.raises(ShellError) as caught:
        load("mine", user=tmp_path)
    assert f"{path}{said}" in caught.value.message
    theme, why = load_or_default("mine", user=tmp_path)
    assert theme.name == "midnight"
    assert why is not None
    assert any("cannot be read" in info.description for info in available(user=tmp_path))


def test_a_theme_file_that_is_not_text(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(ShellError, match="is not UTF-8"):
        load("mine", user=tmp_path)


def test_an_unknown_theme_names_the_near_miss(nobody: Path) -> None:
    with pytest.raises(ShellError, match="did you mean midnight") as caught:
        load("midnigth", user=nobody)
    assert "mono" in caught.value.hint
    with pytest.raises(ShellError, match="unknown theme"):
        load("../themes/mono", user=nobody)


def _contrast(one: Color | str | None, other: Color | str | None) -> float:
    """WCAG's contrast ratio."""
    assert isinstance(one, tuple)
    assert isinstance(other, tuple)
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(color: Color) -> float:
    parts = [part / 255 for part in color]
    red, green, blue = (p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
