"""Lines of other tools, and lines whose words are in another order: suggest the command to run."""

from __future__ import annotations

from collections.abc import Sequence

from kafka_shell.base.errors import UsageError
from kafka_shell.base.text import masked, quote
from kafka_shell.commands import REGISTRY
from kafka_shell.context import Context
from kafka_shell.language.tokens import Line, Word
from kafka_shell.pasted.kafka_tools import translate
from kafka_shell.pasted.word_order import is_reading, reorder


def suggest_reordered(line: Line, text: str, context: Context) -> None:
    """Raise UsageError with the command meant by `describe topic x` or `list-users`, for `describe
    x` with that of a topic; return if there is none."""
    typed = [word.text for word in line.words]
    if not typed or any(command.name in (typed[0], " ".join(typed[:2])) for command in REGISTRY):
        return  # with an unknown option, for example
    parts = typed[0].split("-")
    command = reorder([*parts, *typed[1:]], REGISTRY)
    if not command and is_reading(typed[0]) and len(typed) > 1:
        command = reorder([typed[0], "topic", *typed[1:]], REGISTRY)
    if not command:
        return
    last = 0 if len(parts) > 1 else 1
    suggestion = _in_place(command, line, line.words, text)
    context.script.suggested = suggestion
    raise UsageError(
        f"unknown command '{' '.join(typed[: last + 1])}'",
        hint=f"Run: {suggestion}",
        code="unknown-command",
        span=(line.words[0].span[0], line.words[last].span[1]),
        text=text,
    )


def note_reordered(line: Line, context: Context) -> None:
    """Add a note that `topics list` describes a topic of that name, if that is what will run."""
    command = reorder([word.text for word in line.words], REGISTRY)
    if command:
        context.script.notes.append(
            f"'{line.words[1].text}' was read as a name. To run the command: {command}"
        )


def suggest_equivalent(line: Line, words: Sequence[Word], text: str, context: Context) -> None:
    """Raise UsageError with the command equivalent to a line of another tool; return if the tool is
    unknown."""
    typed = [word.text for word in words]
    if context.shell is not None and "--command-config" not in typed:
        typed = _without_current_cluster(typed, context)
    equivalent = translate(typed, REGISTRY)
    if equivalent is None:
        return
    tool = "a Kafka tool" if "kafka-" in typed[0] else "another tool"
    label = "Run" if equivalent.startswith("help") else "Equivalent"
    if "--export" in typed and line.redirect is not None:  # Kafka's tool prints the offsets
        suggestion = f"{equivalent} --export {quote(line.redirect.path)}"
    else:
        suggestion = _in_place(equivalent, line, words, text)
    if masked(suggestion) == suggestion:  # else the prompt would show a password
        context.script.suggested = suggestion
    raise UsageError(
        f"{typed[0]} is {tool}, not a kafka.sh command",
        hint=f"{label}: {suggestion}",
        code="pasted",
        span=words[0].span,
        text=text,
    )


def _in_place(command: str, line: Line, words: Sequence[Word], text: str) -> str:
    """The text with `command` in place of these words; the rest of the line is kept."""
    last = words[-1].span[1]
    if line.redirect is not None and line.redirect.span[0] < last:
        return command
    return f"{text[: line.words[0].span[0]]}{command}{text[last:]}".strip()


def _without_current_cluster(words: Sequence[str], context: Context) -> list[str]:
    """Remove the bootstrap option if it names the current cluster.

    For another cluster it is kept: the command must not run on the current cluster instead.
    """
    from kafka_shell.wire.endpoint import parse_addresses

    for index, word in enumerate(words):
        name, equals, value = word.partition("=")
        end = index + (1 if equals else 2)
        value = value if equals else "".join(words[index + 1 : end])
        # Of some tools, --broker-list has IDs.
        if name == "--bootstrap-server" or (name == "--broker-list" and ":" in value):
            named = parse_addresses(value)
            if named == context.settings.connection.bootstrap:
                return [*words[:index], *words[end:]]
    return list(words)
