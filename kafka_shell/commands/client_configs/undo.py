"""Commands that undo changes of dynamic client configs."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from kafka_shell.base.plans import Change, Resource
from kafka_shell.base.text import positional, with_option


def line(resource: Resource, changes: Sequence[Change]) -> str:
    """The `alter-client-configs` command; the resource name lists its options."""
    named = shlex.split(resource.name)
    words = [
        with_option(f"--{kind}", name) for kind, name in zip(named[::2], named[1::2], strict=True)
    ]
    for change in changes:
        if change.before is None:
            words.append(with_option("--delete-config", change.field))
        else:
            words.append(positional("--add-config", f"{change.field}={change.before}"))
    return " ".join(["alter-client-configs", *words])
