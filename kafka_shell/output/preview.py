"""A sample page in the colors of a theme, for `theme NAME`."""

from __future__ import annotations

import os
from collections.abc import Iterator

from kafka_shell.common.escaping import escape
from kafka_shell.output.styles import Depth, depth_of, parse_style, sgr
from kafka_shell.output.text import Role, Text, text
from kafka_shell.output.theme import Theme

Piece = tuple[str, str]  # a prompt role, "" for none, and characters


def page(theme: Theme, depth: Depth | None = None) -> str:
    """Samples of the prompt and of output, in ANSI colors of the terminal's color depth."""
    depth = depth_of(os.environ) if depth is None else depth
    codes = theme.codes(depth) if depth else {}
    lines = [_painted_prompt(theme, depth, line) for line in _PROMPT]
    lines += ["".join(_ansi(codes.get(r, ""), part) for r, part in t.parts) for t in _answers()]
    title = f"{theme.name}: {theme.description}" if theme.description else theme.name
    return "\n".join([escape(title), "", *lines])


def _painted_prompt(theme: Theme, depth: Depth, pieces: tuple[Piece, ...]) -> str:
    return "".join(
        _ansi(sgr(parse_style(theme.prompt.get(role, "")), depth) if depth else "", part)
        for role, part in pieces
    )


def _ansi(code: str, part: str) -> str:
    return f"\x1b[{code}m{part}\x1b[0m" if code and part else part


_PROMPT: tuple[tuple[Piece, ...], ...] = (
    (("banner", "dev: 3 brokers, 41 topics. Try: topics, health, help"),),
    (
        ("prompt", "kafka> "),
        ("command", "alter-configs"),
        ("", " orders "),
        ("string", "retention.ms"),
        ("operator", "="),
        ("number", "7d"),
        ("", " "),
        ("option", "--dry-run"),
        ("suggestion", " | grep 7d"),
        ("comment", "  # a comment"),
    ),
    (
        ("prompt-confirm", "staging> "),
        ("command", "topics"),
        ("", " "),
        ("pattern", "/^svc-\\d+/"),
        ("", "    "),
        ("prompt-typed", "prod>"),
        ("", " "),
        ("unknown", "tpoics"),
        ("", "    "),
        ("prompt-read-only", "audit> "),
    ),
    (
        ("", "       "),
        ("menu-current", " retention.ms    "),
        ("menu-meta-current", " 7d * "),
    ),
    (("", "       "), ("menu", " retention.bytes "), ("menu-meta", " -1   ")),
    (("", "       "), ("documentation", " How long a log is kept before it is deleted.  ")),
    (
        ("toolbar", " dev   3 brokers   41 topics "),
        ("toolbar-warning", " refresh failed "),
    ),
    (("", ""),),
)


def _answers() -> Iterator[Text]:
    yield text("PARTITION  LEADER  REPLICAS  ISR    OFFLINE", "heading")
    yield _line(("", "        0       1  1,2,3     1,2,3  "), ("dim", "-"))
    yield _line(
        ("", "        1       "),
        ("warning", "3"),
        ("", "  2,3,"),
        ("warning", "1"),
        ("", "     "),
        ("warning", "2,3"),
        ("", "    "),
        ("bad", "1"),
    )
    yield Text()
    yield text("KEY               VALUE        SOURCE", "heading")
    yield _line(("key", "cleanup.policy    "), ("override", "compact      Dynamic topic *"))
    yield _line(("key", "retention.ms      "), ("value", "7d           "), ("default", "Default"))
    yield _line(
        ("key", "ssl.key.password  "),
        ("sensitive", "(sensitive)"),
        ("", "  Static broker  "),
        ("read-only", "read-only"),
    )
    yield Text()
    yield _line(("heading", "topic orders"))
    yield _line(("", "  "), ("key", "retention.ms"), ("", ": 7d -> "), ("added", "1d"))
    yield _line(
        ("", "  "), ("added", "+"), ("", " "), ("key", "segment.ms"), ("", ": "), ("added", "1h")
    )
    yield _line(("removed", "-"), ("", " "), ("heading", "topic old"))
    yield _line(("good", "created"), ("", " "), ("name", "topic invoices"))
    yield _line(("good", "healthy"), ("", "   "), ("warning", "2 warnings"))
    yield _line(("error", "error: "), ("", "unknown command "), ("pointer", "tpoics"))
    yield _line(("hint", "hint: "), ("", "did you mean topics?"))


def _line(*pieces: tuple[Role, str]) -> Text:
    return Text(pieces)
