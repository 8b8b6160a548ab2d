"""Commands that undo changes of delegation tokens."""

from __future__ import annotations

from collections.abc import Sequence

from kafka_shell.base.plans import Change, Resource
from kafka_shell.base.text import positional


def line(resource: Resource, changes: Sequence[Change]) -> str:
    """The `expire-token` command of a new token, or `renew-token`."""
    verbs = {change.verb for change in changes}
    if verbs == {"create", "delete"}:
        return ""
    command = "expire-token" if verbs == {"create"} else "renew-token"
    return f"{command} {positional('--', resource.name)}"
