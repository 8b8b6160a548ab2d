"""The commands that undo changes parse back, and undo the changes."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from kafka_shell.base.plans import Change, Resource
from kafka_shell.base.units import (
    ConfigType,
    format_config_value,
    numbers_in,
    parse_config_value,
)
from kafka_shell.output.change_kinds import undo_lines, unknown_undo_lines
from tests.support.undo_lines import read, subject

topic_names = st.from_regex(r"[a-zA-Z0-9._-]{1,30}", fullmatch=True)
# Groups and subscriptions may be called anything that stands on one line.
any_name = st.text(st.characters(exclude_categories=("Cc", "Cs")), min_size=1, max_size=20)
fields = st.from_regex(r"[a-z][a-z0-9_]*(\.[a-z0-9_-]+){0,4}", fullmatch=True)
raw_values = st.text(st.characters(exclude_categories=("Cc", "Cs")), max_size=20)
resources = st.one_of(
    st.builds(Resource, st.just("topic"), topic_names),
    st.builds(Resource, st.just("broker"), st.integers(0, 999).map(str)),
    st.just(Resource("broker-default", "")),
    st.builds(Resource, st.just("logger"), st.integers(0, 999).map(str)),
    st.builds(Resource, st.sampled_from(["group", "client-metrics"]), any_name),
)


@st.composite
def alterations(draw: st.DrawFn) -> list[Change]:
    resource = draw(resources)
    chosen = draw(st.lists(fields, min_size=1, max_size=4, unique=True))
    values = st.none() | raw_values
    return [Change(resource, "alter", field, draw(values), draw(values)) for field in chosen]


@given(alterations())
def test_an_undo_line_parses_to_the_state_before(changes: list[Change]) -> None:
    real = [change for change in changes if change.before != change.after]
    lines = undo_lines(changes)
    if not real:
        assert lines == ()
        return
    (line,) = lines
    invocation = read(line)
    assert invocation.command.name == "alter-configs"
    assert subject(invocation) == real[0].resource
    assert dict(invocation["config"]) == {
        change.field: _shown(change) for change in real if change.before is not None
    }
    assert set(invocation["delete-config"]) == {
        change.field for change in real if change.before is None
    }
    assert not invocation["append"] and not invocation["subtract"]


def _shown(change: Change) -> str:
    of_topic = change.resource.kind == "topic"
    value = str(change.before)
    return format_config_value(change.field, ConfigType.UNKNOWN, value) if of_topic else value


@pytest.mark.parametrize(
    ("kind", "value", "told"),
    [("topic", "2592000000", "30d"), ("topic", "-1", "-1"), ("topic", "2592000001", "2592000001ms"),
     ("broker", "2592000000", "2592000000")],
)  # fmt: skip
def test_a_duration_of_a_topic_has_its_unit(kind: str, value: str, told: str) -> None:
    change = Change(Resource(kind, "1"), "alter", "retention.ms", value, "604800000")
    (line,) = undo_lines([change])
    assert read(line)["config"] == (("retention.ms", told),)
    assert parse_config_value("retention.ms", ConfigType.LONG, told) == value


@given(st.lists(topic_names, min_size=1, max_size=4, unique=True))
def test_created_topics_are_deleted_the_last_first(names: list[str]) -> None:
    lines = undo_lines([Change(Resource("topic", name), "create", after="...") for name in names])
    read_back = [read(line) for line in lines]
    assert all(invocation.command.name == "delete-topic" for invocation in read_back)
    assert [invocation["topic"] for invocation in read_back] == [(n,) for n in reversed(names)]


@given(alterations())
def test_what_cannot_be_taken_back_has_no_line(changes: list[Change]) -> None:
    from kafka_shell.base.structs import replace

    assert undo_lines([replace(change, reversible=False) for change in changes]) == ()


@given(alterations(), alterations())
def test_each_resource_has_its_line_the_last_changed_first(
    first: list[Change], second: list[Change]
) -> None:
    assume(first[0].resource != second[0].resource)
    assert undo_lines([*first, *second]) == (*undo_lines(second), *undo_lines(first))


def test_a_topic_that_was_created_and_configured_is_only_deleted() -> None:
    topic = Resource("topic", "orders")
    changes = [
        Change(topic, "create", after="3 partitions"),
        Change(topic, "alter", "retention.ms", None, "1"),
    ]
    assert undo_lines(changes) == ("delete-topic orders",)


def test_the_topics_of_dynamic_client_configs_are_never_deleted() -> None:
    """They hold the configs of every administrator, not of the one who came first."""
    made = [Change(Resource("topic", name), "create", after="...")
            for name in ("__client_configs", "__client_config_registrations")]  # fmt: skip
    config = Change(Resource("client-config", "user alice"), "alter", "acks", None, "1")
    assert undo_lines([*made, config]) == (
        "alter-client-configs --user alice --delete-config acks",
    )
    assert undo_lines(made) == () and unknown_undo_lines([*made, config])[0].startswith(
        "alter-client-"
    )
    assert len(unknown_undo_lines([*made, config])) == 1


def test_unknown_resources_have_no_undo_line() -> None:
    assert undo_lines([Change(Resource("weather", "mild"), "create", after="x")]) == ()
    assert undo_lines([Change(Resource("weather", "mild"), "alter", "x", 1, 2)]) == ()


def test_acls_are_undone_several_at_a_time() -> None:
    names = [f"allow User:u{number} Read on topic t" for number in range(10)]
    added = [Change(Resource("acl", name), "create") for name in names]
    removed = Change(Resource("acl", "deny User:eve All on topic t"), "delete")
    first, second, other = undo_lines([Change(Resource("topic", "t"), "create"), removed, *added])
    assert first.count("--remove") == 8 and "User:u9" in first
    assert second.count("--remove") == 2 and "--add 'deny User:eve All on topic t'" in second
    assert other == "delete-topic t"


@given(st.lists(st.integers(1, (1 << 31) - 1), min_size=1, max_size=4, unique=True))
def test_schemas_are_restored_by_any_ids(ids: list[int]) -> None:
    deleted = [
        Change(Resource("subject", "a"), "alter", f"version {number}", before=f"ID {id}")
        for number, id in enumerate(ids, 1)
    ]
    (line,) = undo_lines(deleted)
    assert numbers_in(read(line)["id"]) == {*ids}
