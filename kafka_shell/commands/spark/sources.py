"""The Spark session, and the clusters or snapshots that audit commands read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from kafka_shell.audit.model import AuditTable
from kafka_shell.base.errors import ShellError, UsageError
from kafka_shell.commands.spark.server import folder_of
from kafka_shell.language import kinds
from kafka_shell.language.command import Invocation, Option
from kafka_shell.language.cursor import CompletionRequest
from kafka_shell.language.kinds import CandidateSource, Fragment, Kind, Words
from kafka_shell.view.candidates import NONE, Candidate, Candidates, Catalog, pick

if TYPE_CHECKING:
    from kafka_shell.audit.collection import Collection
    from kafka_shell.audit.engine import Engine
    from kafka_shell.audit.spark_target import SparkTarget
    from kafka_shell.audit.tasks import Sampling, Target
    from kafka_shell.context import Context
    from kafka_shell.view.candidates import Candidate


def start_early(context: Context) -> bool:
    """Start a local Spark session in the background when the user types `spark`.

    True if a JVM was started now; False if one exists or pyspark is not installed.
    """
    from importlib.util import find_spec

    if context.resources.spark is not None or find_spec("pyspark") is None:
        return False
    spark_target = _local(context)
    context.resources.spark = _engine(context, spark_target).begin()
    return not spark_target.server_folder


def wait_for_import(context: Context) -> None:
    """Let a session that starts in the background import Spark first. Raises ShellError if the
    extra `spark` is missing."""
    from kafka_shell.audit import require_spark

    require_spark()
    kept = context.resources.spark
    if kept is not None:
        kept.wait_for_import()


def engine_of(invocation: Invocation, context: Context) -> Engine:
    """The Spark session of this program, started when first needed."""
    from kafka_shell.audit.spark_target import SparkTarget

    conf = _configs(invocation["conf"])
    if invocation["packages"]:
        conf += (("spark.jars.packages", _packages(invocation["packages"])),)
    spark_target = SparkTarget(invocation["master"] or "", invocation["remote"] or "", conf)
    kept = context.resources.spark
    if kept is not None and (
        kept.failed
        or spark_target not in (SparkTarget(), kept.spark_target)
        or (
            kept.spark_target.server_folder and kept.spark_target != _local(context)
        )  # the server ended
    ):
        kept.stop()
        kept = None
    engine = kept or _engine(
        context, _local(context) if spark_target == SparkTarget() else spark_target
    )
    engine.report, engine.deadline = context.report, context.cluster.deadline
    context.resources.spark = engine
    return engine


def _local(context: Context) -> SparkTarget:
    """The server of `spark start` if it runs, else the Spark that is configured."""
    from kafka_shell.audit import server
    from kafka_shell.audit.spark_target import SparkTarget

    folder = folder_of(context)
    found = server.running(folder)
    return (
        SparkTarget()
        if found is None
        else SparkTarget(remote=found.remote, server_folder=str(folder))
    )


def _engine(context: Context, spark_target: SparkTarget) -> Engine:
    from kafka_shell.audit.engine import Engine

    return Engine(
        context.paths.state / "spark",
        lambda task, done, total: None,
        spark_target=spark_target,
    )


def _configs(given: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """`spark.sql.shuffle.partitions=64` as a pair."""
    pairs = [text.partition("=") for text in given]
    for key, equals, _ in pairs:
        if not (key.startswith("spark.") and equals):
            raise UsageError(
                f"--conf must be spark.KEY=VALUE, got {key + equals!r}",
                hint="Example: --conf spark.executor.memory=4g",
            )
    return tuple((key.strip(), value.strip()) for key, _, value in pairs)


def _packages(text: str) -> str:
    for name in text.split(","):
        if not re.fullmatch(r"[^:\s]+:[^:\s]+:[^:\s]+", name):
            raise UsageError(
                f"--packages must be group:artifact:version[,...], got {name!r}",
                hint="Example: --packages io.delta:delta-spark_4.0_2.13:4.0.0",
            )
    return text


def targets_of(invocation: Invocation, context: Context) -> tuple[Target, ...]:
    """The profiles in --clusters, or the current cluster."""
    from kafka_shell.audit import targets

    named = [name for word in invocation["clusters"] for name in word.split(",") if name]
    file = context.paths.config_file
    # The profile of this session may have other bootstrap servers, as in --profile a --broker b.
    if named and named != [context.settings.profile]:
        return targets.of_profiles(named, context.environ, file)
    return (targets.of_settings(context.settings, context.environ, file),)


@contextmanager
def collected(
    invocation: Invocation, context: Context, names: set[str]
) -> Iterator[tuple[Engine, Collection]]:
    """The tables of the selected clusters or snapshot, released on exit."""
    from kafka_shell.audit import collection
    from kafka_shell.audit.tables import TABLES

    stored = invocation["snapshot"]
    targets = () if stored else targets_of(invocation, context)
    engine = engine_of(invocation, context)
    if stored:
        found = collection.of_snapshot(engine, stored, TABLES, names)
    else:
        found = collection.collect(engine, targets, TABLES, names, sampling_of(invocation))
    try:
        yield engine, found
    finally:
        found.release()


def sampling_of(invocation: Invocation) -> Sampling:
    """How logs are sampled."""
    from kafka_shell.audit.tasks import PLACES, SAMPLING, Sampling

    places = {"latest": PLACES[-1:], "none": ()}.get(invocation["log-samples"] or "", PLACES)
    rate = invocation["sample-rate"]
    return Sampling(places, SAMPLING.bytes_per_second if rate is None else rate)


def collection_of(
    text: str, engine: Engine, context: Context, of: Collection | None = None
) -> Collection:
    """The tables of a snapshot's folder (of the clusters of another side), of profiles, or of the
    current cluster (`now`)."""
    from kafka_shell.audit import collection, drift, targets
    from kafka_shell.audit.snapshot import is_snapshot
    from kafka_shell.audit.tables import TABLES

    file, names = context.paths.config_file, {*drift.KEYS, "clusters"}
    if text == "now":
        named: tuple[Target, ...] = (targets.of_settings(context.settings, context.environ, file),)
    elif is_snapshot(text.rpartition("@")[0] or text) or "/" in text:
        return collection.of_snapshot(engine, text, TABLES, names, of)
    else:
        named = targets.of_profiles(text.split(","), context.environ, file)
    return collection.collect(engine, named, TABLES, names)


SOURCE_OPTIONS = (
    Option("--clusters", kinds.PROFILE, "Profiles of config.toml: a,b; may be repeated.", many=True,
           metavar="NAMES"),
    Option("--snapshot", kinds.FILE, "Read a snapshot instead: DIR (the newest) or DIR@ID.",
           metavar="DIR", excludes=("--clusters",)),
)  # fmt: skip
SPARK_OPTIONS = (
    Option("--master", kinds.TEXT, "The Spark master URL (default: spark.master, or local[*]).",
           metavar="URL"),
    Option("--remote", kinds.TEXT, "The Spark Connect URL: sc://host:port.", metavar="URL",
           excludes=("--master",)),
    Option("--conf", kinds.TEXT, "A Spark config; may be repeated.", many=True,
           metavar="KEY=VALUE"),
    Option("--packages", kinds.TEXT, "Maven packages for Spark: group:artifact:version[,...].",
           metavar="NAMES", excludes=("--remote",)),
)  # fmt: skip

SAMPLE_OPTIONS = (
    Option("--log-samples", kinds.CHOICE,
           "Positions in the logs that are sampled (default: all); latest does not read cold"
           " segments.", choices=("all", "latest", "none")),
    Option("--sample-rate", kinds.RATE,
           "Maximum bytes per second that a task reads for samples (default: 20MB/s).", least=1),
)  # fmt: skip
# The tables of log samples.
SAMPLED = frozenset({"batches", "record_samples"})

# The APIs that the table readers use.
READ_APIS = (1, 2, 9, 15, 16, 29, 32, 35, 46, 48, 50, 55, 60, 61, 65, 66, 69, 77, 89, 90)


# The kinds of audits: controls, tables, and queries of tables.

_WORD = re.compile(r"\w*$")


class _Sql(Kind):
    """A query on audit tables."""

    def last_fragment(self, text: str) -> Fragment:
        """Return the last word; its key is the query so far."""
        word = _WORD.search(text)
        assert word is not None  # can be empty
        return Fragment(word.start(), "sql", text[: word.start()])

    def quoted(self, candidate: Candidate, open_quote: str) -> str:
        # queries contain spaces and single quotes, and may continue after every word
        return candidate.text if open_quote else f'"{candidate.text}'


# Completion of audit controls, tables, and SQL queries over the tables.

_WORDS = (
    "select", "from", "where", "join", "left", "on", "using", "group by", "having", "order by",
    "desc", "limit", "with", "as", "and", "or", "not", "in", "is null", "is not null", "like",
    "rlike", "between", "case", "when", "then", "else", "end", "distinct", "union all", "count(*)",
    "sum(", "min(", "max(", "avg(", "explode(",
)  # fmt: skip
_SOURCE = re.compile(r"(?i)\b(?:from|join)\s+`?(\w+)`?(?:\s+(?:as\s+)?(\w+))?")
_AFTER_SOURCE = re.compile(r"(?i)\b(?:from|join)\s+`?$")
_ALIAS = re.compile(r"(\w+)\.$")


@cache
def _known() -> Mapping[str, AuditTable]:
    from kafka_shell.audit.describe import tables_of

    return {table.name: table for table in tables_of()}


@cache
def _control_candidates(user_folder: Path) -> Mapping[str, str]:
    """Tags, families and control IDs with their titles."""
    from kafka_shell.audit.control import FAMILIES, controls_of

    try:
        controls = controls_of(user_folder)
    except ShellError:  # reported by spark audit
        return {}
    tags = sorted({tag for control in controls.values() for tag in control.tags})
    return {
        **dict.fromkeys(tags, "a tag"),
        **dict.fromkeys(FAMILIES.values(), "a family"),
        **{
            id: f"{control.severity.name.lower()}  {control.title}"
            for id, control in controls.items()
        },
    }


def _table_candidates(typed: str) -> Candidates:
    known = _known()
    return pick(known, typed, lambda name: (known[name].about, ""))


def _controls_offered(found: CompletionRequest, known: Catalog) -> Candidates:
    controls = _control_candidates(known.config / "controls")
    return pick(controls, found.prefix)


def _of_query(found: CompletionRequest, known: Catalog) -> Candidates:
    """Tables after FROM and JOIN; else columns of the tables named so far."""
    before, typed = found.key, found.prefix
    if _AFTER_SOURCE.search(before):
        return _table_candidates(typed)
    sources = _sources(before)
    alias = _ALIAS.search(before)
    if alias is not None:
        table = _known().get(sources.get(alias[1], ""))
        return _columns([table] if table else [], typed)
    if not before.strip():
        return _plain(("select", "with"), typed)
    if not typed:
        return _columns([_known()[name] for name in dict.fromkeys(sources.values())], typed)
    columns = _columns(
        [_known()[name] for name in dict.fromkeys(sources.values())] or _known().values(), typed
    )
    words = _plain(_WORDS, typed)
    return Candidates(columns.offered + words.offered, columns.more + words.more)


def _sources(query: str) -> dict[str, str]:
    """Name or alias -> table, for the tables that the query names so far."""
    found: dict[str, str] = {}
    for name, alias in _SOURCE.findall(query):
        if name.lower() in _known():
            found |= {name: name.lower(), **({alias: name.lower()} if alias else {})}
    return found


def _columns(tables: Iterable[AuditTable], typed: str) -> Candidates:
    about: dict[str, str] = {}
    for table in tables:
        for column in table.columns:
            about.setdefault(column.column, f"{column.type}  {table.name}: {column.about}")
    return pick(about, typed) if about else NONE


def _plain(words: Iterable[str], typed: str) -> Candidates:
    """SQL keywords that start with the typed text."""
    return Candidates(
        tuple(Candidate(word, "SQL") for word in words if typed and word.startswith(typed.lower()))
        or (tuple(Candidate(word, "SQL") for word in words) if not typed else ())
    )


TABLES = CandidateSource(lambda found, known: _table_candidates(found.prefix))
CONTROLS = CandidateSource(_controls_offered)
QUERY = CandidateSource(_of_query)


SQL = _Sql("sql", QUERY)
AUDIT_TABLE = Words("audit-table", TABLES)  # a,b
AUDIT_CONTROL = Words("audit-control", CONTROLS, "NAMES")  # IDs, families and tags: T03,security
