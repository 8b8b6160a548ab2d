"""A line of another tool, or with its words in another order: answered with the line that works."""

from __future__ import annotations

from collections.abc import Sequence

from kafka_shell.language.pasted import translate
from kafka_shell.language.tokens import Line, Word
from kafka_shell.language.word_order import reorder

from .commands import REGISTRY
from .context import Context
from .errors import UsageError


def answer_reordered(line: Line, text: str, context: Context) -> None:
    """Raise UsageError with the line that was probably meant by `describe topic x`, if any."""
    typed = [word.text for word in line.words]
    here = reorder(typed, REGISTRY)
    if not here:
        return
    here = _in_place(here, line, line.words, text)
    context.script.suggested = here
    raise UsageError(
        f"unknown command '{typed[0]} {typed[1]}'",
        hint=f"Run: {here}",
        code="unknown-command",
        span=(line.words[0].span[0], line.words[1].span[1]),
        text=text,
    )


def note_reordered(line: Line, context: Context) -> None:
    """Note that `topics list` describes a topic of that name, where that is what will be run."""
    here = reorder([word.text for word in line.words], REGISTRY)
    if here:
        context.script.notes.append(
            f"'{line.words[1].text}' was read as a name. To run the command: {here}"
        )


def answer_pasted(line: Line, words: Sequence[Word], text: str, context: Context) -> None:
    """Raise UsageError with the line that does here what the other tool does; nothing if none."""
    typed = [word.text for word in words]
    if context.shell is not None and "--command-config" not in typed:
        typed = _without_this_cluster(typed, context)
    here = translate(typed, REGISTRY)
    if here is None:
        return
    whose = "Kafka's own tool" if "kafka-" in typed[0] else "another tool"
    says = "Run" if here.startswith("help") else "Equivalent"
    here = _in_place(here, line, words, text)
    context.script.suggested = here
    raise UsageError(
        f"{typed[0]} is {whose}",
        hint=f"{says}: {here}",
        code="pasted",
        span=words[0].span,
        text=text,
    )


def _in_place(here: str, line: Line, words: Sequence[Word], text: str) -> str:
    """The text with `here` for these words: their pipe, file and neighbors stay."""
    last = words[-1].span[1]
    if line.redirect is not None and line.redirect.span[0] < last:
        return here
    return f"{text[: line.words[0].span[0]]}{here}{text[last:]}".strip()


def _without_this_cluster(words: Sequence[str], context: Context) -> list[str]:
    """The words without their bootstrap, where that is the cluster the prompt is on already.

    Where it is another, it stays: a line for one cluster must not run on the next.
    """
    from kafka_shell.admin.wire.endpoint import parse_addresses

    for index, word in enumerate(words):
        name, equals, value = word.partition("=")
        if name in ("--bootstrap-server", "--broker-list"):
            end = index + (1 if equals else 2)
            named = parse_addresses(value if equals else "".join(words[index + 1 : end]))
            if named == context.settings.connection.bootstrap:
                return [*words[:index], *words[end:]]
    return list(words)
