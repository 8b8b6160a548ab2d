"""Commands on groups: consumer, share, streams."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from kafka_shell.answers import Listing, Nothing
from kafka_shell.language.command import Argument, Command, Example, Invocation, Kind, Option, Short
from kafka_shell.plan.model import Effect, Plan, Resource
from kafka_shell.plan.results import Results

if TYPE_CHECKING:
    from kafka_shell.admin.groups.model import Group
    from kafka_shell.context import Context

# Kafka's own words; no API tells them. Which state a group can have depends on its type.
TYPES = ("classic", "consumer", "share", "streams")
STATES = (
    "Empty", "Stable", "PreparingRebalance", "CompletingRebalance", "Assigning", "Reconciling",
    "NotReady", "Dead",
)  # fmt: skip


# -- list ------------------------------------------------------------------------------------------


def list_groups(invocation: Invocation, context: Context) -> object:
    """Names of groups, or their types and states too."""
    from kafka_shell.admin.groups import read as groups
    from kafka_shell.admin.groups.model import GroupType

    types = [GroupType(each) for each in invocation["type"]]
    found = groups.list_groups(context.cluster, invocation["state"], types)
    if invocation["lag"] and found.values:
        from kafka_shell.admin.groups.model import GroupTotals

        of_type = {name: each.type for name, each in found.values.items()}
        told = groups.describe(context.cluster, of_type, offsets=True, types=of_type)
        rows: dict[str, object] = {
            name: GroupTotals.of(group) for name, group in _by_lag(told.values).items()
        }
        return _by_resource(Results(rows, found.failures | told.failures))
    if found.failures:
        return found  # rows, and an error for each broker whose groups are not among them
    if not found.values:
        asked = [*invocation["type"], *invocation["state"]]
        which = f" that is {' or '.join(asked)}" if asked else ""
        return Nothing(f"no group{which} (it takes Describe on a group to see it)")
    return Listing(tuple(found), long=invocation["long"])


# -- describe --------------------------------------------------------------------------------------


def describe_group(invocation: Invocation, context: Context) -> Results[Resource, object] | Nothing:
    """Groups: state, offsets with lag, members with what is assigned to them."""
    found = _described(invocation, context)
    if invocation["state"]:
        found = Results(_by_lag(found.values), found.failures)
    values = {name: _shown(group, invocation) for name, group in found.values.items()}
    if found.ok and not any(values.values()):
        what = "members" if invocation["members"] else "offsets"
        where = " ".join(found.values) or "any group (it takes Describe on a group to see it)"
        return Nothing(f"no {what} in {where}")
    return _by_resource(Results(values, found.failures))


def _described(invocation: Invocation, context: Context) -> Results[str, Group]:
    """The groups that are named, else all of them; those of brokers that fail are failures."""
    from kafka_shell.admin.groups import read as groups

    offsets = not invocation["members"]
    if invocation["group"]:
        return groups.describe(context.cluster, invocation["group"], offsets=offsets)
    listed = groups.list_groups(context.cluster)
    types = {name: each.type for name, each in listed.values.items()}
    found = groups.describe(context.cluster, types, offsets=offsets, types=types)
    return Results(found.values, listed.failures | found.failures)


def _by_lag(groups: Mapping[str, Group]) -> dict[str, Group]:
    """The groups that are furthest behind first; those whose lag is not known last."""

    def behind(name: str) -> tuple[bool, int, str]:
        lag = groups[name].lag
        return lag is None, -(lag or 0), name

    return {name: groups[name] for name in sorted(groups, key=behind)}


def _shown(group: Group, invocation: Invocation) -> object:
    """A page, or the rows of the one table that is asked for."""
    if invocation["members"]:
        return group.members
    if invocation["offsets"]:
        return group.offsets
    if invocation["state"]:
        from kafka_shell.admin.groups.model import GroupTotals

        return GroupTotals.of(group)
    return group


def _by_resource(found: Results[str, object]) -> Results[Resource, object]:
    def key(name: str) -> Resource:
        of_group = not name.startswith(("broker ", "lag in "))
        return Resource("group" if of_group else "", name)

    return Results(
        {key(name): value for name, value in found.values.items()},
        {key(name): why for name, why in found.failures.items()},
    )


# -- delete, remove --------------------------------------------------------------------------------


def delete_group(invocation: Invocation, context: Context) -> Plan:
    """Delete groups that have no members, and what they have committed."""
    from kafka_shell.admin.groups import members as group_members

    plan = group_members.plan_delete(context.cluster, invocation["group"])
    if invocation["if-exists"]:
        return plan.without_refused("GROUP_ID_NOT_FOUND")
    return plan


def remove_members(invocation: Invocation, context: Context) -> Plan:
    """Put members out of a group."""
    from kafka_shell.admin.groups import members as group_members

    return group_members.plan_remove(
        context.cluster,
        invocation["group"],
        members=invocation["member"],
        instances=invocation["instance"],
        reason=invocation["reason"] or "",
    )


_VIEWS = ("--offsets", "--members", "--state")


def _view(name: str, help: str) -> Option:
    others = tuple(each for each in _VIEWS if each != name)
    return Option(name, Kind.FLAG, help, excludes=others)


COMMANDS: tuple[Command, ...] = (
    Command(
        name="list-groups",
        summary="Names of the groups: consumer, share and streams.",
        family="groups",
        run=list_groups,
        options=(
            Option("--type", Kind.CHOICE, "Only groups of this type; may be repeated.", many=True,
                   choices=TYPES, aliases=("--group-type",), metavar="TYPE"),
            Option("--state", Kind.CHOICE, "Only groups in this state; may be repeated.",
                   many=True, choices=STATES, metavar="STATE"),
            Option("--long", Kind.FLAG, "Type, state, protocol and coordinator too.",
                   aliases=("-l",)),
            Option("--lag", Kind.FLAG,
                   "Members and lag too, the largest lag first (asks every coordinator)."),
        ),
        shorts=(Short("groups", "list-groups"),),
        search=("consumers", "consumer", "share", "streams", "names"),
        apis=(16,),
        examples=(
            Example("list-groups", "every group, one name a line"),
            Example("list-groups --long", "with type, state and coordinator"),
            Example("list-groups --state Empty | wc -l", "how many nobody reads for"),
            Example("list-groups --type share --type streams", "only the newer kinds"),
        ),
    ),
    Command(
        name="describe-group",
        summary="State, offsets with lag, and members of groups.",
        family="groups",
        run=describe_group,
        arguments=(
            Argument("group", Kind.GROUP, "Which groups (none: all).", many=True, required=False,
                     option="--group"),
        ),
        options=(
            _view("--offsets", "Only the offsets and their lag."),
            _view("--members", "Only the members and what is assigned to them."),
            _view("--state", "One line a group: state, members, lag; the largest lag first."),
        ),
        shorts=(
            Short("group", "describe-group"),
            Short("lag", "describe-group --offsets"),
            Short("lags", "describe-group --state"),
        ),
        search=("lag", "consumers", "consumer", "members", "offsets", "assignment"),
        apis=(2, 9, 15, 16, 69, 77, 89, 90),
        description=(
            "Whatever the protocol of a group: consumer (classic and new), share, streams. LAG is"
            " what lies between CURRENT-OFFSET and LOG-END-OFFSET; a - is an offset that was never"
            " committed, or a partition that cannot be read (NOTE says why)."
        ),
        examples=(
            Example("describe-group orders-enricher", "one group"),
            Example("describe-group --group fraud-check --offsets", "how far behind it is"),
            Example("describe-group --state", "all of them, a line each"),
            Example("describe-group billing-sync crm-export --output json", "for a program"),
        ),
    ),
    Command(
        name="delete-group",
        summary="Delete groups that have no members, with their offsets.",
        family="groups",
        run=delete_group,
        effect=Effect.DESTROY,
        arguments=(
            Argument("group", Kind.GROUP, "Which groups.", many=True, option="--group"),
        ),
        options=(
            Option("--if-exists", Kind.FLAG, "A group that is not there is no failure."),
        ),
        search=("remove", "drop", "consumer"),
        apis=(2, 9, 15, 16, 42, 69, 77, 89, 90),
        examples=(
            Example("delete-group crm-export --dry-run", "see what would be lost"),
            Example("delete-group anna-console --if-exists --yes", "without a question"),
        ),
    ),
    Command(
        name="remove-members",
        summary="Put members out of a group.",
        family="groups",
        run=remove_members,
        effect=Effect.DESTROY,
        arguments=(Argument("group", Kind.GROUP, "Which group.", option="--group"),),
        options=(
            Option("--member", Kind.TEXT, "Only the member with this id; may be repeated.",
                   many=True, metavar="ID"),
            Option("--instance", Kind.TEXT,
                   "Only the member with this group.instance.id; may be repeated.", many=True,
                   metavar="ID", aliases=("--group-instance-id",)),
            Option("--reason", Kind.TEXT, "Why: the coordinator logs it.", metavar="TEXT"),
        ),
        search=("kick", "leave", "evict", "consumer"),
        apis=(13, 15, 16, 69, 77, 89),
        description=(
            "Without --member or --instance: all of them. A client that still runs joins again; it"
            " is for members whose clients are gone, above all static ones."
        ),
        examples=(
            Example("remove-members orders-enricher --dry-run", "see who would be put out"),
        ),
    ),
)  # fmt: skip
