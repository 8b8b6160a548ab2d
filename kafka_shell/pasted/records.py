"""A pasted line that reads or writes records, of a console tool or kcat -> the line here."""

from __future__ import annotations

from collections.abc import Sequence

from kafka_shell.common.units import as_offset
from kafka_shell.errors import UsageError
from kafka_shell.pasted.options import Action, Given, line_of

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
    "read-records reads without a group, and commits no offsets", hint="Leave out the group."
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
