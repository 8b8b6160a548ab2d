"""Words in another order (`describe topic x`, `topics list`) -> the command of this program."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import takewhile

from kafka_shell.base.errors import UsageError
from kafka_shell.base.text import naming
from kafka_shell.language import kinds
from kafka_shell.language.command import Registry
from kafka_shell.language.parse import parse
from kafka_shell.language.render import render
from kafka_shell.language.tokens import words_of

# A verb of another tool, or a habit -> the verbs to try here, the likeliest first.
_VERBS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("list", "ls", "get", "show"), ("list", "describe")),
    **dict.fromkeys(("describe", "desc", "info", "view"), ("describe", "list")),
    **dict.fromkeys(("create", "add", "new"), ("create", "alter")),
    **dict.fromkeys(
        ("delete", "remove", "rm", "drop"), ("delete", "remove", "expire", "unregister", "alter")
    ),
    **dict.fromkeys(("alter", "update", "set", "modify", "change", "edit"), ("alter", "update")),
}
_READING = ("list", "describe")  # for these a short form may be the only command: brokers, users

_NOUNS = {
    "node": "broker",
    "consumer": "group",
    "consumer-group": "group",
    "consumergroup": "group",
    "consumer-group-offset": "offset",
    "logdir": "log-dir",
    "txn": "transaction",
    "delegation-token": "token",
    "dtoken": "token",
    "metadata": "cluster",
}

# (verb, noun) that is not the name of a command, or whose command requires more.
_OTHERS = {
    ("list", "config"): "help describe-configs",
    ("describe", "config"): "help describe-configs",
    ("list", "client-metric"): "list-configs client-metrics",
    ("create", "user"): "scram-credentials",
    ("alter", "user"): "scram-credentials",
    ("delete", "user"): "scram-credentials",
    ("reset", "group"): "reset-offsets",
    ("seek", "group"): "reset-offsets",
    ("offset-delete", "group"): "delete-offsets",
    ("alter-config", "topic"): "alter-configs",
    ("set-config", "topic"): "alter-configs",
    ("add-partitions", "topic"): "alter-topic",
    ("trim-prefix", "topic"): "delete-records",
}


def is_reading(verb: str) -> bool:
    """Whether a verb only reads."""
    return _VERBS.get(verb.lower(), ("",))[0] in _READING


def reorder(words: Sequence[str], registry: Registry, *, alone: bool = False) -> str:
    """The line that was probably meant, `help COMMAND` where it is not complete, or "".

    `alone`, of another tool, takes a noun without a verb, too (`kaf topics`), and names of groups.
    """
    first = ""
    for name, rest in _candidates(words, registry, alone):
        first = first or name.removeprefix("help ").split()[0]
        if name.startswith("help ") and rest:  # it would take them for the words of a command
            continue
        command = registry.named(name) if alone else None
        if command and command.arguments and command.arguments[0].kind is kinds.GROUPS:
            groups = list(takewhile(lambda word: not word.startswith("-"), rest))
            rest = [*(naming("--group", word) for word in groups), *rest[len(groups) :]]
        try:
            return render(parse(words_of([*name.split(), *rest]), registry))
        except UsageError:
            continue
    return f"help {first}" if first else ""


def _candidates(
    words: Sequence[str], registry: Registry, alone: bool
) -> Iterator[tuple[str, Sequence[str]]]:
    """The words of a command, and those that follow them, the likeliest first."""
    names = {command.name.replace("-", " ", 1): command.name for command in registry}
    shorts = {short.word: short.line for command in registry for short in command.shorts}
    for verb, noun, rest in _readings(words, alone):
        found = [_OTHERS.get((verb, noun), "")]
        for each in _VERBS.get(verb, (verb,)):
            found += [names.get(f"{each} {noun}", ""), names.get(f"{each} {noun}s", "")]
        if is_reading(verb):
            found += [shorts.get(f"{noun}s", ""), shorts.get(noun, "")]
        yield from ((name, rest) for name in found if name)


def _readings(words: Sequence[str], alone: bool) -> Iterator[tuple[str, str, Sequence[str]]]:
    """(verb, noun in the singular, what follows), in either order; the noun may be two words."""
    for size in (2, 1):
        if len(words) > size:
            yield words[0].lower(), _noun(words[1 : 1 + size]), words[1 + size :]
            yield words[size].lower(), _noun(words[:size]), words[1 + size :]
    if alone and sum(not word.startswith("-") for word in words) == 1:
        yield "list", _noun(words[:1]), words[1:]


def _noun(words: Sequence[str]) -> str:
    singular = "-".join(words).lower().removesuffix("s")
    return _NOUNS.get(singular, singular)
