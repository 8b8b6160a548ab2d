"""Commands that undo the creation of topics and changes of configs."""

from __future__ import annotations

from collections.abc import Sequence

from kafka_shell.admin.client_configs.format import CONFIGS_TOPIC, REGISTRATIONS_TOPIC
from kafka_shell.plan.model import Change, Resource
from kafka_shell.quoting import positional, with_option

_SUBJECTS = {
    "broker": "--broker-id",
    "broker-default": "--broker-default",
    "logger": "--logger",
    "group": "--group",
    "client-metrics": "--client-metrics",
}
# Never deleted by undo: they may contain dynamic client configs of other administrators.
_KEPT = (CONFIGS_TOPIC, REGISTRATIONS_TOPIC)


def line(resource: Resource, changes: Sequence[Change]) -> str:
    """The `delete-topic` or `alter-configs` command; empty for other kinds of changes."""
    if any(change.verb == "create" for change in changes):
        if resource.kind != "topic" or resource.name in _KEPT:
            return ""
        return f"delete-topic {positional('--topic', resource.name)}"
    subject = _subject(resource)
    if not subject:
        return ""
    words = [subject]
    for change in changes:
        if change.before == change.after:
            continue
        if change.before is None:
            words.append(with_option("--delete-config", change.field))
        else:
            words.append(positional("--add-config", f"{change.field}={change.before}"))
    return " ".join(["alter-configs", *words]) if len(words) > 1 else ""


def _subject(resource: Resource) -> str:
    if resource.kind == "topic":
        return positional("--topic", resource.name)
    option = _SUBJECTS.get(resource.kind, "")
    return with_option(option, resource.name) if option and resource.name else option
