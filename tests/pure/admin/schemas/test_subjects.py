"""Plans of subjects and their undo, by the responses that Confluent's registry gives."""

from __future__ import annotations

import json
from typing import cast

import pytest
from msgspec import field

from kafka_shell.admin.schemas.client import Client
from kafka_shell.admin.schemas.settings import RegistrySettings
from kafka_shell.admin.schemas.subjects import (
    AlterLevel,
    DeleteVersions,
    RegisterSchemas,
    plan_deletion,
    plan_registration,
)
from kafka_shell.base.plans import Change, Plan
from kafka_shell.commands.changes import plan_undo
from kafka_shell.commands.schemas import run
from kafka_shell.context import Context
from kafka_shell.output.change_kinds import undo_lines
from kafka_shell.wire.http import HttpFailure

S = ":.staging:s"
PATH = "/subjects/%3A.staging%3As"
LEVEL, MODE = "/config/%3A.staging%3As", "/mode/%3A.staging%3As"


class Responding(Client):
    """A registry whose responses are given by method and path; all others are HTTP 404."""

    responses: dict[str, object] = field(default_factory=dict)

    def _fetch(self, url: str, sent: bytes | None, method: str | None) -> bytes:
        asked = f"{method or ('GET' if sent is None else 'POST')} {url.removeprefix('http://r')}"
        if asked not in self.responses:
            raise HttpFailure("not found", 404)
        return json.dumps(self.responses[asked]).encode()


def registry(versions: dict[int, int]) -> Responding:
    """A registry in which the subject has versions with these IDs. The same IDs of the default
    context are of other schemas."""
    found = Responding(RegistrySettings(("http://r",)))
    found.responses = {
        "GET /config": {"compatibilityLevel": "BACKWARD"},
        "GET /mode": {"mode": "READWRITE"},
        **{f"GET /schemas/ids/{id}": {"schema": "other"} for id in versions.values()},
    }
    show(found, versions)
    return found


def show(client: Responding, versions: dict[int, int], *, deleted: bool = False) -> None:
    """Show these versions, or show them as soft-deleted."""
    client.responses |= {
        f"GET {PATH}/versions": [] if deleted else list(versions),
        f"GET {PATH}/versions?deleted=true": list(versions),
    }
    for number, id in versions.items():
        shown = {"subject": S, "version": number, "id": id, "schema": f"schema {id}"}
        client.responses[f"GET {PATH}/versions/{number}?deleted=true"] = shown


def deleted(client: Responding, *versions: int) -> tuple[Change, ...]:
    plan = plan_deletion(client, [S], versions)
    assert plan.refused.ok
    return plan.changes


def undo(client: Responding, changes: tuple[Change, ...], patch: pytest.MonkeyPatch) -> Plan:
    patch.setattr(run, "client", lambda _: client)
    return plan_undo(changes, cast(Context, None))


def restored(plan: Plan) -> list[str]:
    return [
        schema.schema
        for step in plan.steps
        if isinstance(step, RegisterSchemas)
        for schema in step.schemas
    ]


def test_undo_restores_the_versions_of_the_context(monkeypatch: pytest.MonkeyPatch) -> None:
    client = registry({1: 1, 2: 5})
    changes = deleted(client)
    show(client, {1: 1, 2: 5}, deleted=True)
    assert restored(undo(client, changes, monkeypatch)) == ["schema 1", "schema 5"]


@pytest.mark.parametrize("now", [{1: 7}, {}])
def test_undo_refuses_versions_of_another_registry(
    monkeypatch: pytest.MonkeyPatch, now: dict[int, int]
) -> None:
    changes = deleted(registry({1: 1}))
    other = registry(now)
    other.responses["GET /schemas/ids/1"] = {"schema": "other"}
    plan = undo(other, changes, monkeypatch)
    assert not plan.steps and not plan.refused.ok and not plan.advice.warnings


def test_id_is_one_of_the_context() -> None:
    client = registry({1: 1})
    client.responses["GET /schemas/ids/1?subject=%3A.staging%3A"] = {"schema": "of the context"}
    plan = plan_registration(client, ":.staging:new", [1])
    assert restored(plan) == ["of the context"]
    assert restored(plan_registration(client, "new", [1])) == ["other"]


def test_level_of_a_deleted_subject_is_restored_first(monkeypatch: pytest.MonkeyPatch) -> None:
    client = registry({1: 1, 2: 2})
    client.responses[f"GET {LEVEL}"] = {"compatibilityLevel": "NONE"}
    changes = deleted(client)
    assert [change.before for change in changes] == ["ID 1", "ID 2", "NONE"]
    assert [line.split()[0] for line in undo_lines(changes)] == [
        "alter-compatibility", "register-schema",
    ]  # fmt: skip
    assert not any(change.before == "NONE" for change in deleted(client, 1)), "not of a version"
    del client.responses[f"GET {LEVEL}"]
    show(client, {1: 1, 2: 2}, deleted=True)
    plan = undo(client, changes, monkeypatch)
    level, versions = plan.steps
    assert isinstance(level, AlterLevel) and level.after == "NONE"
    assert isinstance(versions, RegisterSchemas) and len(versions.schemas) == 2
    client.responses[f"GET {LEVEL}"] = {"compatibilityLevel": "NONE"}
    show(client, {3: 1, 4: 2})
    changes = undo(client, plan.changes, monkeypatch).changes
    assert [change.before for change in changes] == ["NONE", "ID 1", "ID 2"], "each once"


def test_level_that_the_registry_keeps_is_not_restored() -> None:
    client = registry({1: 1})
    client.responses[f"GET {LEVEL}"] = {"compatibilityLevel": "FULL"}
    (step,) = plan_deletion(client, [S]).steps
    assert isinstance(step, DeleteVersions) and not step.seen()
    show(client, {1: 1}, deleted=True)
    seen = step.seen()
    assert seen.keys() == {*step.changes}
    assert [line.split()[0] for line in undo_lines(seen.values())] == ["register-schema"]
    del client.responses[f"GET {LEVEL}"]
    assert [*step.seen().values()] == [*step.changes]


def test_mode_that_is_lost_is_told() -> None:
    client = registry({1: 1})
    assert "mode" not in lost(deleted(client))
    client.responses[f"GET {MODE}"] = {"mode": "READWRITE"}
    assert "mode" not in lost(deleted(client)), "that of the registry"
    client.responses[f"GET {MODE}"] = {"mode": "IMPORT"}
    assert "mode IMPORT" in lost(deleted(client))
    client.responses[f"GET {MODE}"] = "<html>"
    assert "mode" in lost(deleted(client)), "unknown"


def lost(changes: tuple[Change, ...]) -> str:
    return " ".join(change.lost for change in changes)


def test_restored_version_that_becomes_the_newest_is_told() -> None:
    client = registry({1: 1, 2: 2, 3: 3})
    assert "newest" in lost(deleted(client, 1))
    assert "newest" in lost(deleted(client, 1, 2))
    assert "newest" not in lost(deleted(client, 3))
    assert "newest" not in lost(deleted(client))


def test_version_without_a_known_id_is_irreversible(monkeypatch: pytest.MonkeyPatch) -> None:
    client = registry({1: 1, 2: 2})
    del client.responses[f"GET {PATH}/versions/1?deleted=true"]
    changes = deleted(client)
    assert [(change.reversible, bool(change.lost)) for change in changes] == [
        (False, False), (True, True),
    ]  # fmt: skip
    show(client, {1: 1, 2: 2}, deleted=True)
    assert restored(undo(client, changes, monkeypatch)) == ["schema 2"]
