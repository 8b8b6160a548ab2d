"""Remedies: from the `fix` of a control to changes, commands and their undo."""

from __future__ import annotations

import json
import shlex

import pytest

from kafka_shell.audit.control import Control, Level
from kafka_shell.audit.evaluate import commands_of, finding
from kafka_shell.audit.remedy import changes_of, parse_fix, subject
from kafka_shell.commands import REGISTRY
from kafka_shell.commands.changes import can_plan
from kafka_shell.language.parse import parse
from kafka_shell.language.tokens import tokenize
from tests.support.places import CONTROLS as FOLDER

HOSTILE = [
    "--group=g", "g --yes", "g | sh", "a $(id)", "a`id`", "a\\", "*", "~root", "'", '"', "a;b",
]  # fmt: skip
CONTROL = Control("U01", "Title", Level.LOW, "About", "tests", "SELECT 1", FOLDER / "U01.sql")


def change(kind: str, name: str = "n", field: str = "", **values: str) -> str:
    return json.dumps([{"kind": kind, "name": name, "field": field, **values}])


@pytest.mark.parametrize(
    ("given", "remedy", "undo"),
    [
        (change("replicas", "orders", before="2", after="3"),
         "alter-topic orders --replication-factor 3", "alter-topic orders --replication-factor 2"),
        (change("replicas", "orders", after="3"), "alter-topic orders --replication-factor 3", ""),
        (change("racks", "orders", after="3"), "rebalance --racks --topics orders", ""),
        (change("load", "leaders", after="3.5"), "rebalance --only-leaders", ""),
        (change("load", "bytes", after="3.5"), "rebalance", ""),
        (change("leader", "orders:0", before="1", after="2"),
         "preferred-replica-leader-election orders:0", ""),
        (change("leader", "orders:0", after="2"),
         "elect-leaders orders:0 --election-type unclean", ""),
        (change("group", "billing"), "delete-group billing", ""),
        (change("transaction", "orders:0 at offset 5"),
         "abort-transaction orders:0 --start-offset 5", ""),
        (change("transactional-id", "t"), "fence-producer --transactional-id t", ""),
        (change("password", "alice", "SCRAM-SHA-512", after="8192"),
         "scram-credentials --username alice --add SCRAM-SHA-512 --iterations 8192", ""),
        (change("acl", "allow User:a All on topic *"),
         "alter-acls --remove 'allow User:a All on topic *'",
         "alter-acls --add 'allow User:a All on topic *'"),
        (change("feature", "f", before="1", after="2"),
         "update-features f=2", "update-features f=1"),
        (change("feature", "f", after="2"), "update-features f=2", ""),
    ],
)  # fmt: skip
def test_the_commands_follow_from_the_changes(given: str, remedy: str, undo: str) -> None:
    assert commands_of(changes_of(given)) == (remedy, undo)


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("kind", ["group", "transactional-id"])
def test_a_name_is_one_word_of_one_command(kind: str, name: str) -> None:
    (remedy, _) = commands_of(changes_of(change(kind, name)))
    invocation = parse(tokenize(remedy), REGISTRY)
    words = [*invocation.values.values()]
    assert any(name == word or name in (word if isinstance(word, tuple) else ()) for word in words)
    assert name in shlex.split(remedy)[-1]


@pytest.mark.parametrize("name", ["a\x1b[2J", "a\u202e", "a\nb"])
def test_a_name_that_is_not_printable_gets_no_remedy(name: str) -> None:
    row = {"cluster": "c", "resource": "r", "reason": "why", "remedy": change("group", name)}
    found = finding(CONTROL, "alarm", row)
    assert (found.remedy, found.changes) == ("", ()) and "not printable" in found.reason


def test_only_what_has_a_plan_is_applied_by_fix() -> None:
    planned = {
        kind: can_plan(changes_of(change(kind, "orders:0", "x", after="1"))[0])
        for kind in ("replicas", "racks", "leader", "load", "password")
    }
    assert [kind for kind, found in planned.items() if not found] == ["load", "password"]


def test_two_ways_to_move_a_topic_decide_the_same() -> None:
    moved, spread = (changes_of(change(kind, "a", after="3"))[0] for kind in ("replicas", "racks"))
    assert subject(moved) == subject(spread)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("retention.ms", "CONFIG = VALUE"),
        ("acl a = 1", "acl NAME"),
        ("replicas t f = 1", "replicas NAME = VALUE"),
        ("quota e = 1", "quota NAME FIELD = VALUE"),
        ("topic a b c = 1", "topic NAME FIELD = VALUE"),
        ("topics a b = 1", "one of acl, broker"),
    ],
)
def test_a_malformed_fix_is_rejected(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        parse_fix(text)


def test_an_election_is_irreversible_only_where_none_leads() -> None:
    assert parse_fix("leader resource = any").irreversible
    assert not parse_fix("leader resource = preferred was leader").irreversible
