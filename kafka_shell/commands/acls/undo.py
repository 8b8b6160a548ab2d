"""Taking back ACLs and tokens."""

from __future__ import annotations

from collections.abc import Sequence

from kafka_shell.plan.model import Change, Resource
from kafka_shell.quoting import positional, with_option


def line(resource: Resource, changes: Sequence[Change]) -> str:
    """`alter-acls` with the opposite, `expire-token` or `renew-token`."""
    verbs = {change.verb for change in changes}
    if verbs == {"create", "delete"}:
        return ""  # removed and added again: it is as it was
    if resource.kind == "acl":
        option = "--remove" if verbs == {"create"} else "--add"
        return f"alter-acls {with_option(option, resource.name)}"
    if verbs == {"create"}:
        return f"expire-token {positional('--', resource.name)}"
    return f"renew-token {positional('--', resource.name)}"
