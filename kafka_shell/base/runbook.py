"""A runbook: plans that are made and applied one after the other, in one command."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import Struct

from kafka_shell.base.plans import Plan, Report


class Stage(Struct, frozen=True):
    """What is done next: a message is shown, the plan is applied, then it is waited."""

    name: str
    plan: Plan | None = None
    wait: Callable[[Report], None] | None = None
    message: str = ""


class Runbook(Struct, frozen=True):
    """Several plans of which a later one depends on what the earlier ones did. The user confirms
    the question once, and then all plans are applied as with --yes."""

    about: Any  # a model of what is to be done; `ok` if that is nothing
    refused: str  # why nothing is done, or empty
    question: str  # without the cluster
    next: Callable[[], Stage | None]  # worked out from the cluster each time
    done: Callable[[str], None]  # the stage of this name was applied
    previews: Callable[[], tuple[Plan, ...]]  # the plans that can be made now, for a dry run
    result: Callable[[], Any]  # a model of what is left, `ok` if that is nothing
    resume: str  # the command that continues
    undo: Callable[[], str]  # the command that undoes what would be left behind now, or empty
