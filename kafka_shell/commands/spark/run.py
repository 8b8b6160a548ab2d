"""Commands that need no Spark here: tables and controls of audits, and the Spark server."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from kafka_shell.audit import control, jvm, require_spark, server
from kafka_shell.audit.model import (
    AuditColumn,
    AuditControl,
    AuditTable,
    ExplainedControl,
    SparkServer,
)
from kafka_shell.audit.policy import select_controls
from kafka_shell.audit.tables import columns_of, tables_of
from kafka_shell.base.errors import pointing_at
from kafka_shell.base.structs import fields
from kafka_shell.context import Context
from kafka_shell.language.command import Invocation


def tables(
    invocation: Invocation, context: Context
) -> tuple[AuditTable, ...] | tuple[AuditColumn, ...]:
    """All tables, or the columns of the named tables."""
    if not invocation["table"]:
        return tables_of()
    return columns_of(invocation["table"])


def controls(
    invocation: Invocation, context: Context
) -> tuple[AuditControl, ...] | ExplainedControl:
    """The chosen controls; one control as a page."""
    known = control.controls_of(context.paths.config / "controls")
    words = [name for word in invocation["control"] for name in word.split(",") if name]
    with pointing_at(invocation.span("control")):
        chosen = select_controls(known, words, invocation["severity"] or "")
    found = tuple(
        AuditControl(
            each.id, each.title, each.severity.name.lower(), each.family, each.description,
            each.source, each.tags, each.needs, each.parameters, each.risk, str(each.path),
        )
        for each in chosen
    )  # fmt: skip
    if [word.upper() for word in words] != [each.control for each in found] or len(found) != 1:
        return found
    (one,) = found
    return ExplainedControl(query=chosen[0].sql, **{key: getattr(one, key) for key in fields(one)})


# -- server ----------------------------------------------------------------------------------------


def folder_of(context: Context) -> Path:
    """The folder with the state of the server."""
    return context.paths.state / "spark-server"


def start(invocation: Invocation, context: Context) -> SparkServer:
    """Start the server; the state of the one that runs, if there is one."""
    context.refuse_dry_run("spark start")
    require_spark()
    jvm.spark_java()
    folder = folder_of(context)
    if server.running(folder) is None:
        idle = invocation["idle"] or server.IDLE_S * 1000
        try:
            with closing(server.start(folder, max(1, idle // 1000))) as starting:
                for _ in starting:
                    context.report("starting Spark", 0, None)
        finally:
            context.report("starting Spark", 1, 1)
    return status(invocation, context)


def stop(invocation: Invocation, context: Context) -> SparkServer:
    """Stop the server."""
    context.refuse_dry_run("spark stop")
    server.stop(folder_of(context))
    return status(invocation, context)


def status(invocation: Invocation, context: Context) -> SparkServer:
    """Whether the server runs, and until when."""
    folder = folder_of(context)
    found = server.running(folder)
    if found is None:
        return SparkServer("stopped")
    until = int((server.last_used(folder) + found.idle_s) * 1000)
    return SparkServer("running", found.address, found.pid, found.started_at, until)
