"""Guarded clusters: the questions, who may answer them, and that "no" changes nothing."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.cluster import Cluster
from tests.support.guarded import (
    ALTER,
    DELETE,
    GUARDS,
    State,
    guarded_program,
    guarded_topic,
    words,
)
from tests.support.program import Program


@pytest.fixture
def kafka(sandbox: Sandbox, tmp_path: Path) -> Program:
    return guarded_program(tmp_path, sandbox.bootstrap)


@pytest.fixture(scope="module")
def topic(cluster: Cluster) -> Iterator[str]:
    """A topic that no test changes, if the guards hold."""
    yield from guarded_topic(cluster)


@pytest.fixture
def victim(cluster: Cluster) -> Iterator[str]:
    """A topic to change."""
    yield from guarded_topic(cluster)


def test_a_guard_reached_by_the_address_is_answered_by_its_profile_s_name(
    sandbox: Sandbox, tmp_path: Path, cluster: Cluster, victim: str
) -> None:
    config = tmp_path / "config" / "config.toml"
    config.parent.mkdir()
    config.write_text(
        f'[profiles.prod]\nbootstrap = "{sandbox.bootstrap}"\nguard = "typed"\n'
        '[profiles.free]\nbootstrap = "localhost:1"\nguard = "none"\n'
        '[profiles.dev]\nbootstrap = "localhost:2"\nguard = "typed"\n'
    )
    kafka = Program(tmp_path, sandbox.bootstrap)
    before = State(kafka, cluster, victim)
    for consent in ("--yes", f"--yes={sandbox.bootstrap}"):
        for profile in ((), ("--profile", "free"), ("--profile", "dev")):
            refused = kafka("delete-topic", victim, consent, *profile)
            assert refused.status != 0 and "prod" in refused.stderr, str(refused)
            assert before.same
        refused = kafka("delete-topic", victim, consent, environ={"KAFKA_SH_PROFILE": "free"})
        assert refused.status != 0 and "prod" in refused.stderr, str(refused)
        assert before.same
    kafka.ok("delete-topic", victim, "--yes=prod")
    assert victim not in kafka.ok("list-topics").lines


@pytest.mark.parametrize(
    ("guard", "command", "yes", "why"),
    [
        ("confirm", ALTER, (), "--yes"),
        ("typed", ALTER, ("--yes",), "--yes=typed"),
        ("typed", DELETE, ("--yes=free",), "does not match the cluster name typed"),
        ("typed", DELETE, ("--yes=TYPED",), "does not match the cluster name typed"),
        ("read-only", DELETE, ("--yes=read-only",), "read-only"),
        ("read-only", DELETE, ("--force",), "read-only"),
    ],
)
def test_refused(
    kafka: Program,
    cluster: Cluster,
    topic: str,
    command: tuple[str, ...],
    guard: str,
    yes: tuple[str, ...],
    why: str,
) -> None:
    state = State(kafka, cluster, topic)
    run = kafka("--profile", guard, *words(command, topic), *yes)
    assert run.status in (1, 2), str(run)
    assert run.status == (2 if "not a terminal" in run.stderr else 1), str(run)
    assert why in run.stderr, str(run)
    assert "nothing" in run.stderr.lower(), "it says that nothing was changed"
    assert run.stdout == ""
    assert state.same


@pytest.mark.parametrize(
    ("guard", "yes"),
    [("confirm", "--yes"), ("confirm", "--force"), ("confirm", "--yes=confirm"),
     ("typed", "--yes=typed")],
)  # fmt: skip
def test_allowed(kafka: Program, victim: str, guard: str, yes: str) -> None:
    run = kafka.ok("--profile", guard, *words(ALTER, victim), yes)
    assert f"altered topic {victim}: segment.ms" in run.stdout
    run = kafka.ok("--profile", guard, *words(DELETE, victim), yes)
    assert run.stdout == f"deleted topic {victim}\n"


@pytest.mark.parametrize("guard", GUARDS)
def test_a_dry_run_needs_nobody(kafka: Program, cluster: Cluster, topic: str, guard: str) -> None:
    state = State(kafka, cluster, topic)
    run = kafka.ok("--profile", guard, *words(ALTER, topic), "--dry-run")
    assert "segment.ms: 7d (default) -> 1h" in run.stdout
    run = kafka.ok("--profile", guard, *words(DELETE, topic), "--dry-run")
    assert f"- topic {topic}" in run.stdout
    assert state.same


@pytest.mark.parametrize("guard", GUARDS)
def test_reading_is_free(kafka: Program, topic: str, guard: str) -> None:
    assert kafka.ok("--profile", guard, "list-topics", topic).lines == [topic]
    assert kafka.ok("--profile", guard, "journal", "--output", "json").json == []


@pytest.mark.parametrize("guard", GUARDS)
def test_a_change_that_is_none_is_not_asked_about(kafka: Program, topic: str, guard: str) -> None:
    """Everything is refused before it is a plan: the reason matters more than the guard."""
    run = kafka("--profile", guard, "delete-topic", "no-such-topic")
    assert run.status == 1, str(run)
    assert "UNKNOWN_TOPIC_OR_PARTITION" in run.stderr


def test_a_script_under_a_guard(kafka: Program, cluster: Cluster, victim: str) -> None:
    state = State(kafka, cluster, victim)
    text = f"list-topics {victim}\n{' '.join(words(ALTER, victim))}\n!echo never\n"
    for guard, status in (("confirm", 2), ("typed", 2), ("read-only", 1)):
        run = kafka("--profile", guard, stdin=text)
        assert run.status == status, str(run)
        assert run.lines == [victim]
        assert run.stderr.count("stdin:2: error: ") == 1
    assert state.same
    run = kafka.ok("--profile", "typed", "--yes=typed", stdin=text)
    assert run.lines[-1] == "never", "the name holds for the whole script"


def test_another_cluster_on_one_line_has_its_own_guard(
    kafka: Program, cluster: Cluster, topic: str
) -> None:
    state = State(kafka, cluster, topic)
    line = " ".join(words(ALTER, topic))
    run = kafka("--profile", "free", stdin=f"{line} --profile read-only\n")
    assert run.status == 1, str(run)
    run = kafka("--profile", "free", stdin=f"{line} --profile typed --yes\n")
    assert run.status != 0, str(run)
    assert state.same


def test_a_guard_that_is_misspelt_is_no_guard_and_so_an_error(kafka: Program) -> None:
    config = kafka.home / "config" / "config.toml"
    config.write_text(config.read_text().replace('"read-only"', '"readonly"'))
    run = kafka("--profile", "read-only", "list-topics")
    assert run.status == 2, str(run)
    line = next(
        number
        for number, text in enumerate(config.read_text().splitlines(), 1)
        if "readonly" in text
    )
    assert f"{config}:{line}: guard is 'readonly'" in run.stderr
    assert "read-only" in run.stderr


def test_a_guard_goes_with_the_cluster(kafka: Program, sandbox: Sandbox) -> None:
    """It holds by another address too; a profile with a guard of its own decides for itself."""
    config = kafka.home / "config" / "config.toml"
    config.write_text('default = "read-only"\n' + config.read_text())
    name = f"guarded.{uuid.uuid4().hex[:8]}"
    assert kafka("create-topic", name).status == 1
    named = kafka("--profile", "read-only", "--broker", sandbox.bootstrap, "create-topic", name)
    assert named.status == 1, str(named)
    bare = kafka("--broker", sandbox.bootstrap, "create-topic", name)
    assert bare.status == 1, str(bare)
    assert "profile read-only makes this cluster read-only" in bare.stderr
    kafka.ok("--profile", "free", "create-topic", name)
    kafka.ok("--profile", "free", "delete-topic", name, "--yes")
