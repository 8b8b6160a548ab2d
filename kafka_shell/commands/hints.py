"""Hints that name options; the core does not name any."""

from __future__ import annotations

from kafka_shell.base.errors import ShellError
from kafka_shell.base.plans import Plan
from kafka_shell.base.results import Results
from kafka_shell.base.structs import replace


def with_hint(plan: Plan, name: str, hint: str) -> Plan:
    """The plan with this hint instead of the core's for items refused with this error name."""
    failures = {
        resource: replace(failure, hint=hint) if failure.name == name and failure.hint else failure
        for resource, failure in plan.refused.failures.items()
    }
    return replace(plan, refused=Results(plan.refused.values, failures))


def add_resume(error: ShellError, resume: str) -> None:
    """Add to the hint of an interrupted wait the command that continues it."""
    if resume:
        error.hint = f"{error.hint}\nTo continue: {resume}".strip()
