"""Generated command lines quote every name, whatever characters it contains."""

from __future__ import annotations

import shlex

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_shell.admin.client_configs.model import ClientEntity
from kafka_shell.admin.quotas.model import QuotaEntity
from kafka_shell.base.errors import UsageError
from kafka_shell.base.plans import Change, Resource
from kafka_shell.base.text import join, positional, quote, with_option
from kafka_shell.commands import REGISTRY
from kafka_shell.language import kinds
from kafka_shell.language.command import Argument, Command, Option
from kafka_shell.language.kinds import select
from kafka_shell.language.parse import parse
from kafka_shell.language.render import render
from kafka_shell.language.scan import Role, Scope, find_command, scan
from kafka_shell.language.tokens import commands, tokenize
from kafka_shell.output.change_kinds import undo_lines
from kafka_shell.output.resource_kinds import command_for
from kafka_shell.pasted.kafka_tools import translate

# Groups, client ids, users and transactional ids may be called anything.
OPTIONS = sorted(
    {spelling for command in REGISTRY for spelling in Scope(command).spellings}
    | {"--", "-", "-x", "-h", "--help", "--yes", "--force", "--execute"}
)
HOSTILE = st.one_of(
    st.sampled_from(OPTIONS),
    st.builds("{}={}".format, st.sampled_from(OPTIONS), st.text(max_size=5)),
    st.sampled_from([
        "a; delete-topic b", "a && b", "a || b", "a & b", "a | b", "a > b", "!ls", "a #b", "#a",
        "'", '"', "\\", "a'b", 'a"b', "$(x)", "`x`", "a b", " a ", "/a", "/a/", "a,b", "a*", "a=b",
        "=", "[a", "a]", "é", "\u202ea", "a:0", "%", "$ a", "", "kafka-topics.sh",
    ]),
    st.text(st.characters(exclude_categories=("Cc", "Cs")), min_size=1, max_size=12),
)  # fmt: skip
NAMES = HOSTILE.filter(bool)


@given(HOSTILE | st.text(st.characters(exclude_categories=("Cs",))))
def test_a_quoted_word_is_one_word_here_and_in_a_shell(text: str) -> None:
    line = tokenize(f"x {quote(text)} y")
    assert [word.text for word in line.words] == ["x", text, "y"]
    assert line.problem is None and line.incomplete is None
    if "\0" not in text:
        assert shlex.split(f"x {quote(text)} y") == ["x", text, "y"]


# Every argument and every option with a value, of every command. Not the seconds of `watch`: a word
# that is no number begins the line after them.
PLACES: list[tuple[Command, Argument | Option]] = [
    *((command, each) for command in REGISTRY for each in command.arguments
      if each.kind not in (kinds.LINE, kinds.INTERVAL)),
    *((command, each) for command in REGISTRY for each in command.options
      if each.kind is not kinds.FLAG and not each.value_optional),
]  # fmt: skip


@settings(max_examples=40)
@given(NAMES)
def test_a_name_is_never_an_option(name: str) -> None:
    for command, parameter in PLACES:
        check_name(command, parameter, name)


def check_name(command: Command, parameter: Argument | Option, name: str) -> None:
    spelled = parameter.name if isinstance(parameter, Option) else parameter.option
    word = with_option(spelled, name) if isinstance(parameter, Option) else ""
    word = word or positional(spelled or "--", name)
    (line,) = commands(f"{command.name} {word}")
    assert line.problem is None and line.incomplete is None and line.redirect is None
    found = find_command(line.words, REGISTRY)
    assert found.command is command
    used = scan(found.rest, Scope(command))
    values = [use.value for use in used.uses if use.role in (Role.VALUE, Role.ARGUMENT)]
    assert [each for each in values if each] == [name]
    options = [use.parameter for use in used.uses if use.role is Role.OPTION]
    assert len(options) <= 1 and all(each.name == parameter.name for each in options if each)


@given(NAMES, NAMES, st.booleans())
def test_lines_about_clients_name_those_clients(user: str, client: str, quota: bool) -> None:
    if quota:
        about = QuotaEntity(user=user, client_id=client).resource
        change = Change(about, "alter", "consumer_byte_rate", None, 5.0)
    else:
        about = ClientEntity(user, client).resource
        change = Change(about, "alter", "client.rack", client, "x")
    (line,) = undo_lines([change])
    invocation = parse(tokenize(line), REGISTRY)
    assert invocation["user"] in (user, (user,))
    assert invocation["client-id"] in (client, (client,))
    assert not invocation["yes"] and not invocation["dry-run"]
    assert not quota or invocation["delete-config"] == ("consumer_byte_rate",)
    assert quota or invocation["config"] == (("client.rack", client),)


def groups_of(line: str) -> list[str]:
    """The groups that a line names, whichever exist: none of its words is a pattern."""
    invocation = parse(tokenize(line), REGISTRY)
    assert not any(map(kinds.is_pattern, invocation["groups"])), line
    assert not invocation.get("yes")
    return [*invocation["groups"], *invocation["group"]]


@given(HOSTILE, st.sampled_from(["group-offsets", "share-group-offsets"]))
def test_undo_names_exactly_that_group(group: str, kind: str) -> None:
    (line,) = undo_lines([Change(Resource(kind, group), "alter", "orders:0", 5, 7)])
    assert groups_of(line) == [group]
    assert parse(tokenize(line), REGISTRY)["offset"] == ("orders:0=5",)


@given(NAMES, st.sampled_from(["group", "group-offsets", "group-members"]))
def test_see_names_exactly_that_group(group: str, kind: str) -> None:
    assert groups_of(command_for(Resource(kind, group))) == [group]


@given(st.lists(NAMES, min_size=1, max_size=3, unique=True))
def test_pasted_names_stay_names(groups: list[str]) -> None:
    actions = {
        "delete-group": ["--delete"],
        "describe-group": ["--describe"],
        "reset-offsets": ["--reset-offsets", "--to-latest"],
    }
    for command, action in actions.items():
        words = ["kafka-consumer-groups.sh", *action, *(f"--group={each}" for each in groups)]
        line = translate(words, REGISTRY)
        assert line is not None and sorted(groups_of(line)) == sorted(groups)
        assert parse(tokenize(line), REGISTRY).command.name == command


@given(NAMES.filter(lambda name: not name.startswith("-")))
def test_groups_of_other_tools_are_no_patterns(group: str) -> None:
    line = translate(["rpk", "group", "delete", group], REGISTRY)
    assert line is not None and groups_of(line) == [group]


@given(HOSTILE, st.lists(HOSTILE, max_size=4))
def test_an_existing_name_is_never_a_pattern(group: str, others: list[str]) -> None:
    assert select([group], [*others, group]).names == (group,)


@given(NAMES)
def test_pasted_users_stay_users(user: str) -> None:
    words = ["kafka-configs.sh", "--alter", "--entity-type=users", f"--entity-name={user}"]
    for add, command in (
        ("consumer_byte_rate=5", "alter-quotas"),
        ("acks=1", "alter-client-configs"),
        ("SCRAM-SHA-256=[iterations=4096]", "scram-credentials"),
    ):
        line = translate([*words, "--add-config", add], REGISTRY)
        assert line is not None
        invocation = parse(tokenize(line), REGISTRY)
        assert invocation.command.name == command
        named = invocation.get("username") or invocation.get("user")
        assert named in (user, (user,))
        assert not invocation["yes"]


@given(NAMES, NAMES)
def test_the_journal_s_command_reads_back(group: str, other: str) -> None:
    for typed in (
        join(["delete-group", "--", group, other]),
        f"describe-group {positional('--group', group)}",
        f"reset-offsets {positional('--group', group)} --to latest",
    ):
        try:
            invocation = parse(tokenize(typed), REGISTRY)
        except UsageError:
            pytest.fail(f"{typed} is not read")
        assert parse(tokenize(render(invocation)), REGISTRY).values == invocation.values
