"""A guard applies at the address of its profile, whatever cluster was there before."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kafka_shell.sandbox.state import Sandbox
from tests.support.program import Program


def guarded(home: Path, bootstrap: str, *more: str) -> Program:
    config = home / "config" / "config.toml"
    config.parent.mkdir()
    lines = ("[profiles.prod]", f'bootstrap = "{bootstrap}"', 'guard = "read-only"', *more)
    config.write_text("\n".join(lines))
    return Program(home)


@pytest.mark.parametrize("how", ["remembered", "configured"])
def test_guard_applies_if_cluster_id_is_out_of_date(
    sandbox: Sandbox, tmp_path: Path, how: str
) -> None:
    bootstrap = sandbox.bootstrap.replace("127.0.0.1", "LOCALHOST")
    more = ('cluster-id = "another"',) if how == "configured" else ()
    kafka = guarded(tmp_path, bootstrap, *more)
    if how == "remembered":
        (tmp_path / "state").mkdir()
        (tmp_path / "state" / "cluster-ids.json").write_text(json.dumps({"prod": "another"}))
    for broker in (f"localhost:{sandbox.bootstrap.rpartition(':')[2]}", bootstrap):
        run = kafka("--broker", broker, "create-topic", "guarded.topic", "--yes")
        assert run.status != 0, str(run)
        assert "profile prod" in run.stderr, str(run)
        assert "read-only" in run.stderr, str(run)


def test_first_use_of_guarded_profile_says_where_it_applies(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    kafka = guarded(tmp_path, sandbox.bootstrap)
    first = kafka.ok("--profile", "prod", "list-topics")
    assert f"now applies to cluster {sandbox.cluster_id} at other" in first.stderr, str(first)
    assert "guard" not in kafka.ok("--profile", "prod", "list-topics").stderr
