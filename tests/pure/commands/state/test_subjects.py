"""The subjects of state files: what is read, refused and compared."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kafka_shell.base.errors import ShellError
from kafka_shell.commands.state.compare import differences
from kafka_shell.commands.state.files import document, json_text, load, yaml_text
from kafka_shell.commands.state.model import State
from kafka_shell.output.change_kinds import lines

TEXT = '{"type": "record", "name": "A", "fields": []}'


def loaded(folder: Path, **fields: Any) -> State:
    """The state of a file with the subject `a`."""
    file = folder / "state.json"
    file.write_text(json.dumps({"version": 1, "subjects": {"a": fields}}))
    return load(str(file))


def differing(one: State, other: State) -> list[str]:
    return [difference.field for difference in differences(one, other)]


def test_contracts_and_references_are_kept(tmp_path: Path) -> None:
    given = {
        "type": "AVRO",
        "compatibility": "FULL",
        "references": {"a=b": "c:1", "d.E": ":.staging:e:f:22"},
        "metadata": '{"properties": {"owner": "x"}}',
        "rule_set": '{"domainRules": []}',
        "schema": TEXT,
    }
    state = loaded(tmp_path, **given)
    for text in (json_text(document(state)), yaml_text(document(state))):
        (tmp_path / "again.yaml").write_text(text)
        assert load(str(tmp_path / "again.yaml")).parts == state.parts
    assert document(state)["subjects"]["a"] == given


WRONG = [
    {"references": ["foo"]}, {"references": {"a": "foo"}}, {"references": {"a": "b:²"}},
    {"references": {"a": ":1"}}, {"references": {"a": "b:0"}}, {"metadata": "{"},
    {"schema": "{"}, {"schema": "[" * 100_000},
]  # fmt: skip


@pytest.mark.parametrize("fields", WRONG, ids=str)
def test_wrong_values_are_refused_at_their_place(tmp_path: Path, fields: dict[str, Any]) -> None:
    with pytest.raises(ShellError, match=r"state\.json:1:"):
        loaded(tmp_path, **{"schema": TEXT, **fields})


SAME = [
    ('{"a": 1, "b": [2.50]}', '{"b":[2.5],"a":1.0}'),
    (TEXT, TEXT.replace(" ", "\n")),
    ("1e400", "10e399"),
]
OTHER = [
    ('{"a": 1, "a": 2}', '{"a": 2}'), ("1", "true"), ("1e400", "1e401"), ("1", '"1"'),
    ("0.1", "0.10000000000000000001"), ("1e99999999999999999999", "1e9"),
]  # fmt: skip


@pytest.mark.parametrize(("one", "other"), SAME)
def test_the_same_json_is_no_difference(tmp_path: Path, one: str, other: str) -> None:
    first, second = (loaded(tmp_path, schema=text) for text in (one, other))
    assert first.part("subjects")["a"]["schema"] == one, "as it is written"
    assert differing(first, second) == []


@pytest.mark.parametrize(("one", "other"), OTHER)
def test_other_json_is_a_difference(one: str, other: str) -> None:
    first, second = (State({"subjects": {"a": {"schema": text}}}) for text in (one, other))
    assert differing(first, second) == ["schema"]


def test_text_of_protobuf_is_compared_as_it_is(tmp_path: Path) -> None:
    one, other = 'syntax = "proto3";', 'syntax =  "proto3";'
    first, second = (loaded(tmp_path, schema=text, type="PROTOBUF") for text in (one, other))
    assert differing(first, second) == ["schema"]


def test_differences_have_commands_where_there_are_some(tmp_path: Path) -> None:
    full, none = loaded(tmp_path, schema=TEXT), State({"subjects": {}})
    changed = loaded(tmp_path, schema='"int"', metadata="{}")
    assert lines(each.change for each in differences(full, none)) == ["delete-schema a"]
    assert lines(each.change for each in differences(none, full)) == []
    for pair in ((full, changed), (changed, full)):
        assert lines(each.change for each in differences(*pair)) == []
