"""A theme's roles as prompt_toolkit's classes."""

from __future__ import annotations

from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.styles import BaseStyle, Style

from kafka_shell.characters import printable
from kafka_shell.output.theme import Theme

# prompt_toolkit's class -> the theme's role
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


# Output roles that mark a candidate in the menu; on the highlighted row the row's own style holds.
_MARKS = ("override", "warning", "bad", "dim", "key", "hint")


def style_of(theme: Theme, *, colour: bool = True) -> BaseStyle:
    """The style of the prompt. Without colour only shapes are left (bold, underline, reverse)."""
    styles = {**{role: theme.output.get(role, "") for role in _MARKS}, **theme.prompt}
    styles |= {name: theme.prompt.get(role, "") for name, role in _CLASSES.items()}
    styles["auto-suggestion"] = styles["auto-suggestion"] or "dim"
    if not colour:
        styles = {name: _without_colour(style) for name, style in styles.items()}
        styles |= {"auto-suggestion": "dim", "bottom-toolbar": "reverse"}
        styles["completion-menu.completion.current"] = "reverse"
    rules = {name: f"noreverse {style}" for name, style in styles.items() if style}
    if "menu-meta" in rules:  # calm: it is drawn beside short menus too
        rules["scrollbar.button"] = f"{styles['menu-meta']} reverse"
    current = "completion-menu.meta.completion.current"
    for role in _MARKS:  # the more particular rule has to come last
        rules[f"{current} {role}"] = f"{rules.get(current, '')} bold"
    return Style.from_dict({"bottom-toolbar": "noreverse", **rules})


def cleaned(fragments: StyleAndTextTuples) -> StyleAndTextTuples:
    """The same, without what a terminal would obey: prompt_toolkit lets some of it through."""
    return [(style, printable(said)) for style, said, *_ in fragments]


def _without_colour(style: str) -> str:
    kept = {"bold", "underline", "italic", "reverse"}
    return " ".join(word for word in style.split() if word in kept)
