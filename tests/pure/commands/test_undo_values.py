"""Undo commands restore the exact values, whatever characters they contain."""

from __future__ import annotations

from hypothesis import assume, given
from hypothesis import strategies as st

from kafka_shell.admin.acls.model import (
    AclBinding,
    AclOperation,
    AclPermission,
    AclResourceType,
    PatternType,
)
from kafka_shell.admin.client_configs import keys
from kafka_shell.admin.client_configs.model import ClientEntity
from kafka_shell.admin.quotas.model import DEFAULT, QuotaEntity
from kafka_shell.audit import drift
from kafka_shell.base.plans import Change, Resource
from kafka_shell.commands import REGISTRY
from kafka_shell.commands.acls.rules import parse_rule
from kafka_shell.language.command import Invocation
from kafka_shell.language.parse import parse
from kafka_shell.language.tokens import logical_lines, tokenize
from kafka_shell.output.change_kinds import undo_lines, unknown_undo_lines

# Whatever a cluster may hold: control characters, line breaks, quotes, other alphabets, dashes.
SPECIAL = st.sampled_from(
    ["\r\n", "\n!touch PWNED\n", "'", '"', "\\", "--yes", "=", ",", "[", "]", "#", "|", ">", "!",
     "\t", "\x1b", "\x00", "\u2028", "\u202e", "\xa0", "$(x)", "/re/", " ", "*", ";", "&&"]
)  # fmt: skip
texts = st.lists(SPECIAL | st.text(st.characters(exclude_categories=("Cs",)), max_size=5)).map(
    "".join
)
names = texts.filter(bool)
fields = st.from_regex(r"[a-z][a-z0-9_]*(\.[a-z0-9_-]+){0,4}", fullmatch=True)
topics = st.from_regex(r"[a-zA-Z0-9._-]{1,30}", fullmatch=True)


def read(line: str) -> Invocation:
    """The line as a script reads it back from a file of this very text."""
    rows = [row + "\n" for row in f"{line}\nlist-topics".split("\n")]
    first, second = (text for _, text in logical_lines(rows))
    assert second == "list-topics", "the line reaches into the next"
    return parse(tokenize(first), REGISTRY)


def undone(*changes: Change) -> Invocation:
    (line,) = undo_lines(changes)
    (unknown,) = unknown_undo_lines(changes)
    assert read(unknown).values == read(line).values | (
        {"if-exists": True} if line.startswith("delete-topic") else {}
    )
    return read(line)


@given(st.sampled_from(["group", "client-metrics"]), names, fields, texts)
def test_configs(kind: str, name: str, field: str, value: str) -> None:
    # A list of subscriptions cannot select one whose name is only commas and blanks.
    assume(kind == "group" or name.strip(", "))
    found = undone(Change(Resource(kind, name), "alter", field, value, f"{value}x"))
    assert found.command.name == "alter-configs"
    assert found[kind] == (name,)
    assert found["config"] == ((field, value),)


@given(names, names | st.none(), fields, texts | st.none())
def test_client_configs(user: str, client: str | None, field: str, value: str | None) -> None:
    entity = ClientEntity(user, client)
    found = undone(Change(entity.resource, "alter", field, value, f"{value}x"))
    assert found["user"] == (user,)
    assert found["client-id"] == (() if client is None else (client,))
    if value is None:
        assert (found["config"], found["delete-config"]) == ((), (field,))
    else:
        assert (found["config"], found["delete-config"]) == (((field, value),), ())


@given(names | st.just(DEFAULT) | st.none(), names | st.just(DEFAULT) | st.none())
def test_quotas(user: object, client: object) -> None:
    if user is None and client is None:
        return
    entity = QuotaEntity(user=user, client_id=client)  # type: ignore[arg-type]
    found = undone(Change(entity.resource, "alter", "producer_byte_rate", 1024.0, 5.0))
    assert found["quota"] == (("producer_byte_rate", "1024"),)
    for option, wanted in (("user", user), ("client-id", client)):
        assert found[f"{option}-default"] is (wanted is DEFAULT)
        assert found[option] == ((wanted,) if isinstance(wanted, str) else ())


@given(names)
def test_scram_credentials(user: str) -> None:
    found = undone(Change(Resource("user", user), "alter", "SCRAM-SHA-512", None, "4096 rounds"))
    assert found.command.name == "scram-credentials"
    assert user in (found["username"], *(found["username"] or ()))


@given(names, names, st.sampled_from(["create", "delete"]))
def test_acls(principal: str, name: str, verb: str) -> None:
    binding = AclBinding(
        f"User:{principal}", "*", AclOperation.READ, AclPermission.ALLOW, AclResourceType.GROUP,
        name, PatternType.LITERAL,
    )  # fmt: skip
    found = undone(Change(binding.resource, verb))
    option = "remove" if verb == "create" else "add"
    (rule,) = found[option]
    if verb == "delete":
        assert list(parse_rule(rule).bindings(())) == [binding]
    else:
        (what,) = parse_rule(rule, remove=True).filters(())
        assert (what.principal, what.name) == (binding.principal, binding.name)


@given(names)
def test_tokens(token: str) -> None:
    (line,) = undo_lines([Change(Resource("token", token), "create")])
    assert line.startswith("expire-token ")


@given(names, topics, st.integers(0, 99), st.integers(0, 1 << 40) | st.none())
def test_offsets(group: str, topic: str, partition: int, offset: int | None) -> None:
    field = f"{topic}:{partition}"
    found = undone(Change(Resource("group-offsets", group), "alter", field, offset, 9**20))
    assert (*found["groups"], *found["group"]) == (group,)
    spelled = "none" if offset is None else str(offset)
    assert found["offset"] == (f"{topic}:{partition}={spelled}",)


@given(topics, names)
def test_log_dirs(topic: str, folder: str) -> None:
    about = Resource("replica", f"{topic}:3 on broker 2")
    found = undone(Change(about, "alter", "log directory", folder, f"{folder}x"))
    assert found["log-dir"] == folder


@given(names)
def test_rollback_files(path: str) -> None:
    found = undone(Change(Resource("rollback-file", path), "create", after="1 partition"))
    assert found["reassignment-json-file"] == path


@given(topics)
def test_topics(name: str) -> None:
    assert undone(Change(Resource("topic", name), "create", after="x"))["topic"] == (name,)


def test_a_field_altered_twice_is_restored_to_its_first_value() -> None:
    """A throttle that was set and lifted in one change."""
    topic = Resource("topic", "t")
    first = Change(topic, "alter", "a", None, "1")
    assert undo_lines([first, Change(topic, "alter", "a", "1", None)]) == ()
    assert undo_lines([first, Change(topic, "alter", "a", "1", "2")]) == (
        "alter-configs t --delete-config a",
    )
    other = Change(topic, "alter", "a", "0", "1"), Change(topic, "alter", "a", "1", "2")
    assert undo_lines(other) == ("alter-configs t a=0",)


# -- what audits print -----------------------------------------------------------------------------


@given(st.sampled_from(sorted(keys.KEYS)), names, texts)
def test_drift_of_a_client_config_is_one_line(key: str, user: str, value: str) -> None:
    row = {"user": user, "client_id": None, "key": key}
    was = {"value": value, "entity": "user x"}
    line, _ = drift.undo("client_configs", row, was, {"value": "1", "entity": "user x"}, "value")
    if value.isprintable():
        assert read(line)["config"] == ((key, value),)
    else:
        assert line == "", "what would hold control characters is left out"
