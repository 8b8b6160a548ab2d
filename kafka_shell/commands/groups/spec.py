"""Declarations of the groups commands."""

from __future__ import annotations

from kafka_shell.base.errors import ShellError
from kafka_shell.base.plans import Effect
from kafka_shell.base.structs import replace
from kafka_shell.base.units import INTEGER, format_duration, parse_duration
from kafka_shell.commands import by_name
from kafka_shell.language import kinds
from kafka_shell.language.command import Argument, Command, Example, Option, Short
from kafka_shell.language.kinds import CandidateSource, Kind

# No API lists the types and states. Which states a group can have depends on its type.
TYPES = ("classic", "consumer", "share", "streams")
STATES = (
    "Empty", "Stable", "PreparingRebalance", "CompletingRebalance", "Assigning", "Reconciling",
    "NotReady", "Dead",
)  # fmt: skip
GROUPS = Argument("groups", kinds.GROUPS, "Groups: a,b  pay*  /regex/", many=True, required=False)
GROUP = Option("--group", kinds.GROUP_ID,
               "A group by its exact name, not a pattern; may be repeated.",
               many=True)  # fmt: skip
NAMED = (("groups", "--group"),)
_VIEWS = ("--offsets", "--members", "--state", "--lag")


def _view(name: str, help: str) -> Option:
    others = tuple(view for view in _VIEWS if view != name)
    return Option(name, kinds.FLAG, help, excludes=others)


TARGETS = CandidateSource(
    by_name("groups.complete:offer_targets"), by_name("groups.complete:needs_of_targets")
)
PARTITIONS = CandidateSource(
    by_name("groups.complete:offer_partitions"), by_name("groups.complete:needs_of_partitions")
)


def _read_age(text: str) -> int:
    """Milliseconds; the unit is required, as Kafka's tool requires PT...: it may be seconds."""
    if INTEGER.fullmatch(text):
        raise ShellError("no unit", hint="Use a unit: ms, s, m, h, d, w.")
    return parse_duration(text)


_TARGET = Kind("text", TARGETS)
_AGE = kinds.Number("duration", "a duration such as PT1H or 1h", _read_age, format_duration)
GROUP_PARTITIONS = kinds.Partitions("topic-partitions", PARTITIONS, "TOPIC")
_HIDDEN = {
    "--to-earliest": kinds.FLAG,
    "--to-latest": kinds.FLAG,
    "--to-current": kinds.FLAG,
    "--to-offset": kinds.INTEGER,
    "--shift-by": kinds.INTEGER,
    "--to-datetime": kinds.TIME,
    "--by-duration": _AGE,
    "--from-file": kinds.FILE,
}


COMMANDS: tuple[Command, ...] = (
    Command(
        name="list-groups",
        summary="List consumer, share and streams groups.",
        family="groups",
        run="groups.run:list_groups",
        arguments=(GROUPS,),
        options=(
            Option("--type", kinds.CHOICE, "Only groups of this type; may be repeated.", many=True,
                   choices=TYPES, aliases=("--group-type",), metavar="TYPE"),
            Option("--state", kinds.CHOICE, "Only groups in this state; may be repeated.",
                   many=True, choices=STATES, metavar="STATE"),
            Option("--long", kinds.FLAG, "Also show type, state, protocol and coordinator.",
                   aliases=("-l",)),
        ),
        shorts=(Short("groups", "list-groups"),),
        search=("consumers", "consumer", "share", "streams", "names"),
        apis=(16,),
        examples=(
            Example("list-groups", "list all groups, one name per line"),
            Example("list-groups --long", "include type, state and coordinator"),
            Example("list-groups --state Empty | wc -l", "count the groups without members"),
            Example("list-groups --type share --type streams", "list share and streams groups"),
        ),
    ),
    Command(
        name="describe-group",
        summary="Show state, offsets, lag and members of groups.",
        family="groups",
        run="groups.describe:describe_group",
        arguments=(replace(GROUPS, help=f"{GROUPS.help} (default: all)"),),
        options=(
            GROUP,
            _view("--offsets", "Only offsets and lag."),
            _view("--members", "Only members and their assignments."),
            _view("--state", "One line per group: state, members, lag; largest lag first."),
            _view("--lag", "Show lag: one line per group, largest first; for named groups, one line"
                           " per partition."),
            Option("--by", kinds.CHOICE,
                   "group: one line per group; partition: one line per partition. Largest lag"
                   " first.", choices=("group", "partition"), excludes=("--members", "--state")),
            Option("--sort", kinds.CHOICE, "lag: largest lag first, over all groups.",
                   choices=("lag",), excludes=("--members",)),
        ),
        shorts=(
            Short("group", "describe-group"),
            Short("lag", "describe-group --lag"),
        ),
        search=("lag", "consumers", "consumer", "members", "offsets", "assignment"),
        apis=(1, 2, 9, 15, 16, 69, 77, 89, 90),
        description=(
            "LAG is LOG-END-OFFSET minus CURRENT-OFFSET, or - if no offset is committed or the"
            " partition cannot be read; a negative LAG (the topic was recreated) counts as"
            " unknown.\n"
            "NOTE shows errors, and committed offsets below the log start offset: consumers then"
            " use their auto.offset.reset.\n"
            "TIME-LAG is how long ago the oldest unread record was written, by its timestamp and"
            " the clock of this computer; it requires READ on the topics.\n"
            "lag sums the known lags of each group and counts unknown ones; lag --sort lag sorts"
            " the partitions of all groups.\n"
            "watch 5 lag also shows the change per second over the last 15 s and the time to"
            " catch up, and stuck in NOTE if the committed offset has not moved for 10 s while"
            " records arrived."
        ),
        examples=(
            Example("describe-group orders-enricher", "describe a group"),
            Example("describe-group --state", "show all groups, one line each"),
            Example("lag", "show the lag of all groups, largest first"),
            Example("lag fraud-check", "show the lag of a group by partition"),
            Example("lag --sort lag | head -5", "show the partitions with the largest lag"),
            Example("describe-group billing-sync crm-export --output json",
                    "print JSON for a program"),
        ),
    ),
    Command(
        name="delete-group",
        summary="Delete groups without members, with their committed offsets.",
        family="groups",
        run="groups.changes:delete_group",
        effect=Effect.DESTROY,
        arguments=(GROUPS,),
        options=(
            GROUP,
            Option("--if-exists", kinds.FLAG, "Skip groups that do not exist."),
        ),
        at_least_one=NAMED,
        search=("remove", "drop", "consumer"),
        apis=(9, 15, 16, 42, 69, 77, 89, 90),
        examples=(
            Example("delete-group crm-export --dry-run", "show which offsets would be lost"),
            Example("delete-group anna-console --if-exists --yes", "delete without confirmation"),
        ),
    ),
    Command(
        name="remove-members",
        summary="Remove members from groups.",
        family="groups",
        run="groups.changes:remove_members",
        effect=Effect.DESTROY,
        arguments=(GROUPS,),
        options=(
            GROUP,
            Option("--member", kinds.TEXT, "Only the member with this ID; may be repeated.",
                   many=True, metavar="ID"),
            Option("--instance", kinds.TEXT,
                   "Only the member with this group.instance.id; may be repeated.", many=True,
                   metavar="ID", aliases=("--group-instance-id",)),
            Option("--reason", kinds.TEXT, "The reason, logged by the coordinator."),
        ),
        at_least_one=NAMED,
        search=("kick", "leave", "evict", "consumer"),
        apis=(13, 15, 16, 69, 77, 89),
        description=(
            "Without --member or --instance, removes all members. A client that is still running"
            " joins again, so use this for members whose clients are gone, such as static members."
        ),
        examples=(
            Example("remove-members orders-enricher --dry-run",
                    "show which members would be removed"),
        ),
    ),
    Command(
        name="reset-offsets",
        summary="Reset the committed offsets of inactive groups.",
        family="groups",
        run="groups.changes:reset_offsets",
        effect=Effect.DESTROY,
        arguments=(GROUPS,),
        options=(
            GROUP,
            Option("--to", _TARGET,
                   "The new offsets: earliest, latest, 1200, -10, -1h, group:g ...",
                   metavar="WHERE"),
            Option("--offset", kinds.TEXT, "Single offsets: orders:0=5,1=none; may be repeated.",
                   many=True, metavar="T:P=N", excludes=("--topic",)),
            Option("--topic", GROUP_PARTITIONS,
                   "Only these partitions: orders:0,3-5  orders  svc-*", many=True),
            Option("--export", kinds.FILE,
                   "Write the new offsets to a new file, for --to file:FILE."),
            Option("--type", kinds.CHOICE, "The type of group to create if it does not exist.",
                   choices=("classic", "share"), metavar="TYPE"),
            *(Option(name, kind, "An option of kafka-consumer-groups; see --to.", hidden=True,
                     least=0 if name in ("--to-offset", "--by-duration") else None)
              for name, kind in _HIDDEN.items()),
            Option("--all-topics", kinds.FLAG, "The default without --topic.", hidden=True,
                   excludes=("--topic", "--offset")),
            Option("--execute", kinds.FLAG, "The default without --dry-run.", hidden=True),
        ),
        exactly_one=(("to", "offset", *(name.removeprefix("--") for name in _HIDDEN)),),
        at_least_one=NAMED,
        search=("rewind", "seek", "replay", "skip", "commit", "offset", "lag"),
        apis=(2, 8, 9, 15, 16, 47, 69, 77, 89, 90, 91, 92),
        description=(
            "Values of --to: earliest, latest, current, an offset (1200), a shift (+10, -10), a "
            "time (2026-01-31T10:00), a time before now (-1h, -P1D), group:OTHER, or file:FILE "
            "(CSV of topic,partition,offset).\n"
            "To save the current offsets: --to current --export before.csv --dry-run.\n"
            "Without --topic, resets all partitions with committed offsets; a pattern in --topic "
            "selects only topics in which the group has offsets.\n"
            "The groups must have no members; one that does not exist is created if a topic is "
            "given.\n"
            "The options of kafka-consumer-groups work too, such as --to-earliest and --shift-by."
        ),
        examples=(
            Example("reset-offsets orders-enricher --to -1h --dry-run",
                    "preview a reset to one hour ago"),
            Example("reset-offsets fraud-check --to +1 --topic payments.authorized:2 --dry-run",
                    "preview skipping a record that cannot be processed"),
            Example("reset-offsets billing-sync.v2 --to group:billing-sync --dry-run",
                    "preview a new group with the offsets of another"),
            Example("reset-offsets anna-console --to latest --topic tmp.replay --yes",
                    "reset without confirmation"),
        ),
    ),
    Command(
        name="delete-offsets",
        summary="Delete committed offsets of topics that groups no longer read.",
        family="groups",
        run="groups.changes:delete_offsets",
        effect=Effect.DESTROY,
        arguments=(GROUPS,),
        options=(
            GROUP,
            Option("--topic", GROUP_PARTITIONS,
                   "Partitions: orders:0,3-5  orders  svc-*", many=True, required=True),
        ),
        at_least_one=NAMED,
        search=("remove", "forget", "offset"),
        apis=(2, 9, 15, 16, 47, 69, 77, 89, 90, 92),
        examples=(
            Example("delete-offsets shipping-notifier --topic orders.shipped --dry-run",
                    "show which offsets would be deleted"),
            Example("delete-offsets billing-sync --topic payments.captured:5 --yes",
                    "delete without confirmation"),
        ),
    ),
)  # fmt: skip
