"""A pasted line of rpk, kcat, kcl, kaf or kafkactl -> the line that does it here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kafka_shell.errors import UsageError
from kafka_shell.language.parse import parse
from kafka_shell.language.registry import Registry
from kafka_shell.language.render import render
from kafka_shell.language.tokens import words_of
from kafka_shell.pasted.word_order import reorder

# Options of the tool -> the same of this program.
_SHARED = {"--brokers": "--broker", "-p": "--partitions", "-r": "--replication-factor"}
_KCAT = {"-b": "--broker", "-t": "--topic"}
_OPTIONS: dict[str, dict[str, str]] = {
    "rpk": {**_SHARED, "-c": "--config", "--topic-config": "--config",
            "--replicas": "--replication-factor"},
    "kcl": {**_SHARED, "-k": "--config", "--num-partitions": "--partitions"},
    "kaf": {**_SHARED, "-b": "--broker", "--replicas": "--replication-factor"},
    "kafkactl": {**_SHARED, "-c": "--config"},
    "kcat": _KCAT,
    "kafkacat": _KCAT,
}  # fmt: skip
_ENDS = {"start": "earliest", "end": "latest"}  # rpk group seek g --to start
_GROUPINGS = ("cluster", "security")  # rpk cluster health, rpk security acl list


def other_tool(words: Sequence[str], registry: Registry) -> str:
    """The equivalent of a line of another tool; "" if it is not one of them.

    `help COMMAND`, or `help`, if the line has no exact equivalent.
    """
    tool = words[0].replace("\\", "/").rpartition("/")[2]
    if tool not in _OPTIONS:
        return ""
    if tool in ("kcat", "kafkacat"):
        return _kcat(words[1:], registry)
    rest = [_renamed(word, _OPTIONS[tool]) for word in words[1:]]
    if "seek" in rest[:2]:
        sought = _sought(rest)
        if sought is None:
            return "help reset-offsets"
        rest = sought
    if tool == "rpk" and words[1:3] == ["topic", "consume"]:
        from kafka_shell.pasted.records import rpk_consume

        line = rpk_consume(words[3:])
        return _parsed(line, registry) if line else "help read-records"
    if {"consume", "produce"} & set(rest[:2]):
        return _of_records(rest, registry)
    if rest and rest[0] in _GROUPINGS:
        rest = rest if reorder(rest, registry) else rest[1:]
    if rest and registry.named(rest[0]) is not None:
        return _parsed(rest, registry)
    return reorder(rest, registry, alone=True) or "help"


def _renamed(word: str, options: Mapping[str, str]) -> str:
    name, equals, value = word.partition("=")
    return f"{options.get(name, name)}{equals}{value}" if word.startswith("-") else word


def _sought(rest: Sequence[str]) -> list[str] | None:
    """The words of a seek with the value of --to as reset-offsets reads it; None for a number that
    is not a time. Here a number of ten digits is an offset."""
    words: list[str] = []
    for word in rest:
        name, equals, value = word.rpartition("=")
        if not equals and words[-1:] == ["--to"]:
            value, name = word, ""
        elif name != "--to":
            words.append(word)
            continue
        time = _milliseconds(value) if value.lstrip("+-").isdecimal() else _ENDS.get(value, value)
        if not time:
            return None
        words.append(f"{name}{equals}{time}")
    return words


def _milliseconds(number: str) -> str:
    """Unix seconds, milliseconds or nanoseconds, told apart by their digits as rpk does, in
    milliseconds; "" for another number."""
    if not number.isascii() or not number.isdecimal():
        return ""
    return {10: f"{number}000", 13: number, 19: number[:-6]}.get(len(number), "")


def _kcat(rest: Sequence[str], registry: Registry) -> str:
    """`kcat -L` is metadata of the cluster; `-Q` asks for offsets at times."""
    if "-L" in rest:
        options = [_renamed(word, _KCAT) for word in rest if word != "-L"]
        return _parsed(["describe-topic", *options], registry)
    if "-Q" in rest:
        return "help list-offsets"
    from kafka_shell.pasted.records import kcat

    line = kcat(rest)
    return _parsed(line, registry) if line else f"help {_records('-P' in rest)}"


def _records(writes: bool) -> str:
    return "write-record" if writes else "read-records"


def _of_records(rest: Sequence[str], registry: Registry) -> str:
    """`rpk topic consume orders`, `kaf produce orders`; with options `help COMMAND`."""
    words = [word for word in rest if word not in ("topic", "consume", "produce")]
    command = _records("produce" in rest)
    only_topic = len(words) == 1 and not words[0].startswith("-")
    line = [command, *words, *(["--from-file=-", "--lines"] if "produce" in rest else [])]
    return _parsed(line, registry) if only_topic else f"help {command}"


def _parsed(words: Sequence[str], registry: Registry) -> str:
    """The words as a line of this program, or `help` where they are none."""
    try:
        return render(parse(words_of(words), registry))
    except UsageError:
        return "help"
