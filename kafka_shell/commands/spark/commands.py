"""Audits on Spark: the state of clusters as tables, judged by controls, answered with remedies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING, Any

from kafka_shell.answers import Nothing
from kafka_shell.errors import ShellError, UsageError
from kafka_shell.language.command import Argument, Command, Example, Invocation, Kind, Option
from kafka_shell.plan.model import Effect, Plan
from kafka_shell.units import to_path

if TYPE_CHECKING:
    from kafka_shell.audit.collection import Collection
    from kafka_shell.audit.control import Control
    from kafka_shell.audit.engine import Engine
    from kafka_shell.audit.model import AuditColumn, AuditReport, AuditSnapshot, AuditTable, Drift
    from kafka_shell.audit.policy import Policy
    from kafka_shell.audit.work import Target
    from kafka_shell.context import Context


# -- Spark, and what it reads ----------------------------------------------------------------------


def start_early(context: Context) -> bool:
    """Start Spark on this machine's cores in the background, as somebody types `spark`; whether
    it was started: once, and only where there is one."""
    from importlib.util import find_spec

    if "spark" in context.held or find_spec("pyspark") is None:
        return False
    from kafka_shell.audit.engine import BackgroundStart

    context.held["spark"] = BackgroundStart(context.paths.state / "spark")
    return True


def _engine(invocation: Invocation, context: Context) -> Engine:
    """The one session of this program, started when it is first needed."""
    from kafka_shell.audit.engine import BackgroundStart, Engine

    where = (invocation["master"] or "", invocation["remote"] or "")
    kept = context.held.get("spark")
    if isinstance(kept, BackgroundStart):
        # Two sessions cannot start at once: also who wants another waits for this one.
        kept = context.held["spark"] = kept.engine(context.report)
    if isinstance(kept, Engine) and (kept.where == where or where == ("", "")):
        kept.report = context.report
        return kept
    if isinstance(kept, Engine):
        kept.stop()
    engine = Engine(context.paths.state / "spark", context.report, master=where[0], remote=where[1])
    context.held["spark"] = engine
    return engine


def _targets(invocation: Invocation, context: Context) -> tuple[Target, ...]:
    from kafka_shell.audit import targets

    named = [name for word in invocation["clusters"] for name in word.split(",") if name]
    file = context.paths.config_file
    if named:
        return targets.of_profiles(named, context.environ, file)
    return (targets.of_settings(context.settings, context.environ, file),)


@contextmanager
def _collected(
    invocation: Invocation, context: Context, names: set[str]
) -> Iterator[tuple[Engine, Collection]]:
    """The tables wanted, of the clusters or the snapshot that the line names."""
    from kafka_shell.audit import collection
    from kafka_shell.audit.tables import TABLES

    stored = invocation["snapshot"]
    targets = () if stored else _targets(invocation, context)
    engine = _engine(invocation, context)
    if stored:
        found = collection.of_snapshot(engine, stored, TABLES)
    else:
        found = collection.collect(engine, targets, TABLES, names)
    try:
        yield engine, found
    finally:
        found.release()


# -- spark audit -----------------------------------------------------------------------------------


def audit(invocation: Invocation, context: Context) -> AuditReport | Plan | Nothing:
    """Judge clusters by the controls."""
    from kafka_shell.audit import require_spark

    require_spark()
    from kafka_shell.audit import drift, report, run
    from kafka_shell.audit.tables import TABLES

    if invocation["fix"]:
        _check_fix(invocation, context)
    controls, policy = _controls(invocation, context)
    names = run.tables_for(controls, policy.thresholds, TABLES)
    other = invocation["against"]
    if other:
        names |= set(drift.KEYS)
    if invocation["report"]:
        names |= set(report.TABLES)
    with _collected(invocation, context, names) as (engine, collection):
        against = (other, _side(other, engine, context)) if other else None
        found = run.audit(engine, collection, controls, policy, against)
        if invocation["report"]:
            drawn = report.charts(engine, collection, invocation["snapshot"] or "")
            _write_report(invocation["report"], report.page(found, drawn))
    return _fix(found, context) if invocation["fix"] else found


def _controls(invocation: Invocation, context: Context) -> tuple[tuple[Control, ...], Policy]:

    from kafka_shell.audit import control, policy, run

    known = control.controls_of(context.paths.config / "controls")
    words = [name for word in invocation["controls"] for name in word.split(",")]
    declared = policy.Policy()
    if invocation["policy"]:
        declared = policy.read(to_path(invocation["policy"]), known)
        for each in declared.expired(date.today()):
            context.note(f"a suppression of {each.control} has expired: {each.reason}")
    if declared.declared is not None:
        known[policy.ID] = declared.declared
    try:
        return run.choose(known, words, invocation["severity"] or ""), declared
    except UsageError as error:
        error.span = invocation.span("controls")
        raise


def _write_report(file: str, page: str) -> None:
    try:
        to_path(file).write_text(page, encoding="utf-8")
    except OSError as error:
        raise ShellError(f"cannot write to {file}: {error.strerror}", code="not-written") from None


def _check_fix(invocation: Invocation, context: Context) -> None:
    if invocation["output"] == "sarif":
        raise UsageError("--fix answers with a plan, which has no form in SARIF")
    if invocation["snapshot"]:
        raise UsageError(
            "--fix changes a cluster as it is now, not as a snapshot had it",
            hint="Leave out --snapshot.",
        )
    named = [name for word in invocation["clusters"] for name in word.split(",")]
    if named and named != [context.settings.profile]:
        raise UsageError(
            "--fix changes one cluster at a time",
            hint=f"spark audit --profile {named[0]} --fix",
            span=invocation.span("clusters"),
        )


def _fix(report: AuditReport, context: Context) -> Plan | Nothing:
    """The remedies of what was found as one plan, which asks."""
    from kafka_shell.admin.wire.failures import as_failure
    from kafka_shell.plan.model import Resource, merge_plans
    from kafka_shell.plan.results import Results

    remedies: dict[str, list[str]] = {}
    for finding in report.findings:
        if finding.remedy:
            remedies.setdefault(finding.remedy, []).append(finding.resource)
    if not remedies:
        return Nothing("no finding has a remedy that this shell can carry out")
    plans, failed = [], {}
    for line, resources in remedies.items():
        try:
            plans.append(_plan_of(line, resources, context))
        except ShellError as error:
            failed[Resource("remedy", line)] = as_failure(error)
    whole = merge_plans([*plans, Plan(Effect.CHANGE, (), refused=Results({}, failed))])
    return replace(whole, confirm=True, fresh=None)


def _plan_of(line: str, resources: list[str], context: Context) -> Plan:
    """The plan of a remedy. Raises ShellError where it would change more than was found."""
    from kafka_shell.audit.remedy import outside
    from kafka_shell.commands import REGISTRY
    from kafka_shell.language.parse import parse
    from kafka_shell.language.tokens import tokenize

    invocation = parse(tokenize(line), REGISTRY, text=line)
    plan = invocation.command.run(invocation, context)
    if not isinstance(plan, Plan):
        raise ShellError(f"{line} changes nothing", code="no-plan")
    if others := outside(plan, resources):
        raise ShellError(
            f"this remedy of {resources[0]} would change {others[0]}",
            hint="It is not applied. Run it by hand if that is what you want.",
            code="outside-finding",
        )
    return plan


# -- spark sql, spark tables -----------------------------------------------------------------------


def sql(invocation: Invocation, context: Context) -> tuple[Mapping[str, Any], ...] | Nothing:
    """Query the tables."""
    from kafka_shell.audit import require_spark

    require_spark()
    from kafka_shell.audit import query
    from kafka_shell.audit.collection import mentioned
    from kafka_shell.audit.tables import TABLES

    text = invocation["query"].strip().rstrip(";")
    query.check(text)
    with _collected(invocation, context, mentioned(text, TABLES)) as (engine, collection):
        collection.show()
        try:
            rows = engine.run("asking", lambda: query.rows(engine.session, text))
        except query.InvalidQuery as error:
            error.span = invocation.span("query")
            raise
        for cluster, why in collection.unread.items():
            context.note(f"{cluster} could not be read: {why}")
    return rows or Nothing("no rows")


def tables(
    invocation: Invocation, context: Context
) -> tuple[AuditTable, ...] | tuple[AuditColumn, ...]:
    """The tables, or the columns of some."""
    from kafka_shell.audit.describe import columns_of, tables_of

    if not invocation["table"]:
        return tables_of()
    return columns_of(invocation["table"])


# -- spark snapshot, spark diff --------------------------------------------------------------------


def snapshot(invocation: Invocation, context: Context) -> AuditSnapshot:
    """Collect everything into a folder of Parquet."""
    from kafka_shell.audit import require_spark

    require_spark()
    from kafka_shell.audit import collection
    from kafka_shell.audit.tables import TABLES

    targets = _targets(invocation, context)
    engine = _engine(invocation, context)
    found = collection.collect(engine, targets, TABLES, TABLES)
    try:
        return collection.store(engine, found, TABLES, invocation["dir"])
    finally:
        found.release()


def diff(invocation: Invocation, context: Context) -> tuple[Drift, ...] | Nothing:
    """What is different between two snapshots, two clusters, or a snapshot and now."""
    from kafka_shell.audit import require_spark

    require_spark()
    from kafka_shell.audit import drift
    from kafka_shell.audit.tables import TABLES

    engine = _engine(invocation, context)
    sides = []
    try:
        for name in ("a", "b"):
            sides.append(_side(invocation[name] or "now", engine, context))
        before, after = sides
        for side in sides:
            for cluster, why in side.unread.items():
                context.note(f"{cluster} could not be read: {why}")
        found = engine.run("comparing", lambda: drift.between(before, after, TABLES))
    finally:
        for side in sides:
            side.release()
    return found or Nothing("no difference")


def _side(text: str, engine: Engine, context: Context) -> Collection:
    """A snapshot's folder, a profile's name, or `now`: the cluster this shell works on."""
    from kafka_shell.audit import collection, drift, targets
    from kafka_shell.audit.snapshot import is_snapshot
    from kafka_shell.audit.tables import TABLES

    file = context.paths.config_file
    if text == "now":
        named: tuple[Target, ...] = (targets.of_settings(context.settings, context.environ, file),)
    elif is_snapshot(text.rpartition("@")[0] or text) or "/" in text:
        return collection.of_snapshot(engine, text, TABLES)
    else:
        named = targets.of_profiles(text.split(","), context.environ, file)
    return collection.collect(engine, named, TABLES, drift.KEYS)


_WHERE = (
    Option("--clusters", Kind.PROFILE, "Profiles of config.toml: a,b; may be repeated.", many=True,
           metavar="NAMES"),
    Option("--snapshot", Kind.FILE, "Read a snapshot instead: DIR (its newest) or DIR@ID.",
           metavar="DIR", excludes=("--clusters",)),
)  # fmt: skip
_SPARK = (
    Option("--master", Kind.TEXT, "Spark's master; without it, this machine's cores: local[*].",
           metavar="URL"),
    Option("--remote", Kind.TEXT, "Spark Connect: sc://host:port.", metavar="URL",
           excludes=("--master",)),
)  # fmt: skip

# What the readers of the tables send, in executors: Fetch to DescribeProducers, and the lists.
_READS = (1, 2, 9, 15, 16, 29, 32, 35, 46, 48, 50, 55, 61, 65, 66, 69)

COMMANDS = (
    Command(
        name="spark audit",
        summary="Judge clusters by controls; what is wrong, and the line that mends it.",
        family="audit",
        run=audit,
        apis=_READS,
        effect=Effect.CHANGE,
        options=(
            *_WHERE,
            Option("--controls", Kind.AUDIT_CONTROL, "Only these ids, families or tags.",
                   many=True, metavar="NAMES"),
            Option("--severity", Kind.CHOICE, "Only controls at or above it.",
                   choices=("critical", "high", "medium", "low")),
            Option("--output", Kind.CHOICE, "How to print the answer.",
                   choices=("table", "json", "yaml", "csv", "sarif")),
            Option("--policy", Kind.FILE, "What should hold; thresholds, suppressions: TOML.",
                   metavar="FILE"),
            Option("--against", Kind.TEXT, "How it differs from a snapshot (DIR) or a profile.",
                   metavar="WHAT"),
            Option("--report", Kind.FILE, "Write the report as one HTML file too.",
                   metavar="FILE"),
            Option("--fix", Kind.FLAG, "Carry out the remedies found, after a question."),
            *_SPARK,
        ),
        search=("check", "controls", "compliance", "findings", "lint"),
        description=(
            "Everything the admin APIs tell is collected as tables, and each control is a query"
            " over them. Controls of your own are .sql files in the folder controls beside"
            " config.toml.\n"
            "Ends with 0 when nothing was found, 1 with findings, 3 when a cluster could not be"
            " read. What could not be judged says skip and why."
        ),
        examples=(
            Example("spark audit", "this cluster, every control", status=1),
            Example("spark audit --controls security --severity high --output json",
                    "for a program", status=1),
            Example("spark audit --controls T13 --fix --dry-run",
                    "what mending would change"),
        ),
    ),
    Command(
        name="spark sql",
        summary="Query the state of clusters with SQL.",
        family="audit",
        run=sql,
        apis=_READS,
        arguments=(Argument("query", Kind.SQL, "A SELECT, in quotes."),),
        options=(*_WHERE, *_SPARK),
        search=("select", "query"),
        description="spark tables lists the tables. Only those the query names are read.",
        examples=(
            Example("spark sql 'select topic, partitions from topics order by partitions desc"
                    " limit 5'", "the five largest topics by partitions"),
        ),
    ),
    Command(
        name="spark snapshot",
        summary="Keep the state of clusters as Parquet, for later audits and comparisons.",
        family="audit",
        run=snapshot,
        apis=_READS,
        arguments=(Argument("dir", Kind.FILE, "The folder; each snapshot adds to it."),),
        options=(_WHERE[0], *_SPARK),
        search=("save", "parquet", "export", "baseline"),
        description=(
            "A folder a table, partitioned by snapshot_id and cluster: any Spark or DuckDB reads"
            " it. spark audit, spark sql and spark diff read it with its name, and with DIR@ID"
            " where the newest is not wanted."
        ),
        examples=(Example("spark snapshot /tmp/kafka-state", "keep today's state"),),
    ),
    Command(
        name="spark diff",
        summary="What appeared, vanished or changed between snapshots, clusters, or until now.",
        family="audit",
        run=diff,
        apis=_READS,
        arguments=(
            Argument("a", Kind.TEXT, "A snapshot (DIR or DIR@ID), a profile, or now."),
            Argument("b", Kind.TEXT, "What to compare it with; now, where it is left out.",
                     required=False),
        ),
        options=_SPARK,
        search=("compare", "drift", "changed"),
        description="Each difference has the line that makes B as A was, where there is one.",
        examples=(Example("spark diff now now", "a cluster does not differ from itself"),),
    ),
    Command(
        name="spark tables",
        summary="The tables that audits read; with a name, its columns.",
        family="audit",
        run=tables,
        needs_cluster=False,
        arguments=(
            Argument("table", Kind.AUDIT_TABLE, "Which tables.", many=True, required=False),
        ),
        search=("schema", "columns"),
        examples=(
            Example("spark tables", "every table"),
            Example("spark tables topic_configs", "its columns"),
        ),
    ),
)  # fmt: skip
