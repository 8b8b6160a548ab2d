"""`spark start`, `spark stop` and `spark status`: a local Spark server that keeps running."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from kafka_shell.language import kinds
from kafka_shell.language.command import Command, Example, Invocation, Option

if TYPE_CHECKING:
    from kafka_shell.audit.model import SparkServer
    from kafka_shell.context import Context


def folder_of(context: Context) -> Path:
    """The folder with the state of the server."""
    return context.paths.state / "spark-server"


def start(invocation: Invocation, context: Context) -> SparkServer:
    """Start the server; the state of the one that runs, if there is one."""
    from kafka_shell.audit import jvm, require_spark, server

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
    from kafka_shell.audit import server

    context.refuse_dry_run("spark stop")
    server.stop(folder_of(context))
    return status(invocation, context)


def status(invocation: Invocation, context: Context) -> SparkServer:
    """Whether the server runs, and until when."""
    from kafka_shell.audit import server
    from kafka_shell.audit.model import SparkServer

    folder = folder_of(context)
    found = server.running(folder)
    if found is None:
        return SparkServer("stopped")
    until = int((server.last_used(folder) + found.idle_s) * 1000)
    return SparkServer("running", found.address, found.pid, found.started_at, until)


COMMANDS = (
    Command(
        name="spark start",
        rare=True,
        summary="Start a local Spark server, which audits use while it runs.",
        family="audit",
        run=start,
        needs_cluster=False,
        options=(
            Option("--idle", kinds.DURATION, "End after this time without use (default: 1h).",
                   least=1000),
        ),
        search=("connect", "fast"),
        description=(
            "Spark takes several seconds to start, and is slow until it has run some queries. The"
            " server is used by all audits of this user without --master and --remote. Only this"
            " user can connect to it: it listens on 127.0.0.1, and requires a token."
        ),
        examples=(Example("spark start --idle 8h", "keep Spark running for a day of audits"),),
    ),
    Command(
        name="spark stop",
        rare=True,
        summary="Stop the local Spark server.",
        family="audit",
        run=stop,
        needs_cluster=False,
        examples=(Example("spark stop", "stop the server"),),
    ),
    Command(
        name="spark status",
        rare=True,
        summary="Show whether the local Spark server is running.",
        family="audit",
        run=status,
        needs_cluster=False,
        examples=(Example("spark status", "show its address, and when it ends"),),
    ),
)  # fmt: skip
