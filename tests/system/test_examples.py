"""Every declared example and every line of the starter sessions runs and shows what it
describes."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator
from contextlib import chdir
from dataclasses import dataclass
from pathlib import Path

import pytest

from kafka_shell.base.plans import Effect
from kafka_shell.commands import REGISTRY
from kafka_shell.language.command import Command, Example
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.sandbox.twin.build import CLIENT_ID as TWIN
from kafka_shell.wire.requests import api_name, as_request
from kafka_shell.wire.runner import Runner
from tests.support import api_table as apis
from tests.support.example_facts import FACTS, NOTHING, SAME
from tests.support.places import ROOT
from tests.support.program import Program, Run
from tests.support.schema_registry import running_registry

# Those of audits run in tests/audit, where a session of Spark is shared.
EXAMPLES = [
    (command, example)
    for command in REGISTRY
    for example in command.examples
    if command.family != "audit"
]
SESSIONS = sorted((ROOT / "history").glob("*.kafka"))
# `watch` goes on until Ctrl-C; topics.yaml is the user's.
UNTIL_STOPPED = ("watch ", "create-topic --from-file")


@dataclass
class Played:
    """What came of one example: its run, the APIs it asked, and the journal's growth in lines."""

    run: Run
    apis: set[int]
    journaled: int


@pytest.fixture(scope="module")
def played(
    own_demo: Sandbox, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, Played]]:
    """All examples, run once in the registry's order: each finds what those before it left. The
    cluster ID is known, so every connection of every command checks it."""
    folder = tmp_path_factory.mktemp("examples")
    kafka = Program(folder / "home")
    (folder / "registry").mkdir()
    with running_registry(folder / "registry") as registry:
        for kind in ("int", "long"):
            registry.register("orders.placed-value", f'"{kind}"')
        yield run_all(kafka, own_demo, registry.url)


def run_all(kafka: Program, own_demo: Sandbox, registry: str) -> dict[str, Played]:
    """Run the examples, in the folder of the program's home."""
    config = kafka.home / "config" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text(
        f'default = "demo"\n[profiles.demo]\nbootstrap = "{own_demo.bootstrap}"\n'
        f'cluster-id = "{own_demo.cluster_id}"\n"schema.registry.url" = "{registry}"\n'
    )
    found: dict[str, Played] = {}
    with pytest.MonkeyPatch.context() as patch, chdir(kafka.home.parent):
        sent = recorded(patch)
        before = 0
        for _, example in EXAMPLES:
            sent.clear()
            run = kafka(stdin=f"{example.line}\n")
            lines = journal_lines(kafka)
            found[example.line] = Played(run, set(sent), lines - before)
            before = lines
    return found


def recorded(patch: pytest.MonkeyPatch) -> set[int]:
    """The API keys of what is sent from now on, but for what is sent to twins."""
    sent: set[int] = set()
    job = Runner.job

    def recording(self, call, deadline):  # type: ignore[no-untyped-def]
        if call.request is not None and self._config.client_id != TWIN:
            sent.add(as_request(call.request).api_key)
        return job(self, call, deadline)

    patch.setattr(Runner, "job", recording)
    return sent


def journal_lines(kafka: Program) -> int:
    files = (kafka.home / "state" / "journal").rglob("*")
    return sum(len(path.read_text().splitlines()) for path in files if path.is_file())


@pytest.mark.parametrize(
    ("command", "example"), EXAMPLES, ids=[example.line for _, example in EXAMPLES]
)
def test_an_example_shows_what_it_is_about(
    played: dict[str, Played], command: Command, example: Example
) -> None:
    run, facts = played[example.line].run, FACTS[example.line]
    assert run.status == example.status, str(run)
    assert ("error: " in run.stderr) == (run.status != 0), str(run)
    text = " ".join(f"{run.stdout}\n{run.stderr}".split())
    if facts == NOTHING:
        assert not run.stdout.strip(), str(run)
    elif facts == SAME:
        assert " -> " not in text and text, str(run)
    else:
        assert [fact for fact in facts if fact not in text] == [], str(run)
    if "--output json" in example.line:
        lines = run.stdout.splitlines() if command.name == "read-records" else [run.stdout]
        assert lines and all(map(json.loads, lines))
    if command.effect is not Effect.READ and "--dry-run" in example.line:
        assert not played[example.line].journaled, "a dry run is no change"


def test_what_an_example_changes_is_in_the_journal(played: dict[str, Played]) -> None:
    changing = ("created ", "altered ", "deleted ")
    changed = {line for line, each in played.items() if each.run.stdout.startswith(changing)}
    assert len(changed) > 15
    assert changed <= {line for line, each in played.items() if each.journaled}


def test_a_command_sends_only_what_it_declares(played: dict[str, Played]) -> None:
    sent: dict[str, set[int]] = defaultdict(set)
    for command, example in EXAMPLES:
        sent[command.name] |= played[example.line].apis
    extra = {
        command.name: [f"{api_name(key)} ({key})" for key in sorted(more)]
        for command in REGISTRY
        if (more := sent[command.name] - set(command.apis) - set(apis.COMMON))
    }
    assert not extra, "these are sent and not declared"


@pytest.mark.parametrize("session", SESSIONS, ids=lambda path: path.stem)
def test_a_starter_session_runs_from_top_to_bottom(
    played: dict[str, Played], own_demo: Sandbox, tmp_path: Path, session: Path
) -> None:
    lines = [
        line for line in session.read_text().splitlines() if not line.startswith(UNTIL_STOPPED)
    ]
    script = "\n".join(lines).replace("> retention.json", f"> {tmp_path}/retention.json")
    run = Program(tmp_path, own_demo.bootstrap)("--keep-going", stdin=script)
    assert "error" not in run.stderr, str(run)


# They need more brokers than the demo has, or end with 1 on purpose.
MANY_BROKERS = ("reassign-partitions --drain", "rebalance")
DENIED = "check-acl --principal User:bob"


def test_the_cookbook_runs(own_demo: Sandbox, tmp_path: Path) -> None:
    """Each line, in order, after the examples: what a line needs, a line above it has made. What
    the examples and sessions left behind is removed first."""
    kafka = Program(tmp_path / "home", own_demo.bootstrap)
    before = Program(tmp_path / "before", own_demo.bootstrap)
    before.ok("delete-topic", "parcels.scanned", "--if-exists", "--yes")
    before.ok("alter-configs", "--logger", "1", "kafka.request.logger=DEBUG", "--yes")
    same = before("undo", "--yes")
    assert same.status == 1 and "there is nothing to undo" in same.stderr, str(same)
    before.ok("alter-configs", "--logger", "1", "--delete-config", "kafka.request.logger", "--yes")
    page = (ROOT / "docs" / "cookbook.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines()]
    assert len(lines) > 40
    with chdir(tmp_path):
        runs = {
            line: kafka("--yes", stdin=f"{line}\n")
            for line in lines
            if not line.startswith(MANY_BROKERS)
        }
    wrong = [run for line, run in runs.items() if run.status != line.startswith(DENIED)]
    assert not wrong, "\n".join(map(str, wrong))
