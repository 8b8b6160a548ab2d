"""A pasted line of rpk, kcat, kcl, kaf or kafkactl -> the line that does it here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kafka_shell.base.errors import UsageError
from kafka_shell.base.units import as_offset
from kafka_shell.language.command import Registry
from kafka_shell.language.parse import parse
from kafka_shell.language.render import render
from kafka_shell.language.tokens import words_of
from kafka_shell.pasted.options import Action, Given, line_of
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
    found: dict[str, str] = {}
    rest = iter(words)
    for word in rest:
        letter = word[1:2]
        if not word.startswith("-") or word.startswith("--"):
            return None
        if letter in _KCAT_VALUES:
            found[letter] = word[2:] or next(rest, "")
        elif letter and set(word[1:]) <= _KCAT_FLAGS:
            found |= dict.fromkeys(word[1:], "")
        else:
            return None
    return found


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
