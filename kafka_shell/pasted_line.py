"""A line of Kafka's own tools, pasted here: answered with the line that does the same."""

from __future__ import annotations

from collections.abc import Sequence

from kafka_shell.language.pasted import translate
from kafka_shell.language.tokens import Line, Word

from .commands import REGISTRY
from .context import Context
from .errors import UsageError


def answer_pasted(line: Line, words: Sequence[Word], text: str, context: Context) -> None:
    """Raise the line that does here what Kafka's own tool does; nothing where it is none."""
    typed = [word.text for word in words]
    if context.shell is not None and "--command-config" not in typed:
        typed = _without_this_cluster(typed, context)
    here = translate(typed, REGISTRY)
    if here is None:
        return
    last = words[-1].span[1]
    if line.redirect is None or line.redirect.span[0] >= last:  # its pipe, file and neighbours stay
        here = f"{text[: line.words[0].span[0]]}{here}{text[last:]}".strip()
    context.script.suggested = here
    raise UsageError(
        f"{typed[0]} is Kafka's own tool",
        hint=f"Here it is: {here}",
        code="pasted",
        span=words[0].span,
        text=text,
    )


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
