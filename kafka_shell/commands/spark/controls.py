"""The controls of audits: what is at risk, where the rules are from, and the user's own tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafka_shell.audit.model import SEVERITIES
from kafka_shell.base.errors import UsageError
from kafka_shell.base.units import to_path
from kafka_shell.commands.spark.sources import (
    AUDIT_CONTROL,
    SPARK_OPTIONS,
    engine_of,
    wait_for_import,
)
from kafka_shell.language import kinds
from kafka_shell.language.command import Argument, Command, Example, Invocation, Option

if TYPE_CHECKING:
    from kafka_shell.audit.model import AuditControl, ControlTest, ControlTests, ExplainedControl
    from kafka_shell.context import Context


def controls(
    invocation: Invocation, context: Context
) -> tuple[AuditControl, ...] | ExplainedControl:
    """The chosen controls; one control as a page."""
    from kafka_shell.audit import control, describe
    from kafka_shell.audit.select_controls import select_controls

    known = control.controls_of(context.paths.config / "controls")
    words = [name for word in invocation["control"] for name in word.split(",") if name]
    try:
        chosen = select_controls(known, words, invocation["severity"] or "")
    except UsageError as error:
        error.span = invocation.span("control")
        raise
    found = describe.controls_of(chosen)
    one = len(found) == 1 and [word.upper() for word in words] == [found[0].control]
    return describe.explained(found[0], chosen[0].sql) if one else found


def test_controls(invocation: Invocation, context: Context) -> ControlTests:
    """Judge the rows in the tests of the user's controls."""
    wait_for_import(context)
    from kafka_shell.audit import control, control_tests
    from kafka_shell.audit.model import ControlTest, ControlTests
    from kafka_shell.audit.tables import TABLES

    folder = context.paths.config / "controls"
    if invocation["dir"]:
        folder = to_path(invocation["dir"])
        if not folder.is_dir():
            raise UsageError(f"{folder} is not a directory", span=invocation.span("dir"))
    known = control.load(folder)
    if not known:
        context.note(f"{folder} has no controls (.sql)")
    tests = {id: control_tests.tests_of(each, TABLES) for id, each in known.items()}
    if not any(tests.values()):
        return ControlTests(tuple(ControlTest(id, "", "untested") for id in known))
    engine = engine_of(invocation, context)
    done: list[ControlTest] = []

    def judge() -> None:
        for id, each in known.items():
            if not tests[id]:
                done.append(ControlTest(id, "", "untested"))
            for number, test in enumerate(tests[id], 1):
                done.append(control_tests.run(engine.session, each, test, number, TABLES))

    count = sum(map(len, tests.values()))
    engine.run("testing controls", judge, lambda: (min(len(done), count - 1), count))
    return ControlTests(tuple(done))


COMMANDS = (
    Command(
        name="spark controls",
        rare=True,
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
                   choices=SEVERITIES),
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
    Command(
        name="spark test-controls",
        summary="Test your own controls on given rows.",
        family="audit",
        run=test_controls,
        needs_cluster=False,
        arguments=(
            Argument("dir", kinds.FILE, "The directory of the controls (default: controls next to"
                     " config.toml).", required=False),
        ),
        options=SPARK_OPTIONS,
        search=("verify", "rules", "policy"),
        description=(
            "U01.test.toml beside U01.sql has the tests of a control: rows of tables, and the"
            " findings that are expected. Exit status 1 if a test failed."
        ),
        examples=(Example("spark test-controls", "test the controls next to config.toml"),),
        rare=True,
    ),
)  # fmt: skip
