"""Commands that use Spark: queries, snapshots and comparisons of tables, and tests of controls."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kafka_shell.audit import (
    collection,
    compaction,
    control,
    control_tests,
    drift,
    history,
    query,
    run,
    trends,
)
from kafka_shell.audit import snapshot as stores
from kafka_shell.audit.collection import STATUS, Collection, mentioned
from kafka_shell.audit.findings import require_new
from kafka_shell.audit.model import (
    AuditSnapshot,
    ControlTest,
    ControlTests,
    Drift,
    FindingHistory,
    Trend,
    WrittenRows,
)
from kafka_shell.audit.owners import with_owner
from kafka_shell.audit.policy import select_controls
from kafka_shell.audit.snapshot import is_snapshot
from kafka_shell.audit.tables import TABLES
from kafka_shell.base.command_results import NoRows
from kafka_shell.base.errors import ShellError, UsageError
from kafka_shell.base.results import Failure, Rows, with_failures
from kafka_shell.base.structs import replace
from kafka_shell.base.units import to_path
from kafka_shell.commands.spark.sources import (
    collected,
    collection_of,
    engine_of,
    owners_of,
    policy_of,
    sampling_of,
    targets_of,
    wait_for_import,
)
from kafka_shell.commands.spark.spec import FINDINGS, is_file
from kafka_shell.context import Context
from kafka_shell.language.command import Invocation
from kafka_shell.settings import development_profiles

# -- spark sql -----------------------------------------------------------------------


def sql(
    invocation: Invocation, context: Context
) -> Rows[Mapping[str, Any]] | Rows[WrittenRows] | NoRows:
    """Query the tables with SQL. What could not be read of them is a failure: a query for what is
    missing would find it."""
    wait_for_import(context)

    text = invocation["query"].strip().rstrip(";")
    query.check(text)
    output = invocation["output"]
    folder = require_new(output) if output and is_file(output) else ""
    names = mentioned(text, TABLES)
    if names == {STATUS}:  # of all tables
        names = set(TABLES)
    with collected(invocation, context, names) as (engine, collection):
        collection.show()
        try:
            if folder:
                written = engine.run("writing", lambda: query.write(engine.session, text, folder))
            else:
                rows = engine.run("querying", lambda: query.rows(engine.session, text))
        except query.InvalidQuery as error:
            error.span = invocation.span("query")
            raise
        failures = engine.run("querying", lambda: collection.failures(names))
    if folder:
        return with_failures([WrittenRows(folder, written)], failures)
    if len(rows) > query.MOST_ROWS:
        context.note(f"only the first {query.MOST_ROWS:,} rows are shown")
    return with_failures(rows[: query.MOST_ROWS], failures) or NoRows("no rows")


# -- spark snapshot, spark diff --------------------------------------------------------------------


def snapshot(invocation: Invocation, context: Context) -> AuditSnapshot:
    """Save the state of clusters, and the findings of an audit, to a folder of Parquet files."""
    context.refuse_dry_run("spark snapshot")
    folder, _ = stores.address(invocation["dir"])
    wait_for_import(context)

    engine = engine_of(invocation, context)
    keep, local = invocation["keep"], collection.is_local(engine, folder)
    if keep and not local:
        raise UsageError(
            "--keep requires a local directory, and Spark on this machine",
            hint="Delete old rows with SQL in a catalog, or with rules of the object store.",
            span=invocation.span("keep"),
        )
    known, declared = policy_of(invocation, context)
    targets = targets_of(invocation, context)
    found = collection.collect(engine, targets, TABLES, TABLES, sampling_of(invocation))
    try:
        whole = found
        if not invocation["no-findings"]:
            controls, dev = (
                select_controls(known, ()),
                development_profiles(context.paths.config_file),
            )
            report = run.audit(engine, found, controls, declared, dev=dev)
            frame = history.frame(engine, found, report.findings)
            whole = replace(found, frames={**found.frames, history.TABLE: frame})
        stored = collection.store(engine, whole, invocation["dir"])
    finally:
        found.release()
    if not local:
        return stored
    keep_s = keep / 1000 if keep else None
    try:
        gone = engine.run("compacting", lambda: compaction.tidy(engine.session, folder, keep_s))
    except (OSError, ShellError) as error:
        context.note(f"the snapshot is complete, but older files could not be tidied up: {error}")
        return stored
    return replace(stored, expired=tuple(gone))


def diff(invocation: Invocation, context: Context) -> Rows[Drift] | NoRows:
    """The differences between two snapshots, profiles or the current cluster. What could not be
    read of a side is a failure: it is not compared."""
    wait_for_import(context)

    engine = engine_of(invocation, context)
    names = {"a": invocation["a"], "b": invocation["b"] or "now"}
    sides: dict[str, Collection] = {}
    try:
        # What is read from a cluster decides which snapshot of a folder is meant.
        for key in sorted(names, key=lambda key: is_snapshot(names[key])):
            other = next(iter(sides.values()), None)
            sides[key] = collection_of(names[key], engine, context, other)
        before, after = sides["a"], sides["b"]
        found, complete = engine.run("comparing", lambda: drift.between(before, after, TABLES))
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
    if not complete:
        failures["differences"] = Failure("too-many", drift.TOO_MANY)
    return with_failures(found, failures) or NoRows("no differences")


_TOP = 20


def trend(invocation: Invocation, context: Context) -> Rows[Trend] | Rows[FindingHistory] | NoRows:
    """The series that change most, or the history of findings. Tables that a snapshot has only in
    part are failures: they would seem to shrink."""
    wait_for_import(context)

    what = invocation["what"]
    if not invocation["snapshot"]:
        raise UsageError(
            "--snapshot is required",
            hint="Use --snapshot DIR, with a directory written by spark snapshot.",
        )
    teams = owners_of(invocation, context)
    engine = engine_of(invocation, context)
    folder = invocation["snapshot"]
    if what == FINDINGS:
        found, lost = history.history(engine, folder)
        rows = [with_owner(each, teams) for each in found]
        return with_failures(rows, lost) or NoRows("no findings")
    chosen = (what,) if what else trends.MEASURES
    top = invocation["top"] or (_TOP if what else 5)
    return trends.trends(engine, folder, chosen, top) or NoRows("nothing to show")


def test_controls(invocation: Invocation, context: Context) -> ControlTests:
    """Judge the rows in the tests of the user's controls."""
    wait_for_import(context)

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
