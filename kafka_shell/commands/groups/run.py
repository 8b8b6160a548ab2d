"""Commands on consumer, share and streams groups."""

from __future__ import annotations

from typing import Any

from kafka_shell.admin.groups import read
from kafka_shell.admin.groups.model import GroupKey, GroupType
from kafka_shell.base.command_results import Listing, NoRows
from kafka_shell.base.errors import ShellError
from kafka_shell.base.plans import Resource
from kafka_shell.base.results import Results
from kafka_shell.commands import select
from kafka_shell.context import Context
from kafka_shell.language import kinds
from kafka_shell.language.command import Invocation
from kafka_shell.wire.cluster import Cluster


def list_groups(invocation: Invocation, context: Context) -> object:
    """The names of groups; with --long also details."""
    types = [GroupType(type_) for type_ in invocation["type"]]
    listings = read.list_groups(context.cluster, invocation["state"], types)
    words, known = invocation["groups"], list(listings.values)
    if listings.failures:  # of brokers that did not respond, and may have the groups that are named
        names = kinds.select(words, known).names if words else known
        listing = Listing([listings[name] for name in names], long=invocation["long"])
        return Results({Resource("group"): listing}, by_resource(listings).failures)
    listed = select.listed(words, known, "group", context)
    if isinstance(listed, NoRows):
        return listed
    if not known:
        filters = [*invocation["type"], *invocation["state"]]
        matching = f" of type or state {' or '.join(filters)}" if filters else ""
        return NoRows(f"no groups{matching} (groups without DESCRIBE permission are hidden)")
    return Listing([listings[name] for name in listed], long=invocation["long"])


def by_resource(results: Results[GroupKey, Any]) -> Results[Resource, Any]:
    def resource(key: str | Resource) -> Resource:
        if isinstance(key, str):
            return Resource("group", key)
        return Resource("groups", f"of {key}") if key.kind == "broker" else key

    return results.keyed(resource)


def selected_groups(invocation: Invocation, cluster: Cluster) -> Results[GroupKey, Any]:
    """The groups that argument `groups` selects, and those that option `group` names, by name.

    The value is the GroupListing, or None for a group that was named and not listed. The failures
    are brokers whose groups are unknown. A pattern that matches nothing raises ShellError. Without
    words: all.
    """
    words, named = invocation["groups"], dict.fromkeys(invocation["group"])
    if (words or named) and not any(map(kinds.is_pattern, words)):
        return Results(dict.fromkeys(words) | named)
    known = read.list_groups(cluster)
    chosen = select.among(invocation, "groups", list(known.values), "group")
    return Results({name: known.values.get(name) for name in chosen} | named, known.failures)


def groups_to_change(invocation: Invocation, cluster: Cluster) -> list[str]:
    """The names of the selected groups. Raises ShellError if a pattern may match more of them."""
    selected = selected_groups(invocation, cluster)
    for about, why in selected.failures.items():
        message = f"cannot select groups, because the groups of {about} could not be read: {why}"
        raise ShellError(message, hint="Name each group: --group NAME.", code=why.name)
    return list(selected.values)
