"""What is being typed, for any text and position. `|` marks the cursor in these tests."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_shell.commands.configs.kinds import (
    CONFIG_KEY,
    CONFIG_KEYS,
    CONFIG_PAIR,
    CONFIG_PAIRS,
    ENTITY,
)
from kafka_shell.commands.topics.spec import ASSIGNMENT, NEW_TOPIC
from kafka_shell.language import cursor, kinds
from kafka_shell.language.cursor import CompletionRequest, WordKind, completion_request
from kafka_shell.language.kinds import Kind
from kafka_shell.language.tokens import commands
from tests.support.declared_commands import REGISTRY


def at(marked: str) -> CompletionRequest:
    position = marked.index("¦")
    return completion_request(marked.replace("¦", ""), position, REGISTRY)


@pytest.mark.parametrize(
    ("marked", "word_kind", "prefix", "replaced"),
    [
        ("¦", WordKind.COMMAND, "", ""),
        ("lis¦", WordKind.COMMAND, "lis", "lis"),
        ("  li¦st", WordKind.COMMAND, "li", "li"),
        ("'li¦", WordKind.COMMAND, "li", "li"),
        ("spark ¦", WordKind.COMMAND, "spark ", "spark "),
        ("spark  au¦", WordKind.COMMAND, "spark au", "spark  au"),
        ("--li¦", WordKind.COMMAND, "--li", "--li"),
        ("--broker h:1 --des¦", WordKind.COMMAND, "--des", "--des"),
        ("--broker h¦", WordKind.VALUE, "h", "h"),
        ("nonsense ¦", WordKind.NOTHING, "", ""),
        ("list-topics ¦", WordKind.OPTION, "", ""),
        ("list-topics --lo¦", WordKind.OPTION, "--lo", "--lo"),
        ("topics --long¦", WordKind.OPTION, "--long", "--long"),
        ("list-topics -¦", WordKind.OPTION, "-", "-"),
        ("list-topics --¦", WordKind.OPTION, "--", "--"),
        ("list-topics --what=¦", WordKind.NOTHING, "", ""),
        ("list-topics --output=js¦", WordKind.VALUE, "js", "js"),
        ("list-topics --long=¦", WordKind.NOTHING, "", ""),
        ("describe-topic ord¦ers", WordKind.VALUE, "ord", "ord"),
        ("describe-topic a,svc-¦", WordKind.VALUE, "svc-", "svc-"),
        ("describe-topic 'a,s v¦", WordKind.VALUE, "s v", "s v"),
        ("describe-topic 'a b'¦", WordKind.VALUE, "a b", "'a b'"),
        ("describe-topic 'a,'b¦", WordKind.VALUE, "b", "b"),
        ("describe-topic 'a,b'c¦", WordKind.NOTHING, "", ""),
        ("describe-topic --topic=a,b¦", WordKind.VALUE, "b", "b"),
        ("describe-topic \"¦", WordKind.VALUE, "", ""),
        ("alter-configs orders retention.ms=7¦", WordKind.VALUE, "7", "7"),
        ("config-command --add-config 'a=1,b.c=[x,y¦", WordKind.VALUE, "y", "y"),
        ("topics > f¦", WordKind.VALUE, "f", "f"),
        ("topics >¦", WordKind.VALUE, "", ""),
        ("topics > f ¦", WordKind.OPTION, "", ""),
        ("topics | gr¦", WordKind.NOTHING, "", ""),
        ("!ls ¦", WordKind.NOTHING, "", ""),
        ("topics # x¦", WordKind.NOTHING, "", ""),
        ("watch 5 lis¦", WordKind.COMMAND, "lis", "lis"),
        ("watch 5 describe-topic a,b¦", WordKind.VALUE, "b", "b"),
        ("watch ¦", WordKind.COMMAND, "", ""),
        ("watch 5¦", WordKind.VALUE, "5", "5"),
        ("help alt¦", WordKind.COMMAND, "alt", "alt"),
        ("reset-offsets g ¦", WordKind.OPTION, "", ""),
        ("create-topic --from-file f ¦", WordKind.OPTION, "", ""),
        ("delete-topic -- -¦", WordKind.VALUE, "-", "-"),
    ],
)  # fmt: skip
def test_what_is_completed(marked: str, word_kind: WordKind, prefix: str, replaced: str) -> None:
    found = at(marked)
    text = marked.replace("¦", "")
    assert (found.word_kind, found.prefix, text[slice(*found.span)]) == (
        word_kind,
        prefix,
        replaced,
    )
    assert found.span[1] == marked.index("¦")


@pytest.mark.parametrize(
    ("marked", "kind", "owner", "part", "key"),
    [
        ("describe-topic ¦", kinds.TOPIC, "topic", "", ""),
        ("create-topic ¦ --partitions 3", NEW_TOPIC, "topic", "", ""),
        ("create-topic t --config ret¦", CONFIG_PAIR, "--config", "key", ""),
        ("create-topic t --config a.b=¦", CONFIG_PAIR, "--config", "value", "a.b"),
        ("create-topic t --config a.b='¦", CONFIG_PAIR, "--config", "value", "a.b"),
        ("create-topic t --replica-assignment 1:2,¦", ASSIGNMENT, "--replica-assignment", "", ""),
        ("alter-configs ¦", kinds.TOPIC, "topic", "", ""),
        ("alter-configs orders ¦", CONFIG_PAIR, "config", "key", ""),
        ("alter-configs ¦ k=v", kinds.TOPIC, "topic", "", ""),
        ("alter-configs orders ret¦ k=v", CONFIG_PAIR, "config", "key", ""),
        ("alter-configs --group g ¦", CONFIG_PAIR, "config", "key", ""),
        ("alter-configs ¦ --group g", CONFIG_PAIR, "config", "key", ""),
        ("alter-configs orders --delete-config a,b¦", CONFIG_KEYS, "--delete-config", "", ""),
        ("alter-configs orders a.ms=¦", CONFIG_PAIR, "config", "value", "a.ms"),
        ("describe-configs orders ¦", CONFIG_KEY, "key", "", ""),
        ("describe-configs --topic orders ¦", CONFIG_KEY, "key", "", ""),
        ("broker ¦", kinds.BROKER, "--broker-id", "", ""),
        ("broker 1 ¦", CONFIG_KEY, "key", "", ""),
        ("config-command --entity-type topics --entity-name ¦", kinds.TOPIC, "--entity-name",
         "", ""),
        ("config-command --entity-name ¦ --entity-type users", kinds.USER, "--entity-name", "", ""),
        ("config-command --entity-type users --entity-name u --entity-type clients --entity-name ¦",
         kinds.CLIENT_ID, "--entity-name", "", ""),
        ("config-command --entity-name ¦", ENTITY, "--entity-name", "", ""),
        ("config-command --broker ¦", kinds.BROKER, "--broker", "", ""),
        ("config-command --broker h:¦", kinds.HOST_PORT, "--broker", "", ""),
        ("config-command --add-config ¦", CONFIG_PAIRS, "--add-config", "key", ""),
        ("config-command --add-config a=1,b¦", CONFIG_PAIRS, "--add-config", "key", ""),
        ("config-command --add-config a=[1,2],b=¦", CONFIG_PAIRS, "--add-config",
         "value", "b"),
        ("list-topics --command-config ¦", kinds.FILE, "--command-config", "", ""),
        ("set ¦", kinds.CHOICE, "name", "", ""),
        ("set output ¦", kinds.TEXT, "value", "", ""),
        ("--broker x --alter-configs --topic t ¦", CONFIG_PAIR, "config", "key", ""),
        ("--topic ¦ --describe-topic", kinds.TOPIC, "topic", "", ""),
    ],
)  # fmt: skip
def test_values(marked: str, kind: Kind, owner: str, part: str, key: str) -> None:
    found = at(marked)
    assert found.word_kind is WordKind.VALUE
    parameter: Any = found.parameter
    assert (found.kind, parameter.name, found.part, found.key) == (kind, owner, part, key)


def names(found: CompletionRequest) -> set[str]:
    return {option.name for option in found.options}


def test_options_still_free() -> None:
    assert {"--long", "--exclude-internal", "--output", "--help"} <= names(at("list-topics ¦"))
    assert "--long" not in names(at("list-topics --long ¦"))
    assert "--long" not in names(at("list-topics ¦ --long"))
    assert "--long" in names(at("list-topics --long¦"))
    assert "--dry-run" not in names(at("list-topics ¦"))
    assert "--dry-run" in names(at("delete-topic ¦"))


def test_options_that_exclude_one_another() -> None:
    found = names(at("create-topic t --partitions 3 ¦"))
    assert not {"--replica-assignment", "--partitions", "--from-file"} & found
    assert {"--config", "--replication-factor"} <= found
    assert "--partitions" not in names(at("create-topic --replica-assignment 1 ¦"))
    assert "--config" in names(at("create-topic --config a=b ¦")), "it may be repeated"
    assert "--topic" in names(at("create-topic ¦"))
    assert "--secret" not in names(at("config-command ¦")), "it is hidden"


def test_the_connection_is_offered_where_a_broker_is_an_entity() -> None:
    found = names(at("config-command ¦"))
    assert {"--broker", "--bootstrap-server"} <= found


def test_words_of_the_rest_of_the_line() -> None:
    words = at("alter-configs orders --append k=v ret¦ --dry-run").words
    assert words == {"topic": ("orders",), "append": ("k=v",), "dry-run": ()}


def test_other_kinds_that_would_fit() -> None:
    assert at("alter-configs orders ret¦").alternatives == (kinds.TOPIC,)
    assert at("config-command --broker ¦").alternatives == (kinds.HOST_PORT,)
    assert at("config-command --bootstrap-server ¦").alternatives == ()


def test_an_open_quote_is_reported() -> None:
    assert at("describe-topic 'or¦").quote == "'"
    assert at('describe-topic "or¦').quote == '"'
    assert at("describe-topic 'or'¦").quote == ""
    assert at("describe-topic 'or¦ders'").quote == "'"


def test_pipes_and_shell_escapes_want_nothing_of_ours() -> None:
    assert at("topics | gr¦").word_kind is WordKind.NOTHING
    assert at("!l¦").word_kind is WordKind.NOTHING
    assert at("topics ¦").word_kind is not WordKind.NOTHING


SOUP = st.lists(
    st.sampled_from([
        " ", " ", "'", '"', "\\", "#", "|", ">", "/", ",", "=", "[", "]", "\n", "--", "-", "!", "a",
        "é", "list-topics", "topic", "spark", "sql", "watch 5 ", "help ", "alter-configs",
        "--topic", "--broker", "--entity-type", "users", "--entity-name", "config-command",
        "--add-config", "k=v", "k=[", "--yes", "--list-topics", "broker", "--output",
        "create-topic",
    ]),
    max_size=12,
).map("".join)  # fmt: skip


@given(SOUP | st.text(), st.integers(-2, 80))
def test_the_cursor_never_raises(text: str, position: int) -> None:
    found = completion_request(text, position, REGISTRY)
    position = max(0, min(position, len(text)))
    assert 0 <= found.span[0] <= found.span[1] == position


@given(SOUP)
def test_a_candidate_put_in_place_becomes_the_word(text: str) -> None:
    """where a name is typed outside quotes, taking `span`'s place keeps the line's other words."""
    found = completion_request(text, len(text), REGISTRY)
    last = commands(text)[-1]
    if found.word_kind is not WordKind.OPTION or found.quote or last.incomplete or last.problem:
        return
    replaced = text[: found.span[0]] + "--zzz"
    assert commands(replaced)[-1].words[-1].text == "--zzz"


def test_lines_within_lines_have_an_end() -> None:
    assert at("watch 5 " * 1000 + "¦").word_kind is WordKind.NOTHING


def test_a_very_long_line_wants_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """And is not even split into words."""
    monkeypatch.setattr(cursor, "commands", None)
    text = "describe-topic " + "a" * 10_000_000
    assert completion_request(text, len(text), REGISTRY).word_kind is WordKind.NOTHING
