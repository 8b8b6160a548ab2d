"""Commands that undo changes of quotas and SCRAM credentials."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from kafka_shell.base.plans import Change, Resource
from kafka_shell.base.text import with_option
from kafka_shell.base.units import format_number


def line(resource: Resource, changes: Sequence[Change]) -> str:
    """The `alter-quotas` command, or `scram-credentials --delete` for new credentials."""
    if any(change.field.startswith("SCRAM-") for change in changes):
        return _credentials(resource.name, changes)
    words = []
    for change in changes:
        if change.before == change.after:
            continue
        if isinstance(change.before, int | float):
            words.append(f"{change.field}={format_number(float(change.before))}")
        else:
            words.append(with_option("--delete-config", change.field))
    return " ".join(["alter-quotas", *_entity(resource), *words]) if words else ""


def _credentials(user: str, changes: Sequence[Change]) -> str:
    new = [change.field for change in changes if change.before is None]
    if not new:
        return ""
    return f"scram-credentials --delete {','.join(new)} {with_option('--username', user)}"


def _entity(resource: Resource) -> list[str]:
    """The options that name the entity, read from its text: `user alice client-id-default`."""
    words = iter(shlex.split(str(resource)))
    return [
        f"--{kind}" if kind.endswith("-default") else with_option(f"--{kind}", next(words))
        for kind in words
    ]
