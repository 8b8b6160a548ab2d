"""Commands that query, save and compare the state of clusters on Spark."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from kafka_shell.base.command_results import NoRows
from kafka_shell.base.results import Rows, with_failures
from kafka_shell.commands.spark.sources import (
    AUDIT_TABLE,
    READ_APIS,
    SAMPLE_OPTIONS,
    SOURCE_OPTIONS,
    SPARK_OPTIONS,
    SQL,
    collected,
    collection_of,
    engine_of,
    sampling_of,
    targets_of,
    wait_for_import,
)
from kafka_shell.language import kinds
from kafka_shell.language.command import Argument, Command, Example, Invocation, Option

if TYPE_CHECKING:
    from kafka_shell.audit.collection import Collection
    from kafka_shell.audit.model import AuditColumn, AuditSnapshot, AuditTable, Drift
    from kafka_shell.context import Context


# -- spark sql, spark tables -----------------------------------------------------------------------


def sql(invocation: Invocation, context: Context) -> Rows[Mapping[str, Any]] | NoRows:
    """Query the tables with SQL. What could not be read of them is a failure: a query for what is
    missing would find it."""
    wait_for_import(context)
    from kafka_shell.audit import query
    from kafka_shell.audit.collection import STATUS, mentioned
    from kafka_shell.audit.tables import TABLES

    text = invocation["query"].strip().rstrip(";")
    query.check(text)
    names = mentioned(text, TABLES)
    if names == {STATUS}:  # of all tables
        names = set(TABLES)
    with collected(invocation, context, names) as (engine, collection):
        collection.show()
        try:
            rows = engine.run("querying", lambda: query.rows(engine.session, text))
        except query.InvalidQuery as error:
            error.span = invocation.span("query")
            raise
        failures = engine.run("querying", lambda: collection.failures(names))
    if len(rows) > query.MOST_ROWS:
        context.note(f"only the first {query.MOST_ROWS:,} rows are shown")
    return with_failures(rows[: query.MOST_ROWS], failures) or NoRows("no rows")


def tables(
    invocation: Invocation, context: Context
) -> tuple[AuditTable, ...] | tuple[AuditColumn, ...]:
    """All tables, or the columns of the named tables."""
    from kafka_shell.audit.describe import columns_of, tables_of

    if not invocation["table"]:
        return tables_of()
    return columns_of(invocation["table"])


# -- spark snapshot, spark diff --------------------------------------------------------------------


def snapshot(invocation: Invocation, context: Context) -> AuditSnapshot:
    """Save the state of clusters, and the findings of an audit, to a folder of Parquet files."""
    context.refuse_dry_run("spark snapshot")
    wait_for_import(context)
    from kafka_shell.audit import collection, control, history, policy, run
    from kafka_shell.audit.select_controls import select_controls
    from kafka_shell.audit.tables import TABLES
    from kafka_shell.base.structs import replace
    from kafka_shell.settings import development_profiles

    known = control.controls_of(context.paths.config / "controls")

    targets = targets_of(invocation, context)
    engine = engine_of(invocation, context)
    found = collection.collect(engine, targets, TABLES, TABLES, sampling_of(invocation))
    try:
        whole = found
        if not invocation["no-findings"]:
            controls, dev = (
                select_controls(known, ()),
                development_profiles(context.paths.config_file),
            )
            report = run.audit(engine, found, controls, policy.Policy(), dev=dev)
            frame = history.frame(engine, found, report.findings)
            whole = replace(found, frames={**found.frames, history.TABLE: frame})
        return collection.store(engine, whole, invocation["dir"])
    finally:
        found.release()


def diff(invocation: Invocation, context: Context) -> Rows[Drift] | NoRows:
    """The differences between two snapshots, profiles or the current cluster. What could not be
    read of a side is a failure: it is not compared."""
    wait_for_import(context)
    from kafka_shell.audit import drift
    from kafka_shell.audit.snapshot import is_snapshot
    from kafka_shell.audit.tables import TABLES

    engine = engine_of(invocation, context)
    names = {"a": invocation["a"], "b": invocation["b"] or "now"}
    sides: dict[str, Collection] = {}
    try:
        # What is read from a cluster decides which snapshot of a folder is meant.
        for key in sorted(names, key=lambda key: is_snapshot(names[key])):
            other = next(iter(sides.values()), None)
            sides[key] = collection_of(names[key], engine, context, other)
        before, after = sides["a"], sides["b"]
        keep = engine.opened.keep
        found = engine.run("comparing", lambda: drift.between(before, after, TABLES, keep))
        failed = engine.run(
            "comparing", lambda: [side.failures(drift.KEYS) for side in (before, after)]
        )
        for name in engine.run("comparing", lambda: drift.left_out(before, after)):
            context.note(f"{name} is only on one side: not compared")
    finally:
        for side in sides.values():
            side.release()
    failures = {
        f"{about} in {side}": why
        for side, each in zip(names.values(), failed, strict=True)
        for about, why in each.items()
    }
    return with_failures(found, failures) or NoRows("no differences")


COMMANDS = (
    Command(
        name="spark sql",
        rare=True,
        summary="Query the state of clusters with SQL.",
        family="audit",
        run=sql,
        apis=READ_APIS,
        arguments=(Argument("query", SQL, "A quoted SELECT statement."),),
        options=(*SOURCE_OPTIONS, *SAMPLE_OPTIONS, *SPARK_OPTIONS),
        search=("select", "query"),
        description="spark tables lists the tables. Only tables named in the query are read."
        " At most 10,000 rows are shown.",
        examples=(
            Example("spark sql 'select topic, partitions from topics order by partitions desc"
                    " limit 5'", "show the five topics with the most partitions"),
        ),
    ),
    Command(
        name="spark snapshot",
        rare=True,
        summary="Save the state of clusters as Parquet, for later audits and comparisons.",
        family="audit",
        run=snapshot,
        apis=READ_APIS,
        arguments=(
            Argument("dir", kinds.FILE, "The directory to add the snapshot to, or catalog:SCHEMA."),
        ),
        options=(
            SOURCE_OPTIONS[0],
            *SAMPLE_OPTIONS,
            Option("--no-findings", kinds.FLAG, "Save only the tables, without running an audit."),
            *SPARK_OPTIONS,
        ),
        search=("save", "parquet", "export", "baseline"),
        description=(
            "The findings of all controls are added as the table findings, for spark trend and"
            " spark audit --new-only. Each table is a directory, partitioned by snapshot_id and"
            " cluster, that Spark and DuckDB can read; with catalog:SCHEMA, it is a table of that"
            " schema of a Spark catalog, such as a Delta or Iceberg table. spark audit, spark sql"
            " and spark diff accept the directory or schema (newest snapshot), or DIR@ID."
        ),
        examples=(Example("spark snapshot /tmp/kafka-state", "save the current state"),),
    ),
    Command(
        name="spark diff",
        rare=True,
        summary="Compare snapshots, clusters, or a snapshot with the current state.",
        family="audit",
        run=diff,
        apis=READ_APIS,
        arguments=(
            Argument("a", kinds.TEXT, "A snapshot (DIR or DIR@ID), a profile, or now."),
            Argument("b", kinds.TEXT, "What to compare it with (default: now).", required=False),
        ),
        options=SPARK_OPTIONS,
        search=("compare", "drift", "changed"),
        description="Each difference shows the command that would restore the state of A, if any.",
        examples=(Example("spark diff now now", "compare a cluster with itself"),),
    ),
    Command(
        name="spark tables",
        rare=True,
        summary="List the tables that audits read, or the columns of tables.",
        family="audit",
        run=tables,
        needs_cluster=False,
        arguments=(
            Argument("table", AUDIT_TABLE, "Table names.", many=True, required=False),
        ),
        search=("schema", "columns"),
        examples=(
            Example("spark tables", "list all tables"),
            Example("spark tables topic_configs", "list the columns of a table"),
        ),
    ),
)  # fmt: skip
