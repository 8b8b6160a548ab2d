"""Format values for people: units, counts, times. JSON has the exact values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

from kafka_shell.admin.configs.model import ConfigEntry
from kafka_shell.base.plans import Change, Resource, Value
from kafka_shell.base.units import (
    ConfigType,
    counted,
    format_config_value,
    format_quota,
    format_time,
)
from kafka_shell.output.resource_kinds import kind_of, title_of


def comma_list(items: Iterable[object]) -> str:
    """`1,2,3`: replicas and brokers in a table."""
    return ",".join(map(str, items))


def config_value(entry: ConfigEntry) -> str:
    """The value of a config with its unit: `7d`; `(sensitive)` if the broker hides it."""
    if entry.sensitive:
        return "(sensitive)"
    if entry.value is None:
        return ""
    return format_raw(entry.name, entry.type, entry.value)


def format_raw(key: str, kind: ConfigType, raw: str) -> str:
    """A raw config value with its unit; `""` for the empty string."""
    if not raw:
        return '""'
    return format_config_value(key, kind, raw)


def change_values(change: Change) -> tuple[str, str]:
    """(before, after) of a change with units; "" is absent. `before` is the effective value.

    Raw values if both would read the same.
    """
    before = change.replaced
    formatted = _value(change, before), _value(change, change.after)
    if formatted[0] != formatted[1] or before == change.after:
        return formatted
    return str(before), str(change.after)


def _value(change: Change, value: Value) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and change.field:
        return format_quota(change.field, value)
    if change.resource.kind == "throttle" and "," in str(value):
        return counted(str(value).count(",") + 1, "replica")
    if isinstance(value, str) and change.field:
        return format_raw(change.field, ConfigType.UNKNOWN, value)
    return str(value)


def local_time(milliseconds: int) -> str:
    """Milliseconds since the epoch as local time with its zone; "" if negative."""
    if milliseconds < 0:
        return ""
    return format_time(milliseconds)


# Counts of resources in Kafka's terms: `6 topics`, `16 offsets of 1 group`.

_MAX_NAMES = 3
_OFFSETS = ("group-offsets", "share-group-offsets")
_VERBS = ("create", "alter", "delete", "abort", "fence", "write", "copy")
# What deleting a resource of a kind is called, and what changing one field of it does.
_DELETIONS = {"broker": "Unregister", "group-member": "Remove", "voter": "Remove"}
_DESTRUCTIVE = ("Delete", "Remove", "Unregister", "Downgrade")
_ACTIONS = {
    ("broker", "dynamic configs"): "Delete the dynamic configs of",
    ("client-config", "supported.configs"): "Delete the registrations of",
    ("partition", ""): "Reassign",
    ("partition", "first offset"): "Delete records of",
    ("replica", "log directory"): "Move",
    ("share-group", "records"): "Consume records of",
    ("token", "expires"): "Change the expiry time of",
    ("topic", "partitions"): "Add partitions to",
    ("transactional-id", "epoch"): "Fence",
}
# Fields that are like resources: which they are, how one is added, and what they are called.
_FIELDS: tuple[tuple[Callable[[Change], bool], str, str], ...] = (
    (lambda change: change.field.startswith("SCRAM-"), "Set", "SCRAM credential"),
    (lambda change: change.resource.kind == "subject", "Register", "version"),
)
_PAST = {"write": "wrote", "copy": "copied"}


def count_kinds(resources: Iterable[Resource]) -> str:
    """`2 topics, 1 broker`. Each resource is counted once."""
    every = ((kind_of(resource), resource.name) for resource in resources)
    unique = dict.fromkeys((kind.term or kind.name, name) for kind, name in every)
    counts = Counter(term for term, _ in unique)
    return ", ".join(counted(count, term) for term, count in counts.items())


def name_few(resources: Iterable[Resource]) -> str:
    """`topic a, topic b`, or `30 topics, a to z` for more than three resources."""
    unique = list(dict.fromkeys(resources))
    if len(unique) <= _MAX_NAMES:
        return ", ".join(map(title_of, unique))
    return f"{count_kinds(unique)}, {unique[0].name} to {unique[-1].name}"


def count_changes(changes: Iterable[Change]) -> str:
    """`3 changes to 2 topics`, `16 offsets of 1 group`."""
    changes = list(changes)
    if changes and all(change.of_records for change in changes):
        return f"{count_records(changes)} to {name_few(change.resource for change in changes)}"
    resources = count_kinds(change.resource for change in changes)
    if changes and only_offsets(changes):
        return f"{counted(len(changes), 'offset')} of {resources}"
    return f"{counted(len(changes), 'change')} to {resources}"


def count_verbs(changes: Iterable[Change]) -> list[tuple[str, int]]:
    """(verb, number of changes), in the order of a summary."""
    counts = Counter(change.verb for change in changes)
    return [(verb, counts[verb]) for verb in _VERBS if counts[verb]]


def past(verb: str) -> str:
    """`created`, `altered`."""
    return _PAST.get(verb) or verb + ("d" if verb.endswith("e") else "ed")


def done_verb(change: Change, verb: str) -> str:
    """What was done to the resource: removed, not deleted, of a voter."""
    whole = verb == "delete" and not change.field
    return _DELETIONS.get(change.resource.kind, verb).lower() if whole else verb


def count_records(changes: Iterable[Change]) -> str:
    """`1,200 records`, or `records` if their number is unknown."""
    count = sum(change.records for change in changes)
    return counted(count, "record") if count else "records"


def question(changes: Iterable[Change], stakes: str = "") -> str:
    """What would happen and how much of it, without the cluster: `Delete 6 topics (1.2 GiB, 3
    groups)`, `Apply 3 changes to 2 topics`."""
    asked = _question(changes)
    return f"{asked} ({stakes})" if stakes else asked


def _question(changes: Iterable[Change]) -> str:
    every = [change for change in changes if change.resource.kind != "rollback-file"]
    changes = [change for change in every if change.resource.kind != "throttle"] or every
    resources = count_kinds(change.resource for change in changes)
    verbs = {change.verb for change in changes}
    if changes and changes[0].of_records:
        return f"{changes[0].verb.capitalize()} {count_changes(changes)}"
    gone = {change.after is None for change in changes}
    for belongs, adds, noun in _FIELDS:
        if len(gone) == 1 and all(map(belongs, changes)):
            verb = "Delete" if gone.pop() else adds
            return f"{verb} {counted(len(changes), noun)} of {resources}"
    by_action: dict[str, list[Change]] = {}
    for change in changes:
        by_action.setdefault(_action(change), []).append(change)
    if len(by_action) == 1 and "" not in by_action:
        return f"{next(iter(by_action))} {resources}"
    if changes and only_offsets(changes):
        return f"{'Delete' if verbs == {'delete'} else 'Reset'} {count_changes(changes)}"
    rest = [change for change in changes if change.field]
    if verbs == {"delete"} and "Delete" in by_action and rest and only_offsets(rest):
        offsets = counted(len(rest), "committed offset")
        return f"Delete {count_kinds(each.resource for each in by_action['Delete'])} with {offsets}"
    if verbs == {"delete"} and rest == changes:
        return f"Delete {counted(len(changes), 'config')} of {resources}"
    tail = "".join(
        f", which {action.lower()}s {count_kinds(each.resource for each in by_action[action])}"
        for action in _DESTRUCTIVE
        if action in by_action
    )
    return f"Apply {count_changes(changes)}{tail}"


def _action(change: Change) -> str:
    """What a change does to its whole resource, in the words of its command; else empty."""
    kind = change.resource.kind
    if change.verb == "delete" and not change.field:
        return _DELETIONS.get(kind, "Delete")
    if kind == "feature":
        down = int(change.after or 0) < int(change.before or 0)
        return "Downgrade" if down else "Upgrade"
    if (kind, change.field) == ("partition", "leader"):
        return f"Elect {'the preferred' if change.reversible else 'an unclean'} leader of"
    if change.field or change.verb == "alter":
        return _ACTIONS.get((kind, change.field), "")
    return change.verb.capitalize()


def only_offsets(changes: Iterable[Change]) -> bool:
    """Whether these are changes of committed offsets alone."""
    return all(change.resource.kind in _OFFSETS for change in changes)
