from __future__ import annotations

import pytest

from kafka_shell.admin.topics.model import TopicsUse, TopicUse
from kafka_shell.base.plans import Change, Effect, Resource
from kafka_shell.base.results import Results
from kafka_shell.base.structs import replace
from kafka_shell.output.outcomes import plan_lines
from tests.support.samples import GONE, RENDERERS, Tty, err_of, out_of, plain, plan, topic, writer


def lines(*changes: Change) -> str:
    """The lines of the changes, without the closing one."""
    drawn = plain(plan_lines(plan(*changes))).split("\n")
    return "\n".join(line for line in drawn if " changes to " not in line)


def test_an_overridden_default_shows_its_value_and_source() -> None:
    change = Change(
        topic("orders"), "alter", "retention.ms", None, "86400000",
        effective="604800000", source="default",
    )  # fmt: skip
    assert lines(change) == "topic orders\n  retention.ms: 7d (default) -> 1d"


def test_an_override_is_replaced_removed_or_new() -> None:
    orders = topic("orders")
    assert lines(
        Change(orders, "alter", "cleanup.policy", "compact", "compact,delete"),
        Change(orders, "alter", "segment.ms", "3600000", None),
        Change(orders, "alter", "follower.replication.throttled.replicas", None, "*"),
    ) == (
        "topic orders\n"
        "    cleanup.policy: compact -> compact,delete\n"
        "  - segment.ms: 1h -> (removed)\n"
        "  + follower.replication.throttled.replicas: *"
    )


def test_whole_resources_come_and_go() -> None:
    assert lines(
        Change(topic("new"), "create", after="6 partitions"),
        Change(topic("old"), "delete", before="12 partitions", note="id x", reversible=False),
    ) == (
        "+ topic new: 6 partitions\n"
        "- topic old: 12 partitions (id x) (irreversible)"
    )  # fmt: skip


def test_figures_of_which_nothing_is_known_leave_no_blank_lines() -> None:
    change = Change(topic("old"), "delete", before="1 partition")
    made = plan(change, figures=(TopicsUse((TopicUse("old"),)),))
    assert plain(plan_lines(made, (), RENDERERS)) == "- topic old: 1 partition"


def test_a_sensitive_change_shows_its_note_alone() -> None:
    broker = Resource("broker", "1")
    change = Change(broker, "alter", "ssl.key.password", note="not shown", reversible=False)
    assert lines(change) == "broker 1\n  ssl.key.password (not shown) (irreversible)"


def test_empty_strings_are_seen() -> None:
    change = Change(topic("orders"), "alter", "cleanup.policy", "delete", "")
    assert lines(change) == 'topic orders\n  cleanup.policy: delete -> ""'


def test_the_rest_of_a_plan() -> None:
    made = plan(
        Change(topic("a"), "create", after="1 partition"),
        Change(Resource("broker", "1"), "alter", "x", "1", "2"),
        warnings=("broker 3 is away",),
        refused=Results({}, {topic("gone"): GONE}),
    )
    drawing = writer()
    drawing.draw_plan(made, ("delete-topic a", "alter-configs --broker-id 1 x=1"))
    assert out_of(drawing) == ""
    assert err_of(drawing) == (
        "+ topic a: 1 partition\n"
        "broker 1\n"
        "  x: 1 -> 2\n"
        "error: topic gone: This server does not host this topic-partition."
        " (UNKNOWN_TOPIC_OR_PARTITION)\n"
        "warning: broker 3 is away\n"
        "2 changes to 1 topic, 1 broker: create 1, alter 1\n"
        "undo:\n"
        "delete-topic a\n"
        "alter-configs --broker-id 1 x=1\n"
    )


def test_nothing_to_change() -> None:
    assert plain(plan_lines(plan())) == "nothing to change"


def test_unchanged_items_are_shown_with_their_resource() -> None:
    note = "no change: already set"
    same = Change(topic("a"), "alter", "retention.ms", "3600000", "3600000", note=note)
    none = Change(
        topic("a"), "alter", "flush.ms", note="no change: not set",
        effective="1", source="default",
    )  # fmt: skip
    assert plain(plan_lines(plan(unchanged=(same, none)))) == (
        "topic a\n"
        "  retention.ms: 1h (no change: already set)\n"
        "  flush.ms (no change: not set)\n"
        "nothing to change"
    )
    changes = Change(topic("a"), "create"), Change(topic("b"), "alter", "x", "1", "2")
    other = Change(topic("b"), "alter", "y", "1", "1", note=note)
    assert plain(plan_lines(plan(*changes, unchanged=(same, other)))).split("\n")[-4:-1] == [
        "topic b",
        "  x: 1 -> 2",
        f"  y: 1 ({note})",
    ]


def test_losses_are_shown_below_the_undo() -> None:
    change = Change(topic("a"), "alter", "retention.ms", "2", "1", lost="they stay deleted")
    assert plain(plan_lines(plan(change), ("one",))).split("\n")[-2:] == [
        "undo: one",
        "  (they stay deleted)",
    ]
    assert plain(plan_lines(plan(change), ("one", "two"))).split("\n")[-4:] == [
        "undo:",
        "one",
        "two",
        "  (they stay deleted)",
    ]
    many = plain(plan_lines(plan(change), ("one",) * 1000)).split("\n")[-2:]
    assert many == [
        "undo: 1,000 commands (saved in the journal when applied)",
        "  (they stay deleted)",
    ]


def test_a_long_plan_is_counted_on_a_terminal_and_whole_in_a_file() -> None:
    made = plan(*(Change(topic(f"t{n}"), "create", after="1 partition") for n in range(300)))
    drawing = writer()
    drawing.draw_plan(made, (), stream=drawing.out)
    assert out_of(drawing).count("\n") == 300
    drawing = writer(tty=True)
    drawing.draw_plan(made, (), stream=drawing.out)
    assert out_of(drawing).splitlines() == [
        "+ 300 topics, t0 to t99: 1 partition",
    ]
    drawing.verbose = True
    drawing.draw_plan(made, (), stream=drawing.out)
    assert out_of(drawing).count("\n") == 1 + 300


def test_resources_with_the_same_changes_are_shown_together() -> None:
    made = plan(
        *(Change(topic(f"web.{n}"), "alter", "retention.ms", "1", "2") for n in range(30)),
        *(Change(topic(f"pay.{n}"), "create", after="6 partitions") for n in range(30)),
    )
    assert plain(plan_lines(made, limit=10)).split("\n")[:4] == [
        "30 topics, web.*",
        "  retention.ms: 1ms -> 2ms",
        "+ 30 topics, pay.*: 6 partitions",
        "60 changes to 60 topics: create 30, alter 30",
    ]


def test_resources_whose_values_alone_differ_are_shown_together() -> None:
    made = plan(
        *(Change(topic(f"web.{n}"), "alter", "retention.ms", str(n), "604800000")
          for n in range(30)),
        *(Change(topic(f"pay.{n}"), "alter", "segment.ms", str(n % 2 + 1), "3") for n in range(30)),
        *(Change(topic(f"new.{n}"), "create", after=f"{n + 1} partitions") for n in range(30)),
        Change(topic("other"), "alter", "retention.bytes", "5", "2"),
    )  # fmt: skip
    assert plain(plan_lines(made, limit=10)).split("\n") == [
        "30 topics, web.*",
        "  retention.ms: 30 values -> 7d",
        "30 topics, pay.*",
        "  segment.ms: 1ms, 2ms -> 3ms",
        "+ 30 topics, new.*: 30 values",
        "topic other",
        "  retention.bytes: 5 -> 2",
        "(values differ between the resources; to list them, use --verbose)",
        "91 changes to 91 topics: create 30, alter 61",
    ]


def test_changes_of_too_many_sorts_are_counted() -> None:
    made = plan(*(Change(topic(f"k{n}"), "alter", f"x{n}", "old", "new") for n in range(60)))
    drawn = plain(plan_lines(made, limit=10)).split("\n")
    assert drawn[8:11] == ["topic k4", "  x4: old -> new", "... and 55 topics (55 altered)"]


def test_a_long_change_of_one_resource_is_counted_too() -> None:
    made = plan(*(Change(topic("t"), "alter", f"k{n}", "a", "b") for n in range(100)))
    drawn = plain(plan_lines(made, limit=40)).split("\n")
    assert len(drawn) == 41
    assert drawn[-1] == "... in total, 1 topic (100 altered)"


def test_long_lines_hang_on_a_narrow_terminal() -> None:
    change = Change(topic("old"), "delete", before="12 partitions", reversible=False)
    assert plain(plan_lines(plan(change), room=30)).split("\n")[:2] == [
        "- topic old: 12 partitions",
        "      (irreversible)",
    ]


def test_signs_stay_without_color_and_colors_have_signs() -> None:
    from kafka_shell.output.theme import load
    from kafka_shell.output.writer import Writer

    drawing = Writer(Tty(), Tty(), theme=load("midnight"), color=True, depth=256)
    drawing.draw_plan(plan(Change(topic("new"), "create", after="x")), ())
    assert "\x1b[38;5;77;48;5;22m+ topic new\x1b[0m: x" in err_of(drawing)


def test_many_deletions_are_grouped_and_what_is_lost_is_named() -> None:
    gone = [
        Change(topic(f"tmp.{number:03}"), "delete", before="1 partition",
               note=f"topic ID {number}", reversible=False)
        for number in range(300)
    ]  # fmt: skip
    first, names = plain(plan_lines(plan(*gone[:30]), limit=40)).split("\n")
    assert first == "- 30 topics, tmp.0*: 1 partition (irreversible)"
    assert names.split(", ") == ["      tmp.000", *(f"tmp.{number:03}" for number in range(1, 30))]
    assert "tmp.199 and 100 more" in plain(plan_lines(plan(*gone), limit=40))


def test_deleted_name_that_may_look_like_another_is_marked() -> None:
    lookalike, invisible = "\u043erders", "orders\ufe0f"
    shown = lines(*(Change(Resource("group", name), "delete") for name in (lookalike, invisible)))
    assert "warning: a name that may look like another: group \\u043erders" in shown
    assert "- group orders\\ufe0f" in shown
    assert "look like" not in lines(Change(Resource("group", "orders"), "delete"))
    assert "look like" not in lines(Change(Resource("group", lookalike), "create"))


@pytest.mark.parametrize(
    ("change", "effect", "marked"),
    [
        (Change(Resource("acl", "User:\u0430lice has ALL"), "delete"), Effect.DESTROY, True),
        (Change(Resource("user", "\u0430lice"), "alter", "SCRAM-SHA-256", "4096", None),
         Effect.DESTROY, True),
        (Change(Resource("user", "\u0430lice"), "alter", "producer_byte_rate", 5, None),
         Effect.CHANGE, True),
        (Change(Resource("group", "\u043erders"), "alter", "orders:0", 5, 9), Effect.DESTROY, True),
        (Change(Resource("transactional-id", "p\u0430y"), "fence", "epoch", 1, 2),
         Effect.DESTROY, True),
        (Change(Resource("user", "\u0430lice"), "alter", "producer_byte_rate", 5, 9),
         Effect.CHANGE, False),
    ],
)  # fmt: skip
def test_names_in_a_plan_that_destroys_are_marked(
    change: Change, effect: Effect, marked: bool
) -> None:
    found = plain(plan_lines(replace(plan(change), effect=effect)))
    assert ("a name that may look like another" in found) == marked, found
