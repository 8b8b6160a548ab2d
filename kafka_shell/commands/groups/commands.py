"""Commands on consumer, share and streams groups."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from kafka_shell.base.command_results import Listing, NoRows
from kafka_shell.base.plans import Effect, Plan, Resource, merge_plans
from kafka_shell.base.results import Results
from kafka_shell.base.structs import replace
from kafka_shell.base.text import named
from kafka_shell.commands import select
from kafka_shell.language import kinds
from kafka_shell.language.command import Argument, Command, Example, Invocation, Option, Short

if TYPE_CHECKING:
    from kafka_shell.admin.groups.model import Group, GroupKey
    from kafka_shell.context import Context

# No API lists the types and states. Which states a group can have depends on its type.
TYPES = ("classic", "consumer", "share", "streams")
STATES = (
    "Empty", "Stable", "PreparingRebalance", "CompletingRebalance", "Assigning", "Reconciling",
    "NotReady", "Dead",
)  # fmt: skip


GROUPS = Argument("groups", kinds.GROUPS, "Groups: a,b  pay*  /regex/", many=True, required=False)
GROUP = Option("--group", kinds.GROUP_ID,
               "The group with this name, whatever characters it has; may be repeated.",
               many=True)  # fmt: skip
NAMED = (("groups", "--group"),)


# -- list ------------------------------------------------------------------------------------------


def list_groups(invocation: Invocation, context: Context) -> object:
    """The names of groups; with --long also details."""
    from kafka_shell.admin.groups import read as groups
    from kafka_shell.admin.groups.model import GroupType

    types = [GroupType(each) for each in invocation["type"]]
    found = groups.list_groups(context.cluster, invocation["state"], types)
    words, known = invocation["groups"], list(found.values)
    names = kinds.select(words or ("*",), known).names
    listing = Listing([found[name] for name in names], long=invocation["long"])
    if found.failures:  # of brokers that did not respond, and may have the groups that are named
        return Results({Resource("group"): listing}, _by_resource(found).failures)
    if isinstance(none := select.listed(words, known, "group", context), NoRows):
        return none
    if not known:
        filters = [*invocation["type"], *invocation["state"]]
        matching = f" of type or state {' or '.join(filters)}" if filters else ""
        return NoRows(f"no groups{matching} (groups without DESCRIBE permission are hidden)")
    return listing


# -- describe --------------------------------------------------------------------------------------


def describe_group(invocation: Invocation, context: Context) -> Results[Resource, object] | NoRows:
    """State, offsets with lag, and members with their assignments of groups."""
    found = _described(invocation, context)
    rows = _selected_rows(invocation, context, found)
    if found.values and not invocation["members"]:
        _note_hidden_offsets(context)  # after the rows, which take the time of reading for rates
    return rows


def _selected_rows(
    invocation: Invocation, context: Context, found: Results[GroupKey, Group]
) -> Results[Resource, object] | NoRows:
    if (invocation["lag"] or invocation["offsets"]) and _is_by(invocation) != "group":
        from kafka_shell.commands.groups.render import with_changes

        found = with_changes(found, _named(invocation), context.previous)
    if found.values and (invocation["sort"] or _is_by(invocation)):
        return _largest_lag_first(invocation, context, found)
    if invocation["state"]:
        found = Results(_sorted_by_lag(found.values), found.failures)
    values = {name: _selected_view(group, invocation) for name, group in found.values.items()}
    if found.ok and not any(values.values()):
        what = "members" if invocation["members"] else "offsets"
        where = " ".join(found.values) or "any visible group (requires DESCRIBE)"
        return NoRows(f"no {what} in {where}")
    return _by_resource(Results(values, found.failures))


def _named(invocation: Invocation) -> list[str]:
    return [*invocation["groups"], *invocation["group"]]


def _is_by(invocation: Invocation) -> str:
    """`group` or `partition` if the rows of all groups are sorted together, else empty."""
    of_all = invocation["lag"] and not _named(invocation) and not invocation["sort"]
    return invocation["by"] or ("group" if of_all else "")


def _described(invocation: Invocation, context: Context) -> Results[GroupKey, Group]:
    """The selected groups; each broker that failed is a failure."""
    from kafka_shell.admin.groups.read import describe_listed

    listed = select.groups(invocation, context.cluster)
    return describe_listed(context.cluster, listed, offsets=not invocation["members"])


def _note_hidden_offsets(context: Context) -> None:
    from kafka_shell.admin.groups import offsets as group_offsets

    unseen = group_offsets.hidden(context.cluster)
    if unseen is not None:
        context.note(f"lag excludes {unseen.what}: {unseen.reason}")


def _largest_lag_first(
    invocation: Invocation, context: Context, found: Results[GroupKey, Group]
) -> Results[Resource, object]:
    """The groups, one row for each, or their partitions."""
    from kafka_shell.commands.groups import render as lag

    rows: dict[str, object]
    if _is_by(invocation) == "group":
        rows = lag.by_group(found, _named(invocation), context.previous)
    elif invocation["offsets"] or invocation["lag"] or invocation["by"]:
        offsets = lag.by_partition(found)
        failures = _by_resource(Results({}, found.failures)).failures
        return Results({Resource("group-offsets"): offsets}, failures)
    else:
        rows = dict(_sorted_by_lag(found.values))
    return _by_resource(Results(rows, found.failures))


def _sorted_by_lag(groups: Mapping[str, Group]) -> dict[str, Group]:
    """The groups sorted by lag, largest first; unknown lag last."""

    def behind(name: str) -> tuple[bool, int, str]:
        lag = groups[name].lag
        return lag is None, -(lag or 0), name

    return {name: groups[name] for name in sorted(groups, key=behind)}


def _selected_view(group: Group, invocation: Invocation) -> object:
    """The group, or the rows of the table that the options select."""
    if invocation["members"]:
        return group.members
    if invocation["offsets"] or invocation["lag"]:
        return group.offsets
    if invocation["state"]:
        from kafka_shell.admin.groups.model import GroupTotals

        return GroupTotals.of(group)
    return group


def _by_resource(found: Results[GroupKey, Any]) -> Results[Resource, Any]:
    def resource(key: str | Resource) -> Resource:
        if isinstance(key, str):
            return Resource("group", key)
        return Resource("groups", f"of {key}") if key.kind == "broker" else key

    return found.keyed(resource)


# -- delete, remove --------------------------------------------------------------------------------


def delete_group(invocation: Invocation, context: Context) -> Plan:
    """Delete groups without members, with their committed offsets."""
    from kafka_shell.admin.groups import members as group_members

    names = select.groups_to_change(invocation, context.cluster)
    plan = group_members.plan_delete(context.cluster, names)
    if invocation["if-exists"]:
        return plan.without_refused("GROUP_ID_NOT_FOUND")
    return plan


def remove_members(invocation: Invocation, context: Context) -> Plan:
    """Remove members from groups."""
    from kafka_shell.admin.groups import members as group_members

    cluster, reason = context.cluster, invocation["reason"] or ""
    chosen = {"members": invocation["member"], "instances": invocation["instance"]}
    names = select.groups_to_change(invocation, cluster)
    return merged(
        {name: group_members.plan_remove(cluster, name, reason=reason, **chosen) for name in names}
    )


def merged(plans: Mapping[str, Plan]) -> Plan:
    """One plan of those of each group. Of several groups, each refusal names its group."""
    if len(plans) == 1:
        return next(iter(plans.values()))
    return merge_plans(
        [replace(plan, refused=plan.refused.keyed(partial(_of_group, group)))
         for group, plan in plans.items()]
    )  # fmt: skip


def _of_group(group: str, about: Resource) -> Resource:
    if about.name == group:
        return about
    return Resource(about.kind, f"{about.name} of group {named(group)}")


_VIEWS = ("--offsets", "--members", "--state", "--lag")


def _view(name: str, help: str) -> Option:
    others = tuple(each for each in _VIEWS if each != name)
    return Option(name, kinds.FLAG, help, excludes=others)


COMMANDS: tuple[Command, ...] = (
    Command(
        name="list-groups",
        summary="List consumer, share and streams groups.",
        family="groups",
        run=list_groups,
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
        run=describe_group,
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
        apis=(2, 9, 15, 16, 69, 77, 89, 90),
        description=(
            "LAG is LOG-END-OFFSET minus CURRENT-OFFSET; - means that no offset is committed or "
            "that the partition cannot be read (see NOTE).\n"
            "NOTE also shows committed offsets below the log start offset: consumers then use "
            "their auto.offset.reset.\n"
            "A negative LAG (the topic was recreated) counts as unknown.\n"
            "lag sums the known lags of each group and counts unknown ones; lag --sort lag sorts "
            "the partitions of all groups.\n"
            "watch 5 lag also shows the change per second and the time to catch up."
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
        run=delete_group,
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
        run=remove_members,
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
)  # fmt: skip
