"""Splitting argv: options of the program and the connection may precede the command."""

from __future__ import annotations

import pytest

from kafka_shell.base.errors import UsageError
from kafka_shell.commands import REGISTRY
from kafka_shell.language.argv import split

SPELLINGS = [
    spelling
    for command in REGISTRY
    for spelling in (
        command.name,
        *([f"--{command.name}"] if command.verb_noun else []),
        *(short.word for short in command.shorts),
    )
]
# Words before the command -> what they are of the connection, and what is left to the command.
BEFORE: dict[tuple[str, ...], tuple[dict[str, object], tuple[str, ...]]] = {
    ("--broker=h:9092",): ({"broker": "h:9092"}, ()),
    ("--broker", "h:9092"): ({"broker": "h:9092"}, ()),
    ("--bootstrap-server=h:9092",): ({"broker": "h:9092"}, ()),
    ("--profile=",): ({"profile": ""}, ()),
    ("--profile=dev", "--broker=h:9092"): ({"profile": "dev", "broker": "h:9092"}, ()),
    ("--command-config=a=b",): ({"command-config": "a=b"}, ()),
    ("--adminclient-property=k=v", "--adminclient-property=l=w"): (
        {"adminclient-property": ("k=v", "l=w")},
        (),
    ),
    ("--output=json",): ({}, ("--output=json",)),
    ("--deadline=5s", "--profile=dev"): ({"profile": "dev"}, ("--deadline=5s",)),
    ("--timeout=", "--broker=h:9092"): ({"broker": "h:9092"}, ("--timeout=",)),
}


@pytest.mark.parametrize("before", BEFORE, ids=" ".join)
def test_options_stand_before_every_command(before: tuple[str, ...]) -> None:
    connection, left = BEFORE[before]
    for spelling in SPELLINGS:
        words = spelling.split()
        found = split([*before, *words], REGISTRY)
        assert found.connection == connection, spelling
        assert found.command[0] == words[0].removeprefix("--"), "the command is found"
        assert sorted(found.command[1:]) == sorted([*words[1:], *left]), spelling
        assert found == split([*words, *before], REGISTRY), "and alike when they stand behind it"


@pytest.mark.parametrize("broker", [["--broker", "1"], ["--broker=1"]], ids=" ".join)
def test_a_bare_number_after_config_commands_broker_is_its_entity(broker: list[str]) -> None:
    found = split(["--config-command", "--describe", *broker], REGISTRY)
    assert found.connection == {}
    assert found.command == ("config-command", "--describe", *broker)


@pytest.mark.parametrize("words", [["--export"], ["--apply", "x"], ["--broker=h:1", "--undo"]])
def test_a_command_without_a_flag_spelling_is_named(words: list[str]) -> None:
    with pytest.raises(UsageError) as caught:
        split(words, REGISTRY)
    name = next(word for word in words if word in ("--export", "--apply", "--undo"))
    assert str(caught.value) == f"unknown option {name}"
    assert caught.value.hint.endswith(f"kafka.sh {name[2:]}")


def test_an_option_with_the_name_of_a_command_is_an_option() -> None:
    found = split(["--topics", "a", "--export", "f", "--reassign-partitions"], REGISTRY)
    assert found.command[0] == "reassign-partitions"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("delete-topic orders --brokers prod:9092 --yes", "--brokers requires --sandbox"),
        ("--brokers 3 topics", "--brokers requires --sandbox"),
        ("delete-topic orders --port 9092", "--port requires --sandbox"),
        ("--list-topics --secure", "--secure requires --sandbox"),
        ("topics --empty", "--empty requires --sandbox"),
        ("--kafka-version 3.9", "--kafka-version requires --sandbox"),
        ("--keep", "--keep requires --sandbox"),
        ("delete-topic a --keep-going", "--keep-going cannot be used with a command"),
        ("delete-topic a --version", "--version cannot be used with a command"),
        ("--completion bash topics", "--completion cannot be used with a command"),
        ("--shell topics", "--shell cannot be used with a command"),
        ("--sandbox --brokers 3 --keep topics", ""),
        ("--sandbox topics --empty", ""),
        ("--keep-going --shell", ""),
        ("sandbox start --brokers 3", ""),
        ("rebalance --brokers 1,2", ""),
    ],
)
def test_an_option_of_the_program_without_effect_is_refused(words: str, message: str) -> None:
    found = split(words.split(), REGISTRY)
    if not message:
        found.check()
        return
    with pytest.raises(UsageError) as caught:
        found.check()
    assert str(caught.value) == message
    assert ("--broker?" in caught.value.hint) == ("--brokers" in words)


@pytest.mark.parametrize(
    "line",
    [
        "rehearse rebalance --brokers 1,2",
        "rehearse --keep-going rebalance --brokers 1,2",
        "watch 5 source x --keep-going",
        "watch 5 config-command --describe --broker 1",
        "watch --output json 5 rehearse sandbox start --port 1 --keep",
    ],
)
def test_a_line_in_a_command_keeps_its_options(line: str) -> None:
    words = line.split()
    assert split(words, REGISTRY).command == tuple(words)
    found = split([*words, "--broker", "h:1"], REGISTRY)
    assert (found.connection, found.program) == ({"broker": "h:1"}, {})
    assert found.command == tuple(words)
