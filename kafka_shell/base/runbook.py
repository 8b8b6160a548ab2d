"""A runbook: plans that are made and applied one after the other, in one command."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

from msgspec import Struct

from kafka_shell.base.outcome import Outcome
from kafka_shell.base.plans import Plan, Report


class Stage(Struct, frozen=True):
    """What is done next: a `plan` to apply, or a `wait`. `message` is shown before it."""

    plan: Plan | None = None
    wait: Callable[[Report], None] | None = None
    message: str = ""


# Yields the next stage, receives its outcome (None of a wait), and reads the cluster in between.
Stages = Generator[Stage, Outcome | None, None]


class Runbook(Struct, frozen=True):
    """Several plans of which a later one depends on what the earlier ones did.

    `about` is a model of what is to be done; if that is `refused`, for this reason, it is only
    shown. The user confirms the `question`, which has no cluster, once, and then all plans are
    applied as with --yes. `stages` begins; what is done already is read from the cluster.
    `previews` returns the plans
    that can be made now, for a dry run. `result` reads the model that is shown at the end; it is
    `ok` if nothing is left to do. `resume` is the command that continues, and `undo` returns the
    one that undoes what would be left behind now, or an empty string.
    """

    about: Any
    refused: str
    question: str
    stages: Callable[[], Stages]
    previews: Callable[[], tuple[Plan, ...]]
    result: Callable[[], Any]
    resume: str
    undo: Callable[[], str]
