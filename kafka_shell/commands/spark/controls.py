"""`spark controls`: the controls of audits, with what is at risk and where the rule is from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafka_shell.errors import UsageError
from kafka_shell.language import kinds
from kafka_shell.language.command import Argument, Command, Example, Invocation, Option

from .kinds import AUDIT_CONTROL

if TYPE_CHECKING:
    from kafka_shell.audit.model import AuditControl, ExplainedControl
    from kafka_shell.context import Context


def controls(
    invocation: Invocation, context: Context
) -> tuple[AuditControl, ...] | ExplainedControl:
    """The chosen controls; one control as a page."""
    from kafka_shell.audit import choice, control, describe

    known = control.controls_of(context.paths.config / "controls")
    words = [name for word in invocation["control"] for name in word.split(",") if name]
    try:
        chosen = choice.choose(known, words, invocation["severity"] or "")
    except UsageError as error:
        error.span = invocation.span("control")
        raise
    found = describe.controls_of(chosen)
    one = len(found) == 1 and [word.upper() for word in words] == [found[0].control]
    return describe.explained(found[0]) if one else found


COMMANDS = (
    Command(
        name="spark controls",
        summary="List the controls of audits, or explain one.",
        family="audit",
        run=controls,
        needs_cluster=False,
        arguments=(
            Argument("control", AUDIT_CONTROL, "IDs, families or tags (default: all controls).",
                     many=True, required=False),
        ),
        options=(
            Option("--severity", kinds.CHOICE, "Only controls with at least this severity.",
                   choices=("critical", "high", "medium", "low")),
        ),
        search=("checks", "rules", "rationale", "explain", "catalog"),
        description=(
            "One ID shows what is at risk, the source of the rule, the tables that are read, the"
            " parameters with their defaults, and the kind of remedy."
        ),
        examples=(
            Example("spark controls security --severity high", "list the severe security controls"),
            Example("spark controls T03", "explain one control"),
        ),
    ),
)  # fmt: skip
