"""A pasted line of rpk, kcat, kcl, kaf or kafkactl, and words in another order -> the line here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
from typing import TypeVar

from msgspec import Struct, field

from kafka_shell.base.errors import UsageError
from kafka_shell.base.text import naming
from kafka_shell.base.units import as_offset
from kafka_shell.language import kinds
from kafka_shell.language.command import Registry
from kafka_shell.language.parse import parse
from kafka_shell.language.render import render
from kafka_shell.language.tokens import words_of

Given = dict[str, list[str]]
"""Options of the pasted line and their values, in order; "" holds the words before any option."""

_EVERYWHERE = {"--bootstrap-server": "--broker", "--zookeeper": "", "--broker-list": "--broker",
               "--force": "--yes"}  # fmt: skip


class Action(Struct, frozen=True):
    """What one of a tool's actions is called here. `renames` maps its options to ours; "" drops."""

    command: str
    renames: Mapping[str, str] = field(default_factory=dict)
    extra: tuple[str, ...] = ()


def line_of(action: Action, given: Given, done: Sequence[str]) -> list[str]:
    """The action's command with the options that are not `done`, under their names here."""
    line = [*action.command.split(), *action.extra]
    renames = _EVERYWHERE | dict(action.renames)
    cluster: dict[str, str] = {}  # what names the cluster, and by which option
    for name, values in given.items():
        ours = renames.get(name, name)
        if not name or not ours or name in done:
            continue
        if ours == "--broker":
            cluster |= dict.fromkeys(values, name)
        else:
            line += [f"{ours}={value}" for value in values] or [ours]
    if len(cluster) > 1:
        said = " and ".join(f"{name} {value}" for value, name in cluster.items())
        raise UsageError(f"two clusters are named: {said}")
    return [*line, *(f"--broker={value}" for value in cluster)]


_T = TypeVar("_T")


def first(given: Given, options: Mapping[str, _T]) -> tuple[str, _T] | None:
    return next(((name, value) for name, value in options.items() if name in given), None)


def split_keys(values: Sequence[str]) -> list[str]:
    return [key.strip() for value in values for key in value.split(",") if key.strip()]


# -- Words in another order (`describe topic x`, `topics list`) -> the command of this program -----

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
    for verb, noun, rest in _readings(words, alone):
        names = [_OTHERS.get((verb, noun))]
        for begun in _VERBS.get(verb, (verb,)):
            spelled = (f"{begun}{join}{noun}{end}" for end in ("", "s") for join in "- ")
            names += [name for name in spelled if "-" not in begun and registry.named(name)]
        if is_reading(verb):
            names += [registry.line_of_short(f"{noun}s"), registry.line_of_short(noun)]
        yield from ((name, rest) for name in names if name)


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


# -- A pasted line of rpk, kcat, kcl, kaf or kafkactl -> the line that does it here ----------------

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


# A pasted line that reads or writes records, of a console tool or kcat -> the line here.

_CONSOLE_CONSUMER = Action(
    "read-records",
    {
        "--consumer.config": "--command-config",
        "--max-messages": "--limit",
        **dict.fromkeys(
            (
                "--property", "--formatter-property", "--formatter", "--formatter-config",
                "--key-deserializer", "--value-deserializer", "--skip-message-on-error",
                "--reject-message-on-error", "--enable-systest-events", "--timeout-ms",
            ),
            "",
        ),
    },
)  # fmt: skip
_CONSOLE_PRODUCER = Action(
    "write-record",
    {"--producer.config": "--command-config", "--compression-codec": "--compression-type"},
    ("--from-file=-", "--lines"),
)
_NO_GROUP = UsageError(
    "read-records reads without a group, and commits no offsets", hint="Omit the group."
)
_KCAT_STARTS = {"beginning": "earliest", "end": "latest"}


def console_consumer(given: Given) -> list[str]:
    """By default, Kafka's tool reads records that arrive from now on; with a timeout it ends. To
    read what arrives, the line here must follow, and ends with Ctrl-C."""
    if "--group" in given:
        raise _NO_GROUP
    partition = "".join(f":{number}" for number in given.get("--partition", []))
    topics = given.get("--topic", [])
    words = [f"{topic}{partition}" for topic in topics]
    words += [f"/{each}/" for each in (*given.get("--include", []), *given.get("--whitelist", []))]
    start = (given.get("--offset") or ["latest"])[0]
    start = "earliest" if "--from-beginning" in given else start
    done = ["--topic", "--partition", "--include", "--whitelist", "--offset", "--from-beginning"]
    follow = () if "--timeout-ms" in given and start != "latest" else ("--follow",)
    return [*line_of(_CONSOLE_CONSUMER, given, done), *words, f"--from={as_offset(start)}", *follow]


def console_producer(given: Given) -> list[str]:
    """The lines of standard input."""
    return line_of(_CONSOLE_PRODUCER, given, [])


def kcat(words: Sequence[str]) -> list[str] | None:
    """`kcat -C -t orders -o beginning -e`, or `-P`; None with an option that is not known here."""
    given = _short_options(words)
    if given is None or "t" not in given or "G" in given:
        return None
    cluster = [f"--broker={given['b']}"] if "b" in given else []
    if "P" in given:
        codec = [f"--compression-type={given['z']}"] if "z" in given else []
        key = [f"--key={given['k']}"] if "k" in given else []
        return ["write-record", given["t"], "--from-file=-", "--lines", *codec, *key, *cluster]
    topic = given["t"] + (f":{given['p']}" if "p" in given else "")
    return ["read-records", topic, *_kcat_range(given), *cluster]


def _kcat_range(given: dict[str, str]) -> list[str]:
    start = given.get("o", "beginning")
    line = [] if "e" in given else ["--follow"]
    if start[:1] == "-" and start[1:].isdigit():
        line.append(f"--last={start[1:]}")
    else:
        line.append(f"--from={_KCAT_STARTS.get(start, as_offset(start))}")
    line += [f"--limit={given['c']}"] if "c" in given else []
    return [*line, "--output=json"] if "J" in given else line


_KCAT_FLAGS = frozenset("CPLQeqJuOETv")
_KCAT_VALUES = frozenset("btpoczk")


def _short_options(words: Sequence[str]) -> dict[str, str] | None:
    """`-C -t orders -o-5 -e` by letter."""
    options: dict[str, str] = {}
    rest = iter(words)
    for word in rest:
        letter = word[1:2]
        if not word.startswith("-") or word.startswith("--"):
            return None
        if letter in _KCAT_VALUES:
            options[letter] = word[2:] or next(rest, "")
        elif letter and set(word[1:]) <= _KCAT_FLAGS:
            options |= dict.fromkeys(word[1:], "")
        else:
            return None
    return options


_RPK_OPTIONS = {
    **dict.fromkeys(("-n", "--num"), "limit"),
    **dict.fromkeys(("-o", "--offset"), "from"),
    **dict.fromkeys(("-p", "--partitions"), "partitions"),
    "--brokers": "broker",
}
_RPK_STARTS = {"start": "earliest", "end": "latest"}


def rpk_consume(words: Sequence[str]) -> list[str] | None:
    """`rpk topic consume orders -n 1 -o start`; None with an option that is not known here. rpk
    reads from the start, and goes on reading without -n."""
    topics: list[str] = []
    given: dict[str, str] = {}
    rest = iter(words)
    for word in rest:
        name, equals, value = word.partition("=")
        if not word.startswith("-"):
            topics.append(word)
        elif name in _RPK_OPTIONS:
            given[_RPK_OPTIONS[name]] = value if equals else next(rest, "")
        else:
            return None
    start = _RPK_STARTS.get(given.get("from", "start"), given.get("from", ""))
    if not topics or not (start in _RPK_STARTS.values() or start.isdigit()):
        return None
    partitions = f":{given['partitions']}" if "partitions" in given else ""
    line = [
        "read-records",
        *(f"{topic}{partitions}" for topic in topics),
        f"--from={as_offset(start)}",
    ]
    line.append(f"--limit={given['limit']}" if "limit" in given else "--follow")
    return [*line, f"--broker={given['broker']}"] if "broker" in given else line
