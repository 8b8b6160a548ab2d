"""A theme's roles as prompt_toolkit's classes."""

from __future__ import annotations

from prompt_toolkit.styles import BaseStyle, Style

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
    "scrollbar.button": "menu-current",
    "auto-suggestion": "suggestion",
    "bottom-toolbar": "toolbar",
    "search": "prompt-read-only",
}


def style_of(theme: Theme, *, colour: bool = True) -> BaseStyle:
    """The style of the prompt. Without colour only shapes are left (bold, underline, reverse)."""
    rules = {"bottom-toolbar": "noreverse", "scrollbar.arrow": "noreverse"}
    roles = {role: role for role in theme.prompt}
    for name, role in {**roles, **_CLASSES}.items():
        style = theme.prompt.get(role, "")
        if style:
            rules[name] = f"noreverse {style}" if colour else _without_colour(style)
    for role in ("key", "override", "warning", "bad", "dim", "hint"):
        if style := theme.output.get(role, ""):
            rules.setdefault(role, style if colour else _without_colour(style))
    if not colour:
        rules["bottom-toolbar"] = rules["completion-menu.completion.current"] = "reverse"
    return Style.from_dict(rules)


def _without_colour(style: str) -> str:
    kept = {"bold", "underline", "italic", "reverse"}
    return " ".join(word for word in style.split() if word in kept)
