"""`spark trend`: growth, forecasts and findings over the snapshots of a folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafka_shell.base.command_results import NoRows
from kafka_shell.base.errors import UsageError
from kafka_shell.base.results import Rows
from kafka_shell.commands.spark.sources import SPARK_OPTIONS, engine_of, wait_for_import
from kafka_shell.language import kinds
from kafka_shell.language.command import Argument, Command, Example, Invocation, Option

if TYPE_CHECKING:
    from kafka_shell.audit.model import FindingHistory, Trend
    from kafka_shell.context import Context

_FINDINGS = "findings"
_TOP = 20


def trend(
    invocation: Invocation, context: Context
) -> Rows[Trend] | tuple[FindingHistory, ...] | NoRows:
    """The series that change most, or the history of findings. Tables that a snapshot has only in
    part are failures: they would seem to shrink."""
    wait_for_import(context)
    from kafka_shell.audit import history, trends

    what = invocation["what"]
    if not invocation["snapshot"]:
        raise UsageError(
            "--snapshot is required",
            hint="Use --snapshot DIR, with a directory written by spark snapshot.",
        )
    engine = engine_of(invocation, context)
    folder = invocation["snapshot"]
    if what == _FINDINGS:
        return history.history(engine, folder) or NoRows("no findings")
    chosen = (what,) if what else trends.MEASURES
    top = invocation["top"] or (_TOP if what else 5)
    return trends.trends(engine, folder, chosen, top) or NoRows("nothing to show")


COMMANDS = (
    Command(
        name="spark trend",
        rare=True,
        summary="Show growth, forecasts and findings over the snapshots of a directory.",
        family="audit",
        run=trend,
        needs_cluster=False,
        arguments=(
            Argument("what", kinds.CHOICE,
                     "Bytes of topics, partitions, lag of groups, used bytes of disks, or findings"
                     " (default: all but findings).",
                     choices=("topics", "partitions", "lag", "disks", _FINDINGS), required=False),
        ),
        options=(
            Option("--snapshot", kinds.FILE, "The directory of the snapshots.", metavar="DIR"),
            Option("--top", kinds.INTEGER, "Only the N series that change most, of each kind"
                   " (default: 20 of one kind, 5 of each).", least=1, metavar="N"),
            *SPARK_OPTIONS,
        ),
        search=("growth", "forecast", "capacity", "history", "over time"),
        description=(
            "The growth per day is the slope of a regression line through all snapshots. A forecast"
            " needs three, over at least a day. findings shows what is new, returned, fixed or open"
            " since the snapshot before, and since when."
        ),
        examples=(
            Example("spark trend disks --snapshot /tmp/kafka-state", "when will a disk be full?"),
            Example("spark trend findings --snapshot /tmp/kafka-state",
                    "which findings are new, and how old are the others?"),
        ),
    ),
)  # fmt: skip
