"""Applying plans: the order of validation, question and requests, and reports of failures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kafka_shell.base.errors import ShellError, Status, UsageError
from kafka_shell.base.plans import (
    Change,
    Effect,
    Following,
    Order,
    Plan,
    Resource,
    apply,
    merge_plans,
)
from kafka_shell.base.results import Failure, Results
from kafka_shell.output.humanize import question
from kafka_shell.output.outcomes import next_lines
from tests.support.recorded_execution import Event, RecordedStep, make_recorded_execution

# -- the order -------------------------------------------------------------------------------------


def test_a_change_is_validated_shown_sent_and_reported(tmp_path: Path) -> None:
    execution = make_recorded_execution(tmp_path)
    plan = execution.plan(
        execution.step("a"), execution.step("b"), fresh=lambda _: execution.log.append(("fresh",))
    )
    outcome = execution.run(plan)
    assert execution.log == [
        ("validate", "a"),
        ("validate", "b"),
        ("show",),
        ("send", "a"),
        ("send", "b"),
        ("refresh", "configs", "topics"),
        ("fresh",),
    ]
    assert outcome.ok
    assert [done.status for done in outcome.changes] == ["done", "done"]
    assert outcome.undo == ("alter-configs b k=old", "alter-configs a k=old")
    (entry,) = execution.journal()
    assert (entry.command, entry.status, entry.cluster) == ("the line", "done", "cluster-1")
    assert entry.undo == outcome.undo


def test_the_intent_is_in_the_journal_before_anything_is_sent(tmp_path: Path) -> None:
    execution = make_recorded_execution(tmp_path)
    seen: list[tuple[str, tuple[str, ...]]] = []

    class Looking(RecordedStep):
        def send(self, cluster: Any, *, validate_only: bool) -> Results[Change, Change]:
            if not validate_only:
                seen.extend((entry.status, entry.undo) for entry in execution.journal())
            return super().send(cluster, validate_only=validate_only)

    execution.run(execution.plan(Looking(execution.log, "a")))
    assert seen == [("intent", ("alter-configs a k=old  # outcome unknown",))]


def test_a_destructive_plan_shows_the_undo_asks_and_rereads(tmp_path: Path) -> None:
    execution = make_recorded_execution(tmp_path, answers=["y"])
    assert execution.run(execution.plan(execution.step("a"), effect=Effect.DESTROY)).ok
    assert execution.log == [
        ("validate", "a"),
        ("show", "alter-configs a k=old"),
        ("ask", "Apply 1 change to 1 topic on prod? [y/N]"),
        ("again", "a"),
        ("send", "a"),
        ("refresh", "configs", "topics"),
    ]


@pytest.mark.parametrize("answer", ["", "n", "no", "yy", "yess", "prod"])
def test_any_answer_but_yes_changes_nothing(tmp_path: Path, answer: str) -> None:
    execution = make_recorded_execution(tmp_path, answers=[answer])
    with pytest.raises(ShellError, match="nothing was changed") as declined:
        execution.run(execution.plan(execution.step(), effect=Effect.DESTROY))
    assert declined.value.code == "declined"
    assert "send" not in execution.did() and execution.journal() == []


@pytest.mark.parametrize("answer", ["y", "Y", "yes", " YES "])
def test_yes_confirms(tmp_path: Path, answer: str) -> None:
    execution = make_recorded_execution(tmp_path, answers=[answer])
    assert execution.run(execution.plan(execution.step(), effect=Effect.DESTROY)).ok


def test_the_yes_option_confirms_without_rereading(tmp_path: Path) -> None:
    execution = make_recorded_execution(tmp_path)
    assert execution.run(execution.plan(execution.step(), effect=Effect.DESTROY), yes=True).ok
    assert execution.did() == ["validate", "show", "send", "refresh"]


def test_confirmation_without_terminal_is_a_usage_error(tmp_path: Path) -> None:
    execution = make_recorded_execution(tmp_path, answers=None)
    with pytest.raises(UsageError, match="not a terminal") as refused:
        execution.run(execution.plan(execution.step(), effect=Effect.DESTROY))
    assert refused.value.status is Status.WRONG
    assert "--yes" in refused.value.hint
    assert "send" not in execution.did() and execution.journal() == []


@pytest.mark.parametrize(
    ("yes", "fails", "told"), [(None, (), True), (True, (), False), (None, ("b",), False)]
)
def test_the_undo_is_shown_before_the_question_or_afterwards(
    tmp_path: Path, yes: bool | None, fails: tuple[str, ...], told: bool
) -> None:
    execution = make_recorded_execution(tmp_path, guard="confirm", answers=["y"])
    outcome = execution.run(execution.plan(execution.step(fields=("a", "b"), fails=fails)), yes=yes)
    assert outcome.undo_shown is told
    assert (len(execution.log[1]) > 1) is (yes is None), "told where somebody is asked"


def test_an_empty_plan_is_neither_sent_nor_journaled(tmp_path: Path) -> None:
    execution = make_recorded_execution(tmp_path, guard="confirm", answers=None)
    same = Change(Resource("topic", "orders"), "alter", "k", "1", "1")
    outcome = execution.run(execution.plan(unchanged=(same,)))
    assert outcome.ok and outcome.changes == ()
    assert execution.did() == ["show"] and execution.journal() == []


# -- guards ----------------------------------------------------------------------------------------


def test_a_confirm_guard_asks_for_every_change(tmp_path: Path) -> None:
    execution = make_recorded_execution(tmp_path, guard="confirm", answers=["y"])
    assert execution.run(execution.plan(execution.step())).ok
    assert "ask" in execution.did()
    silent = make_recorded_execution(tmp_path, guard="confirm")
    assert silent.run(silent.plan(silent.step()), yes=True).ok
    assert "ask" not in silent.did()


def test_a_typed_guard_requires_the_cluster_name(tmp_path: Path) -> None:
    execution = make_recorded_execution(tmp_path, guard="typed", answers=["  prod "])
    assert execution.run(execution.plan(execution.step())).ok
    assert ("ask", "Apply 1 change to 1 topic on prod? Type prod to confirm:") in execution.log
    assert "again" in execution.did()
    for answer in ("", "y", "Prod"):
        execution = make_recorded_execution(tmp_path, guard="typed", answers=[answer])
        with pytest.raises(ShellError, match="nothing was changed"):
            execution.run(execution.plan(execution.step()))
        assert "send" not in execution.did()


@pytest.mark.parametrize(("yes", "goes"), [("prod", True), ("staging", False), ("", False)])
def test_a_typed_guard_accepts_the_name_as_an_option(tmp_path: Path, yes: str, goes: bool) -> None:
    execution = make_recorded_execution(tmp_path, guard="typed", answers=None)
    if goes:
        assert execution.run(execution.plan(execution.step()), yes=yes).ok
        return
    with pytest.raises(ShellError, match="nothing was changed"):
        execution.run(execution.plan(execution.step()), yes=yes)
    assert "send" not in execution.did()


@pytest.mark.parametrize("yes", [True, None])
def test_a_plain_yes_is_not_enough_for_a_typed_guard(tmp_path: Path, yes: bool | None) -> None:
    execution = make_recorded_execution(tmp_path, guard="typed", answers=None)
    with pytest.raises(UsageError) as refused:
        execution.run(execution.plan(execution.step()), yes=yes)
    assert "--yes=prod" in refused.value.hint
    assert "send" not in execution.did()


def test_a_read_only_guard_refuses_before_any_request(tmp_path: Path) -> None:
    execution = make_recorded_execution(tmp_path, guard="read-only", answers=["y"])
    with pytest.raises(ShellError, match="read-only") as refused:
        execution.run(execution.plan(execution.step()), yes=True)
    assert refused.value.status is Status.FAILED
    assert execution.log == []


@pytest.mark.parametrize("guard", ["", "confirm", "typed", "read-only"])
def test_a_dry_run_is_always_allowed_and_sends_nothing(tmp_path: Path, guard: str) -> None:
    execution = make_recorded_execution(tmp_path, guard=guard, answers=None)
    plan = execution.plan(
        execution.step(fields=("good", "bad"), refuses=("bad",)), effect=Effect.DESTROY
    )
    outcome = execution.run(plan, dry_run=True)
    assert execution.did() == ["validate"]
    assert outcome.dry_run and not outcome.ok
    assert [(d.change.field, d.status) for d in outcome.changes] == [
        ("good", "planned"), ("bad", "failed"),
    ]  # fmt: skip
    assert outcome.undo == ("alter-configs orders good=old",), "what is refused is not taken back"
    assert execution.journal() == []


# -- what goes wrong -------------------------------------------------------------------------------


def test_no_question_if_the_broker_refuses_everything(tmp_path: Path) -> None:
    execution = make_recorded_execution(tmp_path, answers=["y"])
    outcome = execution.run(execution.plan(execution.step(refuses=("k",)), effect=Effect.DESTROY))
    assert execution.did() == ["validate", "show"]
    assert [done.status for done in outcome.changes] == ["failed"]
    assert not outcome.ok and outcome.undo == () and execution.journal() == []


def test_if_the_broker_refuses_some_changes_the_others_are_applied(tmp_path: Path) -> None:
    execution = make_recorded_execution(tmp_path)
    step = execution.step(fields=("a", "b"), refuses=("b",))
    outcome = execution.run(execution.plan(step))
    assert [done.status for done in outcome.changes] == ["done", "failed"]
    assert outcome.undo == ("alter-configs orders a=old",), "only what was done is taken back"
    (entry,) = execution.journal()
    assert entry.status == "failed"
    assert [row["status"] for row in entry.changes] == ["done", "failed"]


def test_a_plan_that_was_refused_in_part_is_not_ok(tmp_path: Path) -> None:
    execution = make_recorded_execution(tmp_path)
    refused: Results[Resource, Any] = Results({}, {Resource("topic", "x"): Failure("NO", "no")})
    assert not execution.run(execution.plan(execution.step(), refused=refused)).ok
    nothing = execution.run(execution.plan(refused=refused), yes=True)
    assert not nothing.ok and nothing.changes == ()


def test_a_change_during_the_question_stops_the_plan(tmp_path: Path) -> None:
    execution = make_recorded_execution(tmp_path, answers=["y"])
    with pytest.raises(ShellError, match="was old, is newer") as changed:
        execution.run(execution.plan(execution.step(later="newer"), effect=Effect.DESTROY))
    assert changed.value.code == "changed-meanwhile"
    assert "send" not in execution.did() and execution.journal() == []


@pytest.mark.parametrize("code", ["deadline", "outcome-unknown"])
def test_a_lost_response_is_unknown_and_later_steps_are_skipped(tmp_path: Path, code: str) -> None:
    execution = make_recorded_execution(tmp_path)
    lost = ShellError("the change may still happen", code=code, hint="Look.")
    outcome = execution.run(
        execution.plan(
            execution.step("a"),
            execution.step("b", raises=lost),
            execution.step("c"),
            follow=lambda *_: execution.log.append(("follow",)),
            afterwards=(execution.step("after"),),
        )
    )
    assert [(d.change.resource.name, d.status) for d in outcome.changes] == [
        ("a", "done"), ("b", "unknown"), ("c", "skipped"),
    ]  # fmt: skip
    assert outcome.changes[1].failure == Failure(code, "the change may still happen", hint="Look.")
    assert "follow" not in execution.did()
    (entry,) = execution.journal()
    assert entry.status == "unknown"


def test_a_topic_that_timed_out_is_unknown_not_failed(tmp_path: Path) -> None:
    execution = make_recorded_execution(tmp_path)
    late = Failure("REQUEST_TIMED_OUT", "too slow", 7)
    outcome = execution.run(
        execution.plan(execution.step("a", fails=("k",), why=late), execution.step("b"))
    )
    assert [done.status for done in outcome.changes] == ["unknown", "done"]
    assert execution.journal()[0].status == "unknown"


def test_a_change_without_a_result_is_unknown_not_done(tmp_path: Path) -> None:
    execution = make_recorded_execution(tmp_path)
    step = execution.step("a", fields=("k", "l"), no_results=("l",))
    outcome = execution.run(execution.plan(step, execution.step("b", no_results=("k",))))
    assert [done.status for done in outcome.changes] == ["done", "unknown", "unknown"]
    assert not outcome.ok
    assert execution.journal()[0].status == "unknown"


def test_a_request_that_fails_as_a_whole_skips_what_follows(tmp_path: Path) -> None:
    execution = make_recorded_execution(tmp_path)
    no = ShellError("you may not", code="CLUSTER_AUTHORIZATION_FAILED")
    outcome = execution.run(execution.plan(execution.step("a", raises=no), execution.step("b")))
    assert [done.status for done in outcome.changes] == ["failed", "skipped"]
    assert execution.journal()[0].status == "failed"


def test_ctrl_c_journals_an_unknown_outcome(tmp_path: Path) -> None:
    execution = make_recorded_execution(tmp_path)
    with pytest.raises(ShellError, match="interrupted") as stopped:
        execution.run(
            execution.plan(
                execution.step("a"),
                execution.step("b", fields=("k", "l"), raises=KeyboardInterrupt()),
                execution.step("c"),
            )
        )
    assert ("send", "c") not in execution.log
    (entry,) = execution.journal()
    assert stopped.value.message == (
        "interrupted: 1 change applied, 2 with unknown outcome, 1 not sent"
    )
    assert f"journal {entry.id}" in stopped.value.hint
    assert entry.status == "unknown"
    assert [row["status"] for row in entry.changes] == ["done", "unknown", "unknown", "skipped"]
    assert entry.undo == (
        "alter-configs b k=old l=old  # outcome unknown",
        "alter-configs a k=old",
    )
    assert execution.log[-1] == ("refresh", "configs", "topics"), "the view shows what held before"


def test_what_the_cluster_shows_after_ctrl_c_is_known(tmp_path: Path) -> None:
    execution = make_recorded_execution(tmp_path)
    stopped = execution.step("a", fields=("k", "l"), raises=KeyboardInterrupt(), applied=("l",))
    with pytest.raises(ShellError) as caught:
        execution.run(execution.plan(stopped))
    assert caught.value.message == "interrupted: 1 change applied, 1 with unknown outcome"
    (entry,) = execution.journal()
    assert [row["status"] for row in entry.changes] == ["unknown", "done"]
    assert entry.undo == ("alter-configs a k=old  # outcome unknown", "alter-configs a l=old")


def test_a_created_topic_of_unknown_outcome_is_deleted_if_it_exists(tmp_path: Path) -> None:
    execution = make_recorded_execution(tmp_path)
    late = Failure("REQUEST_TIMED_OUT", "too slow", 7)
    outcome = execution.run(
        execution.plan(
            execution.step("a", fields=("",), verb="create", before=None, fails=("",), why=late)
        )
    )
    assert outcome.undo == ("delete-topic a --if-exists  # outcome unknown",)
    assert outcome.check == "describe-topic a"
    assert outcome.entry == execution.journal()[0].id


@pytest.mark.parametrize("code", ["deadline", "outcome-unknown"])
def test_a_validation_that_timed_out_sent_nothing(tmp_path: Path, code: str) -> None:
    execution = make_recorded_execution(tmp_path)
    late = ShellError("the deadline passed", code=code, hint="Increase the deadline.")
    with pytest.raises(ShellError) as refused:
        execution.run(execution.plan(execution.step("a", refuses_all=late)))
    message = "topic a: not validated: the deadline passed (nothing was changed)"
    assert (refused.value.message, refused.value.hint) == (message, "Increase the deadline.")
    assert refused.value.code == code
    assert execution.journal() == []


def test_a_verdict_that_timed_out_says_that_nothing_was_sent(tmp_path: Path) -> None:
    execution = make_recorded_execution(tmp_path)
    late = Failure("REQUEST_TIMED_OUT", "too slow", 7, hint="It may still appear.")
    outcome = execution.run(execution.plan(execution.step("a", refuses=("k",), why=late)))
    (done,) = outcome.changes
    assert done.status == "failed" and done.failure is not None
    assert (done.failure.message, done.failure.hint) == (
        "not validated: too slow",
        "Increase --timeout.",
    )
    assert ("send", "a") not in execution.log


@pytest.mark.parametrize(
    ("changes", "asked"),
    [
        ([Change(Resource("topic", f"t{n}"), "delete") for n in range(6)], "Delete 6 topics"),
        ([Change(Resource("topic", "t"), "delete")], "Delete 1 topic"),
        ([Change(Resource("acl", "x"), "delete"), Change(Resource("acl", "y"), "delete")],
         "Delete 2 ACLs"),
        ([Change(Resource("topic", "a"), "alter", "k", "1", "2"),
          Change(Resource("topic", "a"), "alter", "l", "1", "2"),
          Change(Resource("topic", "b"), "alter", "k", "1", "2")],
         "Apply 3 changes to 2 topics"),
        ([Change(Resource("topic", "a"), "create"), Change(Resource("broker", "1"), "alter", "k")],
         "Apply 2 changes to 1 topic, 1 broker"),
        ([Change(Resource("group-offsets", "g"), "alter", f"t:{n}", 1, 2) for n in range(16)],
         "Reset 16 offsets of 1 group"),
        ([Change(Resource("group-offsets", "g"), "delete", "t:0", 1)],
         "Delete 1 offset of 1 group"),
        ([Change(Resource("group", "g"), "delete"),
          *(Change(Resource("group-offsets", "g"), "delete", f"t:{n}", 1) for n in range(3))],
         "Delete 1 group with 3 committed offsets"),
        ([Change(Resource("rollback-file", "f"), "create"),
          Change(Resource("throttle", "broker 1"), "alter", "rate", None, "1"),
          Change(Resource("partition", "t:0"), "alter", "", "1", "2")],
         "Reassign 1 partition"),
        ([Change(Resource("replica", "t:0 on broker 1"), "alter", "log directory", "/a", "/b")],
         "Move 1 replica"),
        ([Change(Resource("user", "a"), "alter", "SCRAM-SHA-256"),
          Change(Resource("client-id", "b"), "alter", "x"),
          Change(Resource("client-id", "c"), "alter", "x"),
          Change(Resource("ip", "c"), "alter", "x")],
         "Apply 4 changes to 1 user, 2 client IDs, 1 IP address"),
        ([Change(Resource("group-member", "m"), "delete")], "Remove 1 group member"),
        ([Change(Resource("user", u), "alter", "SCRAM-SHA-256", "iterations=1") for u in "ab"],
         "Delete 2 SCRAM credentials of 2 users"),
        ([Change(Resource("user", "a"), "alter", f"SCRAM-SHA-{n}", None, "iterations=1")
          for n in (256, 512)], "Set 2 SCRAM credentials of 1 user"),
        ([Change(Resource("user", "a"), "alter", "SCRAM-SHA-256", "iterations=1"),
          Change(Resource("user", "a"), "alter", "SCRAM-SHA-512", None, "iterations=1")],
         "Apply 2 changes to 1 user"),
        ([Change(Resource("partition", f"t:{n}"), "alter", "leader", "none", 1, reversible=False)
          for n in range(3)], "Elect an unclean leader of 3 partitions"),
        ([Change(Resource("partition", "t:0"), "alter", "leader", 2, 1)],
         "Elect the preferred leader of 1 partition"),
        ([Change(Resource("partition", f"t:{n}"), "alter", "first offset", 0, 9)
          for n in range(2)], "Delete records of 2 partitions"),
        ([Change(Resource("feature", "a"), "alter", "", 2, 1)], "Downgrade 1 feature"),
        ([Change(Resource("feature", "a"), "alter", "", 2, 1),
          Change(Resource("feature", "b"), "alter", "", 0, 1)],
         "Apply 2 changes to 2 features, which downgrades 1 feature"),
        ([Change(Resource("broker", "3"), "delete")], "Unregister 1 broker"),
        ([Change(Resource("broker", "3"), "delete", key) for key in "ab"],
         "Delete 2 configs of 1 broker"),
        ([Change(Resource("broker", "3"), "delete", "dynamic configs")],
         "Delete the dynamic configs of 1 broker"),
        ([Change(Resource("voter", "1"), "delete", "", "1@x")], "Remove 1 voter"),
        ([Change(Resource("voter", "1"), "delete", "", "1@x"),
          Change(Resource("voter", "1"), "create", "", None, "1@y")],
         "Apply 2 changes to 1 voter, which removes 1 voter"),
        ([Change(Resource("acl", "x"), "delete"), Change(Resource("acl", "y"), "create")],
         "Apply 2 changes to 2 ACLs, which deletes 1 ACL"),
        ([Change(Resource("token", "x"), "delete")], "Delete 1 delegation token"),
        ([Change(Resource("token", "x"), "alter", "expires", "a", "b")],
         "Change the expiry time of 1 delegation token"),
        ([Change(Resource("hanging-transaction", "x"), "abort")],
         "Abort 1 hanging transaction"),
        ([Change(Resource("transactional-id", "x"), "fence", "epoch", 1, "new epoch")],
         "Fence 1 transactional ID"),
        ([Change(Resource("topic", "t"), "alter", "partitions", 1, 2)],
         "Add partitions to 1 topic"),
        ([Change(Resource("topic", f"t{n}"), "delete") for n in range(1200)],
         "Delete 1,200 topics"),
    ],
)  # fmt: skip
def test_the_question_says_what_happens_and_how_much(changes: list[Change], asked: str) -> None:
    assert question(changes) == asked


def test_merged_plans_are_followed_to_the_end_of_each() -> None:
    seen: list[str] = []
    plans = [
        Plan(
            Effect.CHANGE,
            (),
            following=Following(follow=lambda cluster, report, name=name: seen.append(name)),
        )
        for name in ("a", "b")
    ]
    merged = merge_plans(plans)
    assert merged.following.follow is not None
    merged.following.follow(None, lambda task, done, total: None)
    assert seen == ["a", "b"], "what comes afterwards lifts the throttle of both"


def test_ctrl_c_while_following_does_not_undo_what_is_done(tmp_path: Path) -> None:
    execution = make_recorded_execution(tmp_path)

    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    with pytest.raises(ShellError, match="interrupted") as stopped:
        execution.run(
            execution.plan(
                execution.step(),
                follow=interrupted,
                afterwards=(execution.step("b"),),
                resume="verify it",
            )
        )
    assert stopped.value.hint.endswith("To continue: verify it")
    assert ("send", "b") not in execution.log, "what the follow waits for is not there yet"
    assert execution.journal()[0].status == "done"


def test_the_steps_of_afterwards_are_sent_when_follow_ends(tmp_path: Path) -> None:
    execution = make_recorded_execution(tmp_path)
    outcome = execution.run(
        execution.plan(
            execution.step("a"),
            follow=lambda *_: execution.log.append(("follow",)),
            afterwards=(execution.step("b"),),
        )
    )
    assert outcome.ok
    assert execution.did() == ["validate", "show", "send", "follow", "send", "refresh"]


def test_a_failed_follow_says_how_to_continue(tmp_path: Path) -> None:
    execution = make_recorded_execution(tmp_path)

    def lost(*_: Any) -> None:
        raise ShellError("the broker is gone")

    with pytest.raises(ShellError, match="gone") as failed:
        execution.run(execution.plan(execution.step(), follow=lost, resume="verify it"))
    (entry,) = execution.journal()
    assert failed.value.hint == f"To continue: verify it\nTo undo: undo {entry.id}"


@pytest.mark.parametrize("chained", [False, True])
def test_a_move_is_followed_although_a_later_change_failed(tmp_path: Path, chained: bool) -> None:
    """Before: it went on with its throttle, and nothing said so."""
    execution = make_recorded_execution(tmp_path)
    refused = ShellError("no") if not chained else None
    plan = execution.plan(
        execution.step("orders:0", kind="partition"),
        execution.step("b", fails=("k",), raises=refused),
        execution.step("c"),
        follow=lambda *_: execution.log.append(("follow",)),
        afterwards=(execution.step("throttle"),),
        order=Order.CHAINED if chained else Order.SEPARATE,
    )
    outcome = execution.run(plan)
    assert [item.status for item in outcome.changes] == ["done", "failed", "skipped", "done"]
    assert execution.log[-3:-1] == [("follow",), ("send", "throttle")]


def test_a_wait_that_fails_does_not_hide_that_a_change_failed(tmp_path: Path) -> None:
    execution = make_recorded_execution(tmp_path)

    def lost(*_: Any) -> None:
        raise ShellError("the broker is gone", hint="Look.")

    steps = execution.step("orders:0", kind="partition"), execution.step("b", fails=("k",))
    with pytest.raises(ShellError, match="gone") as failed:
        execution.run(execution.plan(*steps, follow=lost))
    (entry,) = execution.journal()
    assert failed.value.hint == f"Look.\nTo see which changes were applied, run journal {entry.id}"


def test_a_move_that_may_have_started_says_how_to_continue(tmp_path: Path) -> None:
    execution = make_recorded_execution(tmp_path)
    lost = ShellError("lost", code="outcome-unknown")
    outcome = execution.run(
        execution.plan(
            execution.step("orders:0", kind="partition", raises=lost),
            follow=lambda *_: execution.log.append(("follow",)),
            resume="verify it",
        )
    )
    assert ("follow",) not in execution.log, "it may never start"
    assert "to continue: verify it" in [line.plain for line in next_lines(outcome)]


def test_a_change_in_progress_is_followed_too(tmp_path: Path) -> None:
    execution = make_recorded_execution(tmp_path)
    execution.run(execution.plan(follow=lambda *_: execution.log.append(("follow",))))
    assert execution.log == [("show",), ("follow",)]


def test_what_comes_after_a_change_in_progress_is_sent_too(tmp_path: Path) -> None:
    """Before: a reassignment that was in progress already was waited for; its throttle stayed."""
    for guard in ("", "read-only"):
        execution = make_recorded_execution(tmp_path, guard=guard)
        plan = execution.plan(
            follow=lambda *_, log=execution.log: log.append(("follow",)),
            afterwards=(execution.step("b"),),
        )
        if guard:
            with pytest.raises(ShellError, match="read-only"):
                execution.run(plan)
            assert execution.log == []
            continue
        outcome = execution.run(plan)
        assert execution.did() == ["show", "follow", "send", "refresh"]
        assert [item.change.resource.name for item in outcome.changes] == ["b"]
        assert execution.journal()[0].status == "done"


def test_a_chained_plan_stops_at_the_first_failure(tmp_path: Path) -> None:
    execution = make_recorded_execution(tmp_path)
    plan = execution.plan(
        execution.step("a"),
        execution.step("b", fails=("k",)),
        execution.step("c"),
        order=Order.CHAINED,
    )
    outcome = execution.run(plan)
    assert [done.status for done in outcome.changes] == ["done", "failed", "skipped"]


def test_ctrl_c_while_the_new_state_is_read_leaves_the_outcome(tmp_path: Path) -> None:
    """Before: what was applied was not shown, and generated passwords were lost."""
    execution = make_recorded_execution(tmp_path)

    def hangs(cluster: Any) -> None:
        raise KeyboardInterrupt

    outcome = execution.run(execution.plan(execution.step(), fresh=hangs))
    assert outcome.ok and outcome.fresh is None


@pytest.mark.parametrize("fails", [False, True])
def test_what_a_plan_has_made_is_shown_whatever_failed(tmp_path: Path, fails: bool) -> None:
    execution = make_recorded_execution(tmp_path)
    fields = tuple(map(str, range(200)))
    step = execution.step(fields=fields, fails=fields if fails else ())
    plan = execution.plan(step).noted(made=lambda: ("records",))
    outcome = execution.run(plan)
    assert (outcome.ok, outcome.fresh) == (not fails, "records")


def test_fresh_state_that_cannot_be_read_is_left_out(tmp_path: Path) -> None:
    execution = make_recorded_execution(tmp_path)

    def gone(_: Any) -> None:
        raise ShellError("the broker is gone")

    outcome = execution.run(execution.plan(execution.step(), fresh=gone))
    assert outcome.ok and outcome.fresh is None


def test_an_empty_plan_does_nothing_at_all(tmp_path: Path) -> None:
    execution = make_recorded_execution(tmp_path, guard="read-only")
    assert execution.run(execution.plan(effect=Effect.DESTROY)).ok
    assert execution.log == [("show",)], "shown, as it may say what was refused"
    assert execution.journal() == []


def test_apply_of_a_chained_plan_stops_at_the_first_failure() -> None:
    log: list[Event] = []
    steps = (RecordedStep(log, "bad", fails=("k",)), RecordedStep(log, "next"))
    results = apply(Plan(Effect.CHANGE, steps, order=Order.CHAINED), None)
    assert not results.ok and log == [("send", "bad")]


def test_apply_follows_and_then_sends_afterwards() -> None:
    log: list[Event] = []
    plan = Plan(
        Effect.CHANGE,
        (RecordedStep(log, "a"),),
        following=Following(
            follow=lambda *_: log.append(("follow",)), afterwards=(RecordedStep(log, "b"),)
        ),
    )
    assert apply(plan, None).ok
    assert log == [("send", "a"), ("follow",), ("send", "b")]
