"""Commands that undo changes of ACLs and delegation tokens."""

from __future__ import annotations

from collections.abc import Sequence

from kafka_shell.plan.model import Change, Resource
from kafka_shell.quoting import positional, with_option


def line(resource: Resource, changes: Sequence[Change]) -> str:
    """The `alter-acls`, `expire-token` or `renew-token` command."""
    verbs = {change.verb for change in changes}
    if verbs == {"create", "delete"}:
        return ""  # removed and added again: unchanged
    if resource.kind == "acl":
        option = "--remove" if verbs == {"create"} else "--add"
        return f"alter-acls {with_option(option, resource.name)}"
    if verbs == {"create"}:
        return f"expire-token {positional('--', resource.name)}"
    return f"renew-token {positional('--', resource.name)}"
