"""Convert a theme to a prompt_toolkit style."""

from __future__ import annotations

from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.styles import BaseStyle, Style

from kafka_shell.common.escaping import printable
from kafka_shell.output.theme import Theme

# prompt_toolkit class -> role of the theme
_CLASSES = {
    "completion-menu": "menu",
    "completion-menu.completion": "menu",
    "completion-menu.completion.current": "menu-current",
    "completion-menu.meta.completion": "menu-meta",
    "completion-menu.meta.completion.current": "menu-meta-current",
    "completion-menu.multi-column-meta": "menu-meta",
    "scrollbar.background": "menu-meta",
    "auto-suggestion": "suggestion",
    "bottom-toolbar": "toolbar",
    "search": "prompt-read-only",
}


# Output roles that mark a candidate in the menu. The highlighted row has its own style.
_MARKS = ("override", "warning", "bad", "dim", "key", "hint")


def style_of(theme: Theme, *, color: bool = True) -> BaseStyle:
    """Return the style of the prompt; without color only bold, underline and reverse are used."""
    styles = {**{role: theme.output.get(role, "") for role in _MARKS}, **theme.prompt}
    styles |= {name: theme.prompt.get(role, "") for name, role in _CLASSES.items()}
    styles["auto-suggestion"] = styles["auto-suggestion"] or "dim"
    if not color:
        styles = {name: _without_color(style) for name, style in styles.items()}
        styles |= {"auto-suggestion": "dim", "bottom-toolbar": "reverse"}
        styles["completion-menu.completion.current"] = "reverse"
    rules = {name: f"noreverse {style}" for name, style in styles.items() if style}
    if "menu-meta" in rules:  # unobtrusive, because it is also drawn next to short menus
        rules["scrollbar.button"] = f"{styles['menu-meta']} reverse"
    current = "completion-menu.meta.completion.current"
    for role in _MARKS:  # more specific rules come last
        rules[f"{current} {role}"] = f"{rules.get(current, '')} bold"
    return Style.from_dict({"bottom-toolbar": "noreverse", **rules})


def style_of_output(theme: Theme, *, color: bool = True) -> BaseStyle:
    """Return the style of the theme's output roles, for tables on a full screen."""
    styles = {role: style for role, style in theme.output.items() if style}
    if not color:
        styles = {role: _without_color(style) for role, style in styles.items()}
    return Style.from_dict({**styles, "selected": "reverse"})


def cleaned(fragments: StyleAndTextTuples) -> StyleAndTextTuples:
    """Remove control characters; prompt_toolkit does not remove all of them."""
    return [(style, printable(text)) for style, text, *_ in fragments]


def _without_color(style: str) -> str:
    kept = {"bold", "underline", "italic", "reverse"}
    return " ".join(word for word in style.split() if word in kept)
