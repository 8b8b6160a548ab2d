"""Commands that undo the creation of topics and changes of configs."""

from __future__ import annotations

from collections.abc import Sequence

from kafka_shell.admin.client_configs.model import CONFIGS_TOPIC, REGISTRATIONS_TOPIC
from kafka_shell.base.plans import Change, Resource
from kafka_shell.base.text import positional, with_option
from kafka_shell.output.resource_kinds import kind_of

# Never deleted by undo: they may contain dynamic client configs of other administrators.
_KEPT = (CONFIGS_TOPIC, REGISTRATIONS_TOPIC)


def line(resource: Resource, changes: Sequence[Change]) -> str:
    """The `delete-topic` or `alter-configs` command; empty for other kinds of changes."""
    if any(change.verb == "create" for change in changes):
        if resource.kind != "topic" or resource.name in _KEPT:
            return ""
        return f"delete-topic {positional('--topic', resource.name)}"
    subject = kind_of(resource).subject
    if subject is None:
        return ""
    words = [subject(resource.name)]
    for change in changes:
        if change.before == change.after:
            continue
        if change.before is None:
            words.append(with_option("--delete-config", change.field))
        else:
            words.append(positional("--add-config", f"{change.field}={change.before}"))
    return " ".join(["alter-configs", *words]) if len(words) > 1 else ""
