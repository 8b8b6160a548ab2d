"""A command without the subject of its change is refused; it never means all."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_shell.base.errors import UsageError
from kafka_shell.base.plans import Effect
from kafka_shell.base.structs import replace
from kafka_shell.commands import REGISTRY
from kafka_shell.commands.configs.kinds import CLIENT_METRICS, ENTITY
from kafka_shell.commands.groups.spec import GROUP_PARTITIONS
from kafka_shell.commands.schemas.spec import SUBJECT
from kafka_shell.commands.schemas.spec import SUBJECTS as SUBJECTS_OF_REGISTRY
from kafka_shell.commands.topics.spec import NEW_TOPIC
from kafka_shell.language import kinds
from kafka_shell.language.command import Argument, Command, Option
from kafka_shell.language.kinds import convert
from kafka_shell.language.parse import parse
from kafka_shell.language.render import render
from kafka_shell.language.tokens import tokenize
from kafka_shell.sandbox.state import Sandbox
from tests.support.in_process_shell import Shell

# Kinds whose value is what a change is about; an empty one means the default entity, or nothing.
NAMED = {
    kinds.TOPIC, NEW_TOPIC, kinds.TOPIC_PARTITIONS, kinds.BROKER, kinds.GROUP,
    CLIENT_METRICS, kinds.TRANSACTIONAL_ID, GROUP_PARTITIONS, SUBJECT, SUBJECTS_OF_REGISTRY,
}  # fmt: skip
SUBJECTS = NAMED | {
    kinds.GROUPS,
    kinds.GROUP_ID,
    ENTITY,
    kinds.USER,
    kinds.CLIENT_ID,
    kinds.IP,
    kinds.TOKEN,
}
# Flags that name a subject: a default, the cluster, all of something.
NAMING_FLAGS = {
    "broker-default", "entity-default", "user-default", "client-id-default", "ip-default",
    "cluster", "user-defaults", "client-defaults", "ip-defaults", "all-topic-partitions", "hanging",
    "default",
}  # fmt: skip
# These say more of a subject that something else names.
DETAILS = {
    "reset-offsets topic": "of the group; the plan lists its partitions, and asks",
    "reassign-partitions broker-list": "where to, not what",
    "rebalance topics": "fewer than all",
    "rebalance brokers": "between which, not what",
    "rebalance exclude-brokers": "between which, not what",
    "abort-transaction broker-id": "of what --hanging and the others name",
    "alter-log-dirs broker-id": "of the topics",
}
# KIP-4: no partitions mean all that another than the preferred leads. Only leadership moves.
MEANS_ALL = {"preferred-replica-leader-election"}
NO_SUBJECT = {"create-token", "alter-quorum", "update-features", "apply", "undo", "rebalance"}
CHANGES = [
    command
    for command in REGISTRY
    if command.effect is not Effect.READ and command.family != "audit"
]


@pytest.fixture
def shell(demo_sandbox: Sandbox, tmp_path: Path) -> Shell:
    return Shell(tmp_path, demo_sandbox.bootstrap)


def _name(parameter: Argument | Option) -> str:
    return parameter.name.removeprefix("--")


def _subjects(command: Command) -> Iterator[Argument | Option]:
    for parameter in (*command.arguments, *command.options):
        named = parameter.kind in SUBJECTS or _name(parameter) in NAMING_FLAGS
        if named and f"{command.name} {_name(parameter)}" not in DETAILS:
            yield parameter


def _without_subject(line: str) -> str:
    """The line without what it is about; empty where it does not say so, or only reads."""
    invocation = parse(tokenize(line), REGISTRY)
    values = dict(invocation.values)
    for parameter in _subjects(invocation.command):
        if values[_name(parameter)]:
            values[_name(parameter)] = () if parameter.many else None
    if values == invocation.values or values.get("describe"):
        return ""
    return render(replace(invocation, values={**values, "dry-run": True}))


LINES = {
    stripped: example.line
    for command in CHANGES
    for example in command.examples
    if command.name not in MEANS_ALL and (stripped := _without_subject(example.line))
}
ENTITY_TYPES = next(c for c in REGISTRY if c.name == "config-command").option("--entity-type")


def test_every_changing_command_is_tried_or_has_a_reason() -> None:
    tried = {parse(tokenize(line), REGISTRY).command.name for line in LINES.values()}
    assert {command.name for command in CHANGES} == tried | MEANS_ALL | NO_SUBJECT


@pytest.mark.parametrize("line", LINES)
def test_a_change_that_names_nothing_is_refused(shell: Shell, line: str) -> None:
    run = shell(line)
    assert run.status == 2, f"{LINES[line]}\n{run}"
    assert not run.out


@pytest.mark.parametrize("entity_type", ENTITY_TYPES.choices if ENTITY_TYPES else ())
@pytest.mark.parametrize("change", ["--add-config retention.ms=3", "--delete-config retention.ms"])
def test_an_alter_of_a_type_without_an_entity_is_refused(
    shell: Shell, entity_type: str, change: str
) -> None:
    run = shell(f"config-command --entity-type {entity_type} --alter {change} --yes")
    assert run.status == 2, str(run)
    assert f"--alter of {entity_type} requires --entity-name" in run.err


def test_of_two_types_each_is_named(shell: Shell) -> None:
    types = "--entity-type users --entity-name alice --entity-type clients"
    run = shell(f"config-command {types} --alter --add-config producer_byte_rate=3")
    assert run.status == 2, str(run)
    assert "--alter of users and clients requires" in run.err


def test_an_empty_name_is_refused() -> None:
    # These may be called " " and ",".
    exact = (kinds.GROUP, kinds.TRANSACTIONAL_ID, kinds.FILE, SUBJECT, SUBJECTS_OF_REGISTRY)
    places = [(command, each) for command in CHANGES
              for each in (*command.arguments, *command.options)
              if each.kind in (NAMED | {kinds.FILE})]  # fmt: skip
    assert len(places) > 30
    for command, parameter in places:
        for text in [""] if parameter.kind in exact else ["", " ", ","]:
            with pytest.raises(UsageError, match="must not be empty"):
                convert(parameter, text)
                pytest.fail(f"{command.name} {parameter.name} takes {text!r}")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("config-command --entity-type topics --entity-name ''", "topics has no default entity"),
        ("config-command --entity-type topics --entity-default", "topics has no default entity"),
        ("config-command --entity-type users --entity-name '<default>'", "--entity-default"),
        ("config-command --client '<default>'", "--entity-default"),
        ("config-command --topic ''", "must not be empty"),
        ("config-command --broker ''", "config-command"),
    ],
)
def test_invalid_entities_are_refused(shell: Shell, line: str, said: str) -> None:
    run = shell(f"{line} --alter --add-config a=1 --yes")
    assert run.status == 2 and said in run.err, str(run)


@pytest.mark.parametrize(
    ("named", "default"),
    [
        ("--entity-type users --entity-name ''", "user-default"),
        ("--user ''", "user-default"),
        ("--entity-type clients --entity-name ''", "client-id-default"),
        ("--user alice --client ''", "user alice client-id-default"),
    ],
)
def test_an_empty_name_is_the_default_entity(shell: Shell, named: str, default: str) -> None:
    run = shell.ok(f"config-command {named} --alter --add-config producer_byte_rate=7 --dry-run")
    assert run.out.startswith(f"{default}\n"), str(run)


@pytest.mark.parametrize("options", ["--user ''", "--user alice --client-id ''"])
def test_a_dynamic_client_config_has_a_user_by_name(shell: Shell, options: str) -> None:
    run = shell(f"alter-client-configs {options} acks=all --yes")
    assert run.status == 2 and "must not be empty" in run.err, str(run)


@pytest.mark.parametrize(
    "entity",
    [
        "--entity-type clients --entity-name app",
        "--entity-type users --entity-default",
        "--user alice --client-defaults",
    ],
)
def test_a_dynamic_config_requires_a_user(shell: Shell, entity: str) -> None:
    run = shell(f"config-command {entity} --alter --add-config acks=1")
    assert run.status == 2 and "which requires a named user" in run.err
