"""Commands that undo changes of ACLs."""

from __future__ import annotations

from collections.abc import Sequence

from kafka_shell.base.plans import Change, Resource
from kafka_shell.base.text import with_option


def line(resource: Resource, changes: Sequence[Change]) -> str:
    """The `alter-acls` command."""
    verbs = {change.verb for change in changes}
    if verbs == {"create", "delete"}:
        return ""  # removed and added again: unchanged
    option = "--remove" if verbs == {"create"} else "--add"
    return f"alter-acls {with_option(option, resource.name)}"
