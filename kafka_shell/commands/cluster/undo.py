"""Commands that undo changes of voters and features."""

from __future__ import annotations

from collections.abc import Sequence

from kafka_shell.base.plans import Change, Resource
from kafka_shell.base.text import positional, with_option


def line(resource: Resource, changes: Sequence[Change]) -> str:
    """The `alter-quorum` or `update-features` command."""
    change = changes[0]
    if resource.kind == "feature":
        return f"update-features {positional('--feature', f'{resource.name}={change.before}')}"
    if change.verb == "create":
        directory = str(change.after).rpartition(":")[2]
        return f"alter-quorum {with_option('--remove', f'{resource.name}:{directory}')}"
    return f"alter-quorum {with_option('--add', f'{resource.name}@{change.before}')}"
