"""The one place that changes a cluster: the order of things, and what is said when they fail."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from uuid import uuid4

import pytest

from kafka_shell import journal
from kafka_shell.admin import configs, topics
from kafka_shell.admin.connection import Cluster, ConnectionConfig, parse_addresses
from kafka_shell.carry_out import apply, carry_out
from kafka_shell.context import Context, Paths
from kafka_shell.errors import ShellError, Status, UsageError
from kafka_shell.nouns import (
    Change,
    ConfigAlteration,
    ConfigOp,
    ConfigResource,
    Effect,
    Failure,
    JournalEntry,
    NewTopic,
    Outcome,
    Plan,
    Resource,
    ResourceType,
    Results,
)
from kafka_shell.sandbox import Sandbox
from kafka_shell.settings import Settings

pytestmark = pytest.mark.quick

Event = tuple[str, ...]
REFUSED = Failure("POLICY_VIOLATION", "no")


@dataclass(frozen=True)
class Recorded:
    """A step that writes down what is done with it, and fails as it is told."""

    log: list[Event]
    name: str
    fields: tuple[str, ...] = ("k",)
    validates: bool = True
    refuses: tuple[str, ...] = ()  # fields that fail, in validation too
    fails: tuple[str, ...] = ()  # fields that fail when they are sent
    why: Failure = REFUSED
    raises: BaseException | None = None
    before: str = "old"
    later: str = "old"

    @property
    def changes(self) -> tuple[Change, ...]:
        thing = Resource("topic", self.name)
        return tuple(Change(thing, "alter", f, self.before, "new") for f in self.fields)

    def again(self, cluster: Any) -> Recorded:
        self.log.append(("again", self.name))
        return replace(self, before=self.later)

    def send(self, cluster: Any, *, validate_only: bool) -> Results[Change, Change]:
        self.log.append(("validate" if validate_only else "send", self.name))
        if self.raises is not None and not validate_only:
            raise self.raises
        bad = self.refuses if validate_only else self.refuses + self.fails
        return Results(
            {change: change for change in self.changes if change.field not in bad},
            {change: self.why for change in self.changes if change.field in bad},
        )


@dataclass
class Stage:
    """A context whose questions, plans and refreshes are written down beside the steps."""

    context: Context
    log: list[Event] = field(default_factory=list)
    answers: list[str] = field(default_factory=list)

    def ask(self, question: str) -> str:
        self.log.append(("ask", question.strip()))
        return self.answers.pop(0)

    def show(self, plan: Plan, undo: Sequence[str]) -> None:
        self.log.append(("show", *undo))

    def refresh(self, parts: frozenset[str]) -> None:
        self.log.append(("refresh", *sorted(parts)))

    def step(self, name: str = "orders", **how: Any) -> Recorded:
        return Recorded(self.log, name, **how)

    def plan(self, *steps: Recorded, effect: Effect = Effect.CHANGE, **how: Any) -> Plan:
        return Plan(effect, steps, touches=frozenset({"topics"}), **how)

    def run(self, plan: Plan, **how: Any) -> Outcome:
        return carry_out(plan, self.context, command="the line", show=self.show, **how)

    def journal(self) -> list[JournalEntry]:
        return journal.read(self.context.paths.journal)[0]

    def did(self) -> list[str]:
        return [event[0] for event in self.log]


def make_stage(
    folder: Path, *, guard: str = "", answers: Sequence[str] | None = (), cluster: Any = None
) -> Stage:
    """`answers` None is a program without a terminal."""
    config = ConnectionConfig(parse_addresses("broker:9092"))
    settings = Settings(connection=config, profile="prod", guard=guard)
    context = Context(settings, Paths(folder / "c", folder / "h", folder / "state"))
    stage = Stage(context, answers=list(answers or ()))
    context._cluster = cluster or cast(
        Any, SimpleNamespace(cluster_id="cluster-1", close=lambda: None)
    )
    context.shell = cast(Any, SimpleNamespace(refresh=stage.refresh))
    context.ask = None if answers is None else stage.ask
    return stage


# -- the order -------------------------------------------------------------------------------------


def test_a_change_is_validated_shown_sent_and_reported(tmp_path: Path) -> None:
    stage = make_stage(tmp_path)
    plan = stage.plan(
        stage.step("a"), stage.step("b"), fresh=lambda _: stage.log.append(("fresh",))
    )
    outcome = stage.run(plan)
    assert stage.log == [
        ("validate", "a"),
        ("validate", "b"),
        ("show",),
        ("send", "a"),
        ("send", "b"),
        ("fresh",),
        ("refresh", "topics"),
    ]
    assert outcome.ok
    assert [done.status for done in outcome.changes] == ["done", "done"]
    assert outcome.undo == ("alter-configs b k=old", "alter-configs a k=old")
    (entry,) = stage.journal()
    assert (entry.command, entry.status, entry.cluster) == ("the line", "done", "cluster-1")
    assert entry.undo == outcome.undo


def test_the_intent_is_in_the_journal_before_anything_is_sent(tmp_path: Path) -> None:
    stage = make_stage(tmp_path)
    seen: list[str] = []

    class Looking(Recorded):
        def send(self, cluster: Any, *, validate_only: bool) -> Results[Change, Change]:
            if not validate_only:
                seen.extend(entry.status for entry in stage.journal())
            return super().send(cluster, validate_only=validate_only)

    stage.run(stage.plan(Looking(stage.log, "a")))
    assert seen == ["intent"]


def test_destruction_asks_after_showing_the_way_back_and_reads_again(tmp_path: Path) -> None:
    stage = make_stage(tmp_path, answers=["y"])
    assert stage.run(stage.plan(stage.step("a"), effect=Effect.DESTROY)).ok
    assert stage.log == [
        ("validate", "a"),
        ("show", "alter-configs a k=old"),
        ("ask", "Carry this out? [y/N]"),
        ("again", "a"),
        ("send", "a"),
        ("refresh", "topics"),
    ]


@pytest.mark.parametrize("answer", ["", "n", "no", "yess", "prod"])
def test_anything_but_yes_changes_nothing(tmp_path: Path, answer: str) -> None:
    stage = make_stage(tmp_path, answers=[answer])
    with pytest.raises(ShellError, match="nothing was changed") as declined:
        stage.run(stage.plan(stage.step(), effect=Effect.DESTROY))
    assert declined.value.code == "declined"
    assert "send" not in stage.did() and stage.journal() == []


@pytest.mark.parametrize("answer", ["y", "yes", " YES "])
def test_yes_is_yes(tmp_path: Path, answer: str) -> None:
    stage = make_stage(tmp_path, answers=[answer])
    assert stage.run(stage.plan(stage.step(), effect=Effect.DESTROY)).ok


def test_the_option_yes_answers_and_nothing_is_read_again(tmp_path: Path) -> None:
    stage = make_stage(tmp_path)
    assert stage.run(stage.plan(stage.step(), effect=Effect.DESTROY), yes=True).ok
    assert stage.did() == ["validate", "show", "send", "refresh"]


def test_nobody_to_ask_is_a_wrong_line(tmp_path: Path) -> None:
    stage = make_stage(tmp_path, answers=None)
    with pytest.raises(UsageError, match="no terminal") as refused:
        stage.run(stage.plan(stage.step(), effect=Effect.DESTROY))
    assert refused.value.status is Status.WRONG
    assert "--yes" in refused.value.hint
    assert "send" not in stage.did() and stage.journal() == []


# -- guards ----------------------------------------------------------------------------------------


def test_a_confirm_guard_asks_for_every_change(tmp_path: Path) -> None:
    stage = make_stage(tmp_path, guard="confirm", answers=["y"])
    assert stage.run(stage.plan(stage.step())).ok
    assert "ask" in stage.did()
    silent = make_stage(tmp_path, guard="confirm")
    assert silent.run(silent.plan(silent.step()), yes=True).ok
    assert "ask" not in silent.did()


def test_a_typed_guard_wants_the_clusters_name(tmp_path: Path) -> None:
    stage = make_stage(tmp_path, guard="typed", answers=["prod"])
    assert stage.run(stage.plan(stage.step())).ok
    assert ("ask", "Type prod to carry this out:") in stage.log
    assert "again" in stage.did()
    for answer in ("", "y", "Prod"):
        stage = make_stage(tmp_path, guard="typed", answers=[answer])
        with pytest.raises(ShellError, match="nothing was changed"):
            stage.run(stage.plan(stage.step()))
        assert "send" not in stage.did()


@pytest.mark.parametrize(("yes", "goes"), [("prod", True), ("staging", False), ("", False)])
def test_a_typed_guard_takes_the_name_as_an_option(tmp_path: Path, yes: str, goes: bool) -> None:
    stage = make_stage(tmp_path, guard="typed", answers=None)
    if goes:
        assert stage.run(stage.plan(stage.step()), yes=yes).ok
        return
    with pytest.raises(ShellError, match="nothing was changed"):
        stage.run(stage.plan(stage.step()), yes=yes)
    assert "send" not in stage.did()


@pytest.mark.parametrize("yes", [True, None])
def test_a_plain_yes_is_not_enough_for_a_typed_guard(tmp_path: Path, yes: bool | None) -> None:
    stage = make_stage(tmp_path, guard="typed", answers=None)
    with pytest.raises(UsageError) as refused:
        stage.run(stage.plan(stage.step()), yes=yes)
    assert "--yes=prod" in refused.value.hint
    assert "send" not in stage.did()


def test_a_read_only_guard_refuses_before_the_cluster_is_asked(tmp_path: Path) -> None:
    stage = make_stage(tmp_path, guard="read-only", answers=["y"])
    with pytest.raises(ShellError, match="read-only") as refused:
        stage.run(stage.plan(stage.step()), yes=True)
    assert refused.value.status is Status.FAILED
    assert stage.log == []


@pytest.mark.parametrize("guard", ["", "confirm", "typed", "read-only"])
def test_a_dry_run_is_always_allowed_and_sends_nothing(tmp_path: Path, guard: str) -> None:
    stage = make_stage(tmp_path, guard=guard, answers=None)
    plan = stage.plan(stage.step(fields=("good", "bad"), refuses=("bad",)), effect=Effect.DESTROY)
    outcome = stage.run(plan, dry_run=True)
    assert stage.did() == ["validate"]
    assert outcome.dry_run and not outcome.ok
    assert [(d.change.field, d.status) for d in outcome.changes] == [
        ("good", "planned"), ("bad", "failed"),
    ]  # fmt: skip
    assert outcome.undo == ("alter-configs orders good=old bad=old",)
    assert stage.journal() == []


# -- what goes wrong -------------------------------------------------------------------------------


def test_when_the_broker_would_refuse_all_nothing_is_asked_or_sent(tmp_path: Path) -> None:
    stage = make_stage(tmp_path, answers=["y"])
    outcome = stage.run(stage.plan(stage.step(refuses=("k",)), effect=Effect.DESTROY))
    assert stage.did() == ["validate", "show"]
    assert [done.status for done in outcome.changes] == ["failed"]
    assert not outcome.ok and outcome.undo == () and stage.journal() == []


def test_when_the_broker_refuses_some_the_rest_is_done(tmp_path: Path) -> None:
    stage = make_stage(tmp_path)
    step = stage.step(fields=("a", "b"), refuses=("b",))
    outcome = stage.run(stage.plan(step))
    assert [done.status for done in outcome.changes] == ["done", "failed"]
    assert outcome.undo == ("alter-configs orders a=old",), "only what was done is taken back"
    (entry,) = stage.journal()
    assert entry.status == "failed"
    assert [row["status"] for row in entry.changes] == ["done", "failed"]


def test_a_plan_that_was_refused_in_part_is_not_ok(tmp_path: Path) -> None:
    stage = make_stage(tmp_path)
    refused: Results[Resource, Any] = Results({}, {Resource("topic", "x"): Failure("NO", "no")})
    assert not stage.run(stage.plan(stage.step(), refused=refused)).ok
    nothing = stage.run(stage.plan(refused=refused), yes=True)
    assert not nothing.ok and nothing.changes == ()


def test_what_changed_while_the_question_was_open_stops_it(tmp_path: Path) -> None:
    stage = make_stage(tmp_path, answers=["y"])
    with pytest.raises(ShellError, match="it was old, it is newer") as changed:
        stage.run(stage.plan(stage.step(later="newer"), effect=Effect.DESTROY))
    assert changed.value.code == "changed-meanwhile"
    assert "send" not in stage.did() and stage.journal() == []


@pytest.mark.parametrize("code", ["deadline", "outcome-unknown"])
def test_a_lost_answer_is_unknown_and_later_steps_are_skipped(tmp_path: Path, code: str) -> None:
    stage = make_stage(tmp_path)
    lost = ShellError("the change may still happen", code=code, hint="Look.")
    outcome = stage.run(
        stage.plan(
            stage.step("a"),
            stage.step("b", raises=lost),
            stage.step("c"),
            follow=lambda _: stage.log.append(("follow",)),
            finally_=(stage.step("always"),),
        )
    )
    assert [(d.change.resource.name, d.status) for d in outcome.changes] == [
        ("a", "done"), ("b", "unknown"), ("c", "skipped"), ("always", "done"),
    ]  # fmt: skip
    assert outcome.changes[1].failure == Failure(code, "the change may still happen", hint="Look.")
    assert "follow" not in stage.did()
    (entry,) = stage.journal()
    assert entry.status == "unknown"


def test_a_topic_that_timed_out_is_unknown_not_failed(tmp_path: Path) -> None:
    stage = make_stage(tmp_path)
    late = Failure("REQUEST_TIMED_OUT", "too slow", 7)
    outcome = stage.run(stage.plan(stage.step("a", fails=("k",), why=late), stage.step("b")))
    assert [done.status for done in outcome.changes] == ["unknown", "done"]
    assert stage.journal()[0].status == "unknown"


def test_a_request_that_fails_as_a_whole_skips_what_follows(tmp_path: Path) -> None:
    stage = make_stage(tmp_path)
    no = ShellError("you may not", code="CLUSTER_AUTHORIZATION_FAILED")
    outcome = stage.run(stage.plan(stage.step("a", raises=no), stage.step("b")))
    assert [done.status for done in outcome.changes] == ["failed", "skipped"]
    assert stage.journal()[0].status == "failed"


def test_ctrl_c_leaves_a_journal_that_says_unknown(tmp_path: Path) -> None:
    stage = make_stage(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        stage.run(
            stage.plan(
                stage.step("a"),
                stage.step("b", raises=KeyboardInterrupt()),
                stage.step("c"),
                finally_=(stage.step("always"),),
            )
        )
    assert ("send", "always") in stage.log and ("send", "c") not in stage.log
    (entry,) = stage.journal()
    assert entry.status == "unknown"
    assert [row["status"] for row in entry.changes] == ["done", "unknown", "skipped", "done"]
    assert entry.undo[-1] == "alter-configs a k=old"


def test_ctrl_c_while_following_does_not_undo_what_is_done(tmp_path: Path) -> None:
    stage = make_stage(tmp_path)

    def interrupted(_: Any) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stage.run(stage.plan(stage.step(), follow=interrupted))
    assert stage.journal()[0].status == "done"


def test_fresh_state_that_cannot_be_read_is_left_out(tmp_path: Path) -> None:
    stage = make_stage(tmp_path)

    def gone(_: Any) -> None:
        raise ShellError("the broker is gone")

    outcome = stage.run(stage.plan(stage.step(), fresh=gone))
    assert outcome.ok and outcome.fresh is None


def test_an_empty_plan_does_nothing_at_all(tmp_path: Path) -> None:
    stage = make_stage(tmp_path, guard="read-only")
    assert stage.run(stage.plan(effect=Effect.DESTROY)).ok
    assert stage.log == [("show",)], "shown, as it may say what was refused"
    assert stage.journal() == []


def test_apply_runs_the_last_steps_whatever_happens() -> None:
    log: list[Event] = []
    bad = Recorded(log, "bad", raises=ShellError("no"))
    with pytest.raises(ShellError):
        apply(Plan(Effect.CHANGE, (bad,), finally_=(Recorded(log, "always"),)), None)
    assert log == [("send", "bad"), ("send", "always")]


# -- on a broker -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def cluster(sandbox: Sandbox) -> Iterator[Cluster]:
    with Cluster(ConnectionConfig(parse_addresses(sandbox.bootstrap))) as cluster:
        yield cluster


@pytest.fixture
def topic(cluster: Cluster) -> ConfigResource:
    name = f"t-{uuid4().hex[:8]}"
    assert apply(topics.plan_create([NewTopic(name, 1, 1)]), cluster).ok
    return ConfigResource(ResourceType.TOPIC, name)


def keep(cluster: Cluster, topic: ConfigResource, value: str) -> Plan:
    alteration = ConfigAlteration("retention.ms", ConfigOp.SET, value)
    return configs.plan_alter(cluster, {topic: [alteration]})


def test_a_real_change_and_its_fresh_state(
    tmp_path: Path, cluster: Cluster, topic: ConfigResource
) -> None:
    stage = make_stage(tmp_path, cluster=cluster)
    outcome = stage.run(keep(cluster, topic, "7d"))
    assert outcome.ok
    assert [entry.value for entry in outcome.fresh[topic]] == ["604800000"]
    assert outcome.undo == (f"alter-configs {topic.name} --delete-config retention.ms",)
    (entry,) = stage.journal()
    assert entry.cluster == cluster.cluster_id
    assert entry.changes[0]["after"] == "604800000"


def test_a_real_change_made_meanwhile_by_someone_else(
    tmp_path: Path, cluster: Cluster, topic: ConfigResource
) -> None:
    stage = make_stage(tmp_path, guard="confirm", cluster=cluster)

    def meddle(_: str) -> str:
        assert apply(keep(cluster, topic, "5"), cluster).ok
        return "y"

    stage.context.ask = meddle
    with pytest.raises(ShellError, match="it was 604800000, it is 5"):
        stage.run(keep(cluster, topic, "1d"))


def test_a_real_broker_refuses_in_the_dry_run(
    tmp_path: Path, cluster: Cluster, topic: ConfigResource
) -> None:
    stage = make_stage(tmp_path, cluster=cluster)
    plan = topics.plan_create([NewTopic(topic.name, 1, 1), NewTopic(f"{topic.name}.new", 1, 1)])
    outcome = stage.run(plan, dry_run=True)
    assert [(d.status, d.failure.name if d.failure else "") for d in outcome.changes] == [
        ("failed", "TOPIC_ALREADY_EXISTS"), ("planned", ""),
    ]  # fmt: skip
    assert f"{topic.name}.new" not in topics.scan(cluster)


def test_a_real_deletion_by_a_typed_guard(
    tmp_path: Path, cluster: Cluster, topic: ConfigResource
) -> None:
    stage = make_stage(tmp_path, guard="typed", answers=["prod"], cluster=cluster)
    outcome = stage.run(topics.plan_delete(cluster, [topic.name]))
    assert outcome.ok and outcome.undo == ()
    assert topic.name not in topics.scan(cluster)
    assert stage.journal()[0].undo == ()


def test_a_password_is_nowhere_in_the_journal(tmp_path: Path, cluster: Cluster) -> None:
    key = "listener.name.plaintext.ssl.key.password"
    broker = ConfigResource(ResourceType.BROKER, "1")
    stage = make_stage(tmp_path, cluster=cluster)

    def run(alteration: ConfigAlteration, line: str) -> Outcome:
        plan = configs.plan_alter(cluster, {broker: [alteration]})
        return carry_out(plan, stage.context, command=line, show=stage.show)

    try:
        line = f"alter-configs --broker-id 1 {key}=hush-hush"
        outcome = run(ConfigAlteration(key, ConfigOp.SET, "hush-hush"), line)
        assert outcome.ok
        assert outcome.undo == (f"alter-configs --broker-id 1 --delete-config {key}",)
        assert "hush-hush" not in repr(outcome.changes) + repr(outcome.fresh)
    finally:
        gone = run(ConfigAlteration(key, ConfigOp.DELETE), "take it away")
    assert gone.ok and gone.undo == (), "what it was nobody can tell"
    assert "hush" not in stage.context.paths.journal.read_text()
