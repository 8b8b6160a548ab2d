"""Lines are parsed to invocations; errors point to the wrong word."""

from typing import Any

import pytest

from kafka_shell.base.errors import UsageError
from kafka_shell.language.command import Invocation
from kafka_shell.language.parse import parse
from kafka_shell.language.tokens import tokenize, words_of
from kafka_shell.language.usage import usage
from tests.support import declared_commands as registry
from tests.support.declared_commands import REGISTRY


def read(text: str) -> Invocation:
    return parse(tokenize(text), REGISTRY, text=text)


def given(invocation: Invocation) -> dict[str, Any]:
    """The values that are not at their defaults."""
    return {
        name: value for name, value in invocation.values.items() if value not in (None, False, ())
    }


@pytest.mark.parametrize(
    ("text", "command", "values"),
    [
        ("list-topics", "list-topics", {}),
        ("--list-topics", "list-topics", {}),
        ("topics --long", "list-topics", {"long": True}),
        ("topic orders a,b", "describe-topic", {"topic": ("orders", "a,b")}),
        ("describe-topic --topic a b --topic=c", "describe-topic", {"topic": ("a", "b", "c")}),
        ("--broker h:1 --describe-topic --topic t", "describe-topic",
         {"broker": "h:1", "topic": ("t",)}),
        ("list-topics --bootstrap-server h:1", "list-topics", {"broker": "h:1"}),
        ("list-topics --output=json --no-color", "list-topics",
         {"output": "json", "no-color": True}),
        ("list-topics --deadline 30s", "list-topics", {"deadline": 30_000}),
        ("create-topic t --timeout -1", "create-topic", {"topic": ("t",), "timeout": -1}),
        ("delete-topic t --yes", "delete-topic", {"topic": ("t",), "yes": True}),
        ("delete-topic t --yes=prod", "delete-topic", {"topic": ("t",), "yes": "prod"}),
        ("delete-topic --yes t", "delete-topic", {"topic": ("t",), "yes": True}),
        ("delete-topic --yes -- -t --yes", "delete-topic",
         {"topic": ("-t", "--yes"), "yes": True}),
        ("create-topic a --partitions 3 --config k=v=w --config x=", "create-topic",
         {"topic": ("a",), "partitions": 3, "config": (("k", "v=w"), ("x", ""))}),
        ("create-topic a --replica-assignment 1:2,2:3", "create-topic",
         {"topic": ("a",), "replica-assignment": ((1, 2), (2, 3))}),
        ("alter-topic a --delete-config k1,k2 --delete-config k3", "alter-topic",
         {"topic": ("a",), "delete-config": ("k1", "k2", "k3")}),
        ("config-command --alter --entity-type topics --entity-name t --add-config "
         r"'k1=v1, k2=[v1,v2\]] ,k3=a=b,k4=,k5=x]'", "config-command",
         {"alter": True, "entity-type": ("topics",), "entity-name": ("t",), "add-config":
          (("k1", "v1"), ("k2", "v1,v2]"), ("k3", "a=b"), ("k4", ""), ("k5", "x]"))}),
        ("config-command --describe --broker 1", "config-command",
         {"describe": True, "broker": "1"}),
        ("config-command --describe --broker=h:1 --broker=2", "config-command",
         {"describe": True, "broker": "2", "bootstrap-server": "h:1"}),
        ("alter-configs --broker 1 --broker h:1 k=v", "alter-configs",
         {"broker-id": ("1",), "broker": "h:1", "config": (("k", "v"),)}),
        ("alter-configs a b k=v l=w", "alter-configs",
         {"topic": ("a", "b"), "config": (("k", "v"), ("l", "w"))}),
        ("alter-configs k=v --group g", "alter-configs",
         {"group": ("g",), "config": (("k", "v"),)}),
        ("describe-configs a,b k1 k2", "describe-configs",
         {"topic": ("a,b",), "key": ("k1", "k2")}),
        ("broker 1 k1", "describe-configs", {"broker-id": ("1",), "key": ("k1",)}),
        ("describe-configs --topic a --topic b k", "describe-configs",
         {"topic": ("a", "b"), "key": ("k",)}),
        ("reset-offsets g --to -1h --shift -5 --throttle 50MB/s", "reset-offsets",
         {"group": "g", "to": "-1h", "shift": -5, "throttle": 50_000_000}),
        ("reset-offsets g --to --x --client-property a=b=c", "reset-offsets",
         {"group": "g", "to": "--x", "client-property": (("a", "b=c"),)}),
        ("set output json", "set", {"name": "output", "value": "json"}),
        ("spark audit --master local", "spark audit", {"master": "local"}),
        ("spark sql select *  from t", "spark sql", {"query": "select *  from t"}),
        ("watch 5 list-topics  --long --help", "watch",
         {"seconds": 5.0, "line": "list-topics  --long --help"}),
        ("watch list-topics", "watch", {"line": "list-topics"}),
        ("watch --no-color 5 topics > f", "watch",
         {"no-color": True, "seconds": 5.0, "line": "topics"}),
        ("watch 5 'topics | wc -l' | cat", "watch", {"seconds": 5.0, "line": "topics | wc -l"}),
        ("help", "help", {}),
        ("help spark audit # x", "help", {"about": "spark audit"}),
    ],
)  # fmt: skip
def test_lines(text: str, command: str, values: dict[str, Any]) -> None:
    invocation = read(text)
    assert invocation.command.name == command
    assert given(invocation) == values


def test_absent_values_have_their_defaults() -> None:
    values = read("create-topic t").values
    assert values == {
        "topic": ("t",), "from-file": None, "partitions": None, "replication-factor": None,
        "replica-assignment": None, "config": (), "broker": None, "command-config": None,
        "adminclient-property": (), "address-map": (), "via": None, "profile": None, "output": None,
        "safe-csv": False,
        "no-color": False, "timeout": None, "deadline": None, "help": False,
        "dry-run": False, "yes": False, "verbose": False, "quiet": False,
    }  # fmt: skip


@pytest.mark.parametrize(
    "text",
    ["create-topic --help", "create-topic -h a", "--help --create-topic", "create-topic --x --help",
     "alter-topic --partitions x --help", "topic --help extra"],
)  # fmt: skip
def test_help_complains_of_nothing(text: str) -> None:
    assert read(text)["help"] is True


@pytest.mark.parametrize(
    ("text", "blamed", "message", "hint"),
    [
        ("lst-topics", "lst-topics", "unknown command 'lst-topics'", "Did you mean list-topics?"),
        ("--lst-topics", "--lst-topics", "unknown command '--lst-topics'", "mean --list-topics?"),
        ("show", "show", "unknown command 'show'", "Did you mean list-topics?"),
        ("zzz", "zzz", "unknown command 'zzz'", "Run help"),
        ("--broker h:1", "--broker", "no command before '--broker'", "help"),
        ("--list-topics --describe-topic", "--describe-topic", "with another command", ""),
        ("spark adit", "adit", "spark requires one of audit, sql", "Did you mean 'spark audit'?"),
        ("list-topics --lng", "--lng", "unknown option '--lng' for list-topics", "mean --long?"),
        ("list-topics --partitions=3", "--partitions", "unknown option '--partitions'",
         "--partitions is an option of create-topic, alter-topic"),
        ("delete-topic a --brokers h:1", "--brokers", "unknown option", "Did you mean --broker?"),
        ("delete-topic a —dry-run", "—dry-run", "'—dry-run' starts with a typographic dash",
         "Did you mean --dry-run?"),
        ("alter-topic a –partitions=3", "–partitions=3", "typographic dash", "mean --partitions?"),
        ("alter-topic a − --partitions 3", "−", "typographic dash", "Put -- before"),
        ("delete-topic a --dry run", "--dry", "unknown option", "Did you mean --dry-run?"),
        ("list-topics --secret 3", "--secret", "unknown option '--secret'", ""),
        ("list-topics --zookeeper z:1", "--zookeeper", "unknown option", "--broker HOST:PORT"),
        ("list-topics --sandbox", "--sandbox", "unknown option", "option of kafka.sh itself"),
        ("delete-topic -t", "-t", "unknown option '-t'", "-: -- -t"),
        ("list-topics --dry-run", "--dry-run", "unknown option '--dry-run'", ""),
        ("list-topics --long=1", "--long", "--long does not take a value", ""),
        ("list-topics --output", "--output", "--output requires a value",
         "Use one of: table, json, yaml, csv."),
        ("create-topic t --config --partitions 3", "--config", "--config requires a value",
         "Use --config KEY=VALUE."),
        ("create-topic t --config -- 3", "--config", "--config requires a value", ""),
        ("create-topic t --partitions 3x", "3x", "--partitions must be an integer, got '3x'", ""),
        ("create-topic t --partitions='3 x'", "3 x", "an integer, got '3 x'", ""),
        ("create-topic t --partitions ''", "''", "an integer, got ''", ""),
        ("list-topics --output jsn", "jsn", "must be one of table, json, yaml, csv, got 'jsn'",
         "Did you mean json?"),
        ("list-topics --deadline 3x", "3x", "--deadline must be a duration", "Use a unit"),
        ("list-topics --timeout 3s", "--timeout", "unknown option '--timeout'", "Use --deadline"),
        ("reset-offsets g --to 1 --throttle 1x", "1x", "--throttle must be a rate", "KiB"),
        ("reset-offsets g --shift 1", "reset-offsets", "reset-offsets requires --to", ""),
        ("reset-offsets --to 1", "reset-offsets", "reset-offsets requires GROUP", ""),
        ("reset-offsets g h --to 1", "h", "unexpected argument 'h'", ""),
        ("reset-offsets g --group h --to 1", "g", "unexpected argument 'g'", ""),
        ("reset-offsets g --to 1 --to 2", "2", "--to is set twice", ""),
        ("list-topics long", "long", "unexpected argument 'long'", "Did you mean --long?"),
        ("create-topic t --partitions 1 --replica-assignment 1", "--replica-assignment",
         "--replica-assignment cannot be used with --partitions", ""),
        ("create-topic", "create-topic", "create-topic requires one of TOPIC, --from-file", ""),
        ("create-topic t --from-file f", "--from-file", "cannot be used with", ""),
        ("alter-topic t", "alter-topic", "at least one of --partitions, --config", ""),
        ("alter-configs --topic t --group g k=v", "--group", "--group cannot be used with", ""),
        ("create-topic t --replica-assignment 1:2,2:x", "2:x", "must be broker IDs", "preferred"),
        ("create-topic t --replica-assignment 1:1", "1:1", "distinct brokers", ""),
        ("create-topic t --replica-assignment 1:2,3", "3", "same number of replicas", ""),
        ("alter-configs t k=v '=w'", "=w", "CONFIG must be key=value, got '=w'", ""),
        ("alter-topic t --delete-config k1,,k2", "'k1,,k2'", "", ""),
        ("alter-topic t --delete-config k1,k=2", "k=2", "must be keys such as k1,k2", "without"),
        ("config-command --alter --add-config 'k=v,x'", "x", "must be k1=v1,k2=", "brackets"),
        ("config-command --alter --add-config k=[a,b", "[", "a closing ]", ""),
        ("config-command --alter --add-config 'k=[::1]:9092'", ":", "a comma after ]", "Escape"),
        ("describe-topic '/a(/'", "/a(/", "invalid regular expression", ""),
        ("describe-topic /a", "/a", "has no closing /", "Quote it"),
        ("describe-topic /a|b/", "/a", "has no closing /", "Quote | to use it"),
        ("list-topics |", "|", "no command after |", ""),
        ("list-topics 'a", "'", "unclosed quote", ""),
        ("watch 5 topics > f --long", "--long", "unexpected words after > FILE", "at the end"),
    ],
)  # fmt: skip
def test_wrong_lines(text: str, blamed: str, message: str, hint: str) -> None:
    with pytest.raises(UsageError) as caught:
        read(text)
    error = caught.value
    assert message in error.message
    assert hint in error.hint
    assert error.text == text
    assert error.span is not None, "the error points at no word"
    if blamed != "'k1,,k2'":
        assert text[slice(*error.span)] == blamed
    assert error.status == 2


def test_errors_of_a_command_give_its_usage() -> None:
    with pytest.raises(UsageError) as caught:
        read("describe-topic --x")
    assert caught.value.usage == usage(registry.DESCRIBE_TOPIC)
    with pytest.raises(UsageError) as caught:
        read("topic --x")
    assert caught.value.usage == usage(registry.DESCRIBE_TOPIC, "topic"), "not as it was typed"
    assert caught.value.usage.startswith("topic [TOPIC...]")
    with pytest.raises(UsageError) as caught:
        read("create-topic a --partitions many")
    assert caught.value.usage == "" and caught.value.hint == "Run help create-topic."


@pytest.mark.parametrize(
    ("command", "line"),
    [
        (registry.DESCRIBE_TOPIC, "describe-topic [TOPIC...] [--under-replicated-partitions] "
         "[--unavailable-partitions] [common options]"),
        (registry.CREATE_TOPIC, "create-topic (TOPIC... | --from-file FILE) [--partitions N] "
         "[--replication-factor N] [--replica-assignment B:B,B:B] "
         "[--config KEY=VALUE]... [--timeout DURATION] [common options]"),
        (registry.ALTER_CONFIGS, "alter-configs [TOPIC... | (--broker-id N)... | "
         "(--group GROUP)...] [CONFIG...] [--delete-config KEYS]... [--append KEY=VALUE]... "
         "[common options]"),
        (registry.ALTER_TOPIC, "alter-topic TOPIC... (--partitions N | --config KEY=VALUE "
         "| --delete-config KEYS)... [common options]"),
        (registry.RESET_OFFSETS, "reset-offsets GROUP --to TEXT [--shift N] "
         "[--throttle RATE] [--client-property KEY=VALUE]... [--throttles RATE]... "
         "[common options]"),
    ],
)  # fmt: skip
def test_usage(command: Any, line: str) -> None:
    assert usage(command) == line


def test_spans_point_at_values_also_inside_a_word() -> None:
    text = "config-command --alter --add-config 'k1=v1,k2=[a,b]' --entity-type=topics"
    spans = read(text).spans
    assert [text[slice(*span)] for span in spans["add-config"]] == ["k1=v1", "k2=[a,b]"]
    assert [text[slice(*span)] for span in spans["entity-type"]] == ["topics"]
    assert [text[slice(*span)] for span in spans["alter"]] == ["--alter"]


def test_spans_of_a_short_form_point_at_what_was_typed() -> None:
    text = "broker 7 k1"
    invocation = read(text)
    assert [text[slice(*span)] for span in invocation.spans["broker-id"]] == ["7"]
    with pytest.raises(UsageError) as caught:
        read("broker")
    assert caught.value.span == (0, 6)


def test_words_of_argv() -> None:
    line = words_of(["--broker", "x:1", "--describe-topic", "--topic", "a b", "|"])
    invocation = parse(line, REGISTRY)
    assert given(invocation) == {"broker": "x:1", "topic": ("a b", "|")}
    assert invocation.text == line.text


def test_a_name_may_start_with_a_typographic_dash() -> None:
    for text in ("delete-topic '—a'", "delete-topic -- —a", "delete-topic --topic —a"):
        assert read(text)["topic"] == ("—a",)
    assert parse(words_of(["delete-topic", "--", "—a"]), REGISTRY)["topic"] == ("—a",)
    assert parse(words_of(["delete-topic", "— a"]), REGISTRY)["topic"] == ("— a",)
    with pytest.raises(UsageError, match="typographic dash"):
        parse(words_of(["delete-topic", "a", "—dry-run"]), REGISTRY)


def test_a_very_long_line_is_answered() -> None:
    with pytest.raises(UsageError) as caught:
        read("list-topics " + "x" * 1_000_000)
    assert len(caught.value.message) < 100
