"""The Spark session, and the clusters or snapshots that audit commands read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from kafka_shell.language import kinds
from kafka_shell.language.command import Invocation, Option

if TYPE_CHECKING:
    from kafka_shell.audit.collection import Collection
    from kafka_shell.audit.engine import Engine
    from kafka_shell.audit.work import Target
    from kafka_shell.context import Context


def start_early(context: Context) -> bool:
    """Start a local Spark session in the background when the user types `spark`.

    True if it was started now; False if one exists or pyspark is not installed.
    """
    from importlib.util import find_spec

    if context.resources.spark is not None or find_spec("pyspark") is None:
        return False
    from kafka_shell.audit.engine import BackgroundStart

    context.resources.spark = BackgroundStart(context.paths.state / "spark")
    return True


def ready(context: Context) -> None:
    """Wait for a session that starts in the background: Python's modules are not imported safely
    by two threads at once. Raises ShellError if the extra `spark` is missing."""
    from kafka_shell.audit import require_spark

    require_spark()
    kept = context.resources.spark
    if kept is None:
        return
    from kafka_shell.audit.engine import BackgroundStart

    if isinstance(kept, BackgroundStart):
        context.resources.spark = kept.engine(context.report)


def engine_of(invocation: Invocation, context: Context) -> Engine:
    """The Spark session of this program, started when first needed."""
    from kafka_shell.audit.engine import Engine

    where = (invocation["master"] or "", invocation["remote"] or "")
    kept = context.resources.spark
    if isinstance(kept, Engine) and (kept.where == where or where == ("", "")):
        kept.report, kept.deadline = context.report, context.cluster.deadline
        return kept
    if isinstance(kept, Engine):
        kept.stop()
    engine = Engine(context.paths.state / "spark", context.report, master=where[0], remote=where[1])
    engine.deadline = context.cluster.deadline
    context.resources.spark = engine
    return engine


def targets_of(invocation: Invocation, context: Context) -> tuple[Target, ...]:
    """The profiles in --clusters, or the current cluster."""
    from kafka_shell.audit import targets

    named = [name for word in invocation["clusters"] for name in word.split(",") if name]
    file = context.paths.config_file
    if named:
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
        found = collection.of_snapshot(engine, stored, TABLES)
    else:
        found = collection.collect(engine, targets, TABLES, names)
    try:
        yield engine, found
    finally:
        found.release()


def side_of(
    text: str, engine: Engine, context: Context, of: Collection | None = None
) -> Collection:
    """The tables of a snapshot's folder (of the clusters of another side), of profiles, or of the
    current cluster (`now`)."""
    from kafka_shell.audit import collection, drift, targets
    from kafka_shell.audit.snapshot import is_snapshot
    from kafka_shell.audit.tables import TABLES

    file = context.paths.config_file
    if text == "now":
        named: tuple[Target, ...] = (targets.of_settings(context.settings, context.environ, file),)
    elif is_snapshot(text.rpartition("@")[0] or text) or "/" in text:
        return collection.of_snapshot(engine, text, TABLES, of)
    else:
        named = targets.of_profiles(text.split(","), context.environ, file)
    return collection.collect(engine, named, TABLES, {*drift.KEYS, "clusters"})


SOURCE_OPTIONS = (
    Option("--clusters", kinds.PROFILE, "Profiles of config.toml: a,b; may be repeated.", many=True,
           metavar="NAMES"),
    Option("--snapshot", kinds.FILE, "Read a snapshot instead: DIR (the newest) or DIR@ID.",
           metavar="DIR", excludes=("--clusters",)),
)  # fmt: skip
SPARK_OPTIONS = (
    Option("--master", kinds.TEXT, "The Spark master URL (default: local[*]).", metavar="URL"),
    Option("--remote", kinds.TEXT, "The Spark Connect URL: sc://host:port.", metavar="URL",
           excludes=("--master",)),
)  # fmt: skip

# The APIs that the table readers use in executors.
READ_APIS = (1, 2, 9, 15, 16, 29, 32, 35, 46, 48, 50, 55, 60, 61, 65, 66, 69)
