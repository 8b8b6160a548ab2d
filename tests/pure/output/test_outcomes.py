from __future__ import annotations

import json

import pytest

from kafka_shell.base.outcome import ChangeResult, Outcome
from kafka_shell.base.plans import Bookkeeping, Change, NotChecked, Resource
from kafka_shell.base.results import Failure, Results
from kafka_shell.base.structs import replace
from tests.support.samples import GONE, err_of, out_of, outcome, plan, topic, validated, writer

THREE = plan(
    Change(topic("a"), "create", after="1 partition"),
    Change(topic("b"), "alter", "retention.ms", "1", "2"),
    Change(topic("c"), "delete", before="1 partition", reversible=False),
    refused=Results({}, {topic("gone"): GONE}),
)


def names(first: int, last: int) -> str:
    return ", ".join(f"t{number:02}" for number in range(first, last + 1))


def test_done_on_out_the_rest_on_err() -> None:
    drawing = writer()
    drawing.write(outcome(THREE, "done", "failed", "unknown", undo=("delete-topic a",)))
    assert out_of(drawing) == "created topic a: 1 partition\n"
    assert err_of(drawing) == (
        "error: topic b retention.ms: No. (POLICY_VIOLATION)\n"
        "outcome unknown: topic c: the change may still be applied; check before retrying\n"
        "1 done, 1 failed, 1 unknown, 1 rejected\n"
        "undo: delete-topic a\n"
    )


def test_fields_of_one_resource_share_a_line_and_the_fresh_state_follows() -> None:
    made = plan(
        Change(topic("b"), "alter", "retention.ms", "1", "2"),
        Change(topic("b"), "alter", "segment.ms", "1", "2"),
    )
    drawing = writer()
    drawing.write(outcome(made, "done", "done", fresh="fresh"))
    assert (
        out_of(drawing)
        == "altered topic b: retention.ms 1ms -> 2ms, segment.ms 1ms -> 2ms\nfresh\n"
    )
    assert err_of(drawing) == ""


def test_a_plan_that_nobody_confirms_shows_only_its_remarks() -> None:
    same = Change(topic("b"), "alter", "retention.ms", "1", "1", "no change: already set")
    made = plan(
        Change(topic("a"), "alter", "x", "1", "2"),
        unchanged=(same,),
        refused=Results({}, {topic("gone"): GONE}),
        about=("undo 1",),
        warnings=("records are deleted",),
        notes=("a note",),
        not_checked=(NotChecked("producers", "timeout"),),
    )
    refused = "error: topic gone: This server does not host"
    for more, lines in (
        ({}, ["undo 1", "unchanged topic b: retention.ms 1ms", "warning: records are deleted",
              "not checked: producers: timeout"]),
        ({"quiet": True}, []),
    ):  # fmt: skip
        drawing = writer(**more)
        drawing.draw_plan(made, None)
        first, *rest = err_of(drawing).splitlines()
        assert first.startswith(refused) and rest == lines
    drawing = writer(verbose=True)
    drawing.draw_plan(made, None)
    assert "x: 1 -> 2" in err_of(drawing) and "note: a note" in err_of(drawing)


def test_what_undoes_a_change_is_one_line() -> None:
    gone = Change(topic("c"), "delete", before="1 partition", reversible=False)
    change = Change(topic("a"), "alter", "x", "1", "2")
    for changes, undo, told in (
        ((change,), ("line",), "undo: line\n"),
        ((change, change), ("one", "two"), "undo: undo 0a\n"),
        ((change, gone), ("line",), "undo: line\n  (1 topic: irreversible)\n"),
        ((gone,), (), "undo: none (irreversible)\n"),
    ):
        for more, shown in (({}, told), ({"quiet": True}, ""), ({"in_script": True}, "")):
            drawing = writer(**more)
            made = outcome(plan(*changes), *["done"] * len(changes), undo=undo)
            drawing.write(replace(made, entry="0a"))
            assert err_of(drawing) == shown


def test_secrets_are_shown_even_if_quiet() -> None:
    drawing = writer(quiet=True)
    made = plan(Change(topic("a"), "create"), bookkeeping=Bookkeeping(secrets=("a secret",)))
    drawing.write(outcome(made, "done"))
    assert out_of(drawing) == "a secret\n"


def test_ids_of_topics_are_shown_with_verbose() -> None:
    made = plan(Change(topic("a"), "delete", before="1 partition", note="topic ID x"))
    for verbose in (True, False):
        drawing = writer(verbose=verbose)
        drawing.write(outcome(made, "done"))
        drawing.draw_plan(made, ())
        assert ("topic ID x" in out_of(drawing)) is ("topic ID x" in err_of(drawing)) is verbose


def test_many_are_counted() -> None:
    made = plan(*(Change(topic(f"t{n}"), "create") for n in range(30)))
    drawing = writer()
    drawing.write(outcome(made, *["done"] * 30))
    assert out_of(drawing) == "created 30 topics\n"


def test_equal_failures_are_counted_and_the_next_command_is_shown() -> None:
    made = plan(*(Change(topic(f"t{n:02}"), "create") for n in range(60)))
    ends = ["done"] * 20 + ["unknown"] * 20 + ["skipped"] * 20
    drawing = writer()
    drawing.write(
        replace(outcome(made, *ends), retry="create-topic --from-file f", check="x", entry="0a")
    )
    assert err_of(drawing) == (
        "outcome unknown: topic t20: the change may still be applied; check before retrying\n"
        f"outcome unknown: the same for 19 more topics: {names(21, 39)}\n"
        "skipped: topic t40: an earlier change failed\n"
        f"skipped: the same for 19 more topics: {names(41, 59)}\n"
        "20 done, 20 unknown, 20 skipped\n"
        "see: x\n"
        "to continue: create-topic --from-file f\n"
        "details: journal 0a --output json\n"
    )


def test_many_failures_of_one_sort_are_counted() -> None:
    """Each message names its own topic; the reason is the same."""
    made = plan(*(Change(topic(f"t{n:02}"), "create") for n in range(30)))
    there = [
        ChangeResult(
            change, "failed", Failure("TOPIC_ALREADY_EXISTS", f"Topic '{change.resource.name}'")
        )
        for change in made.changes
    ]
    drawing = writer()
    drawing.write(Outcome(made, tuple(there), entry="0a"))
    assert err_of(drawing) == (
        "error: Topic 't00' (TOPIC_ALREADY_EXISTS)\n"
        f"error: the same for 29 more topics: {names(1, 19)} and 10 more"
        " (for the full list, use journal 0a --output json)\n"
        "30 failed\n"
    )


def test_many_refusals_are_counted() -> None:
    refused = Results({}, {topic(f"t{n:02}"): GONE for n in range(30)})
    drawing = writer()
    drawing.draw_plan(plan(refused=refused), ())
    assert err_of(drawing).splitlines()[0].startswith("error: topic t00: This server")
    assert err_of(drawing).splitlines()[1:] == [
        f"error: the same for 29 more topics: {names(1, 19)} and 10 more"
        " (for the full list, use --dry-run --output json)"
    ]


def test_many_refusals_and_failures_for_different_reasons_are_all_named() -> None:
    reasons = [Failure("INVALID_REQUEST", f"reason {n % 2}") for n in range(24)]
    about = [topic(f"t{n:02}") for n in range(24)]
    drawing = writer()
    drawing.draw_plan(plan(refused=Results({}, dict(zip(about, reasons, strict=True)))), ())
    changes = [Change(each, "create") for each in about]
    results = map(ChangeResult, changes, ["failed"] * 24, reasons)
    failed = writer()
    failed.write(Outcome(plan(*changes), tuple(results)))
    for lines in (err_of(drawing).splitlines(), err_of(failed).splitlines()[:-1]):
        assert [line.partition(", ")[0] for line in lines] == [
            "error: topic t00: reason 0 (INVALID_REQUEST)",
            "error: the same for 11 more topics: t02",
            "error: topic t01: reason 1 (INVALID_REQUEST)",
            "error: the same for 11 more topics: t03",
        ]


def test_very_many_different_failures_are_counted() -> None:
    about = [topic(f"t{n}") for n in range(3_000)]
    reasons = [Failure("INVALID_REQUEST", f"reason {n}") for n in range(3_000)]
    drawing = writer()
    drawing.draw_plan(plan(refused=Results({}, dict(zip(about, reasons, strict=True)))), ())
    *shown, last = err_of(drawing).splitlines()
    assert shown[-1] == "error: topic t18: reason 18 (INVALID_REQUEST)"
    assert last == "error: 2,981 more (for the full list, use --dry-run --output json)"
    results = map(ChangeResult, [Change(each, "create") for each in about], ["failed"] * 3_000,
                  reasons)  # fmt: skip
    failed = writer()
    failed.write(Outcome(plan(), tuple(results), entry="0a"))
    assert err_of(failed).splitlines()[-2:] == [
        "error: 2,981 more (for the full list, use journal 0a --output json)", "3,000 failed",
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["such", "see", "no", "The"])
def test_a_topic_called_like_a_word_of_the_message_is_named(name: str) -> None:
    why = Failure("UNKNOWN_TOPIC_OR_PARTITION", "no such topic: The name is free, see the list")
    refused = Results({}, {topic(name): why})
    drawing = writer()
    drawing.draw_plan(plan(refused=refused), ())
    assert err_of(drawing).startswith(f"error: topic {name}: no such topic: ")


def test_an_unknown_outcome_names_its_resource_once() -> None:
    made = plan(Change(topic("t"), "create"))
    late = Failure("REQUEST_TIMED_OUT", "topic t is created but not complete", 7, hint="Look again")
    drawing = writer()
    drawing.write(
        Outcome(made, (ChangeResult(made.changes[0], "unknown", late),), check="describe-topic t")
    )
    assert err_of(drawing) == (
        "outcome unknown: topic t: the change may still be applied; check before retrying"
        " (topic t is created but not complete)\n"
        "see: describe-topic t\n"
    )


def test_an_undo_with_control_characters_is_not_shown() -> None:
    change = Change(topic("a"), "alter", "x", "1\n!touch PWNED", "2")
    drawing = writer()
    drawing.write(outcome(plan(change), "done", undo=("alter-configs a 'x=1\n!touch PWNED'",)))
    assert err_of(drawing) == (
        "undo: not shown: it contains control characters (saved in the journal)\n"
    )


def test_a_dry_run_is_its_plan_and_the_verdicts() -> None:
    drawing = writer()
    drawing.write(outcome(THREE, "planned", "failed", "planned", dry_run=True))
    assert out_of(drawing).splitlines()[0] == "+ topic a: 1 partition"
    assert out_of(drawing).splitlines()[-1] == (
        "3 changes to 3 topics: create 1, alter 1, delete 1"
    )
    assert [line.split(":")[1] for line in err_of(drawing).splitlines()] == [
        " topic gone",
        " topic b retention.ms",
        " nothing was changed (Kafka cannot validate this change)",
    ]


def test_a_dry_run_shows_the_verdict_of_the_brokers() -> None:
    change = Change(topic("a"), "alter", "x", "1", "2")
    refused = Results({}, {topic("gone"): GONE})
    for made, status, verdict in (
        (validated(change), "planned", "nothing was changed; the brokers accept the plan"),
        (
            validated(change, refused=refused),
            "planned",
            "nothing was changed; the brokers accept the rest",
        ),
        (validated(change), "failed", "nothing was changed"),
        (
            plan(change),
            "planned",
            "nothing was changed (Kafka cannot validate this change)",
        ),
    ):
        for format in ("table", "json"):
            drawing = writer(format)
            drawing.write(outcome(made, status, dry_run=True))
            assert err_of(drawing).splitlines()[-1] == f"dry run: {verdict}"
    nothing = writer()
    nothing.write(outcome(plan(), dry_run=True))
    assert err_of(nothing) == "dry run: nothing was changed\n"


def test_the_undo_shown_before_a_question_is_not_repeated() -> None:
    change = Change(topic("a"), "alter", "x", "1", "2")
    for told in (True, False):
        drawing = writer()
        drawing.write(outcome(plan(change), "done", undo=("line",), undo_shown=told))
        assert ("undo: line" in err_of(drawing)) is not told


def test_a_failure_of_several_fields_of_a_resource_is_one_line() -> None:
    cm = Resource("client-metrics", "cm")
    made = plan(*(Change(cm, "alter", key, None, "1") for key in ("interval.ms", "match")))
    why = Failure("INVALID_CONFIG", 'client-metrics cm: "Illegal client matching pattern"')
    drawing = writer()
    ended = outcome(made, "failed", "failed")
    drawing.write(
        replace(ended, changes=tuple(ChangeResult(c, "failed", why) for c in made.changes))
    )
    assert err_of(drawing) == f"error: interval.ms, match: {why}\n2 failed\n"


def test_resources_are_named_in_kafkas_words() -> None:
    """Before: group-offsets billing."""
    offsets = Change(Resource("group-offsets", "billing"), "alter", "a:0", 1, 2)
    acl = Change(Resource("acl", "allow User:a Read on topic a"), "create")
    drawing = writer()
    drawing.write(outcome(plan(offsets, acl), "done", "done"))
    assert out_of(drawing) == (
        "altered offsets of group billing: a:0 1 -> 2\ncreated ACL allow User:a Read on topic a\n"
    )


def test_a_note_of_a_plan_is_no_warning() -> None:
    made = plan(Change(topic("a"), "alter", "x", "1", "2"), notes=("no records would be deleted",))
    drawing = writer()
    drawing.write(made)
    assert out_of(drawing).splitlines()[-1] == "note: no records would be deleted"
    drawing = writer("json")
    drawing.write(outcome(made, "done"))
    assert json.loads(out_of(drawing))["notes"] == ["no records would be deleted"]


def test_json_includes_unchanged_items() -> None:
    drawing = writer("json")
    same = Change(topic("a"), "alter", "x", "1", "1")
    drawing.write(outcome(plan(unchanged=(same,))))
    (row,) = json.loads(out_of(drawing))["changes"]
    assert (row["field"], row["status"]) == ("x", "unchanged")


def test_json_of_a_change() -> None:
    drawing = writer("json")
    drawing.write(outcome(THREE, "done", "failed", "done", undo=("delete-topic a",), fresh=object))
    data = json.loads(out_of(drawing))
    assert list(data) == ["changes", "undo", "warnings", "dry_run"]
    assert data["undo"] == ["delete-topic a"]
    assert data["changes"][1] == {
        "resource": "topic b",
        "verb": "alter",
        "field": "retention.ms",
        "before": "1",
        "after": "2",
        "status": "failed",
        "error": "POLICY_VIOLATION",
        "message": "No.",
    }
    assert [(row["resource"], row["status"]) for row in data["changes"]] == [
        ("topic a", "done"),
        ("topic b", "failed"),
        ("topic c", "done"),
        ("topic gone", "rejected"),
    ]
    assert "POLICY_VIOLATION" in err_of(drawing)


def test_many_replicas_of_a_throttle_are_counted() -> None:
    throttle = Resource("throttle", "topic t")
    replicas = Change(throttle, "alter", "leader.replication.throttled.replicas", "0:1,0:2", None)
    drawing = writer()
    drawing.write(outcome(plan(replicas), "done"))
    assert out_of(drawing).splitlines()[0].endswith("throttled.replicas 2 replicas -> (removed)")


def test_offsets_of_many_partitions_are_counted() -> None:
    group = Resource("group-offsets", "g")
    made = plan(*(Change(group, "alter", f"t:{n}", "1", "2") for n in range(9)))
    drawing = writer()
    drawing.write(outcome(made, *["done"] * 9))
    assert out_of(drawing) == "altered offsets of group g: 9 partitions\n"


@pytest.mark.parametrize("reversible", [True, False])
def test_what_was_kept_is_not_told_but_a_new_password_is(reversible: bool) -> None:
    """A password is replaced beside the same iterations."""
    same = ("alter", "SCRAM-SHA-256", "iterations=4096", "iterations=4096")
    change = Change(Resource("user", "alice"), *same, note="n", reversible=reversible)
    drawing = writer()
    drawing.write(outcome(plan(change), "done"))
    assert ("user alice" in out_of(drawing)) is not reversible
