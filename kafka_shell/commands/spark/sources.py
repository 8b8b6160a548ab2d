"""The Spark session, and the clusters or snapshots that audit commands read."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import date

from kafka_shell.audit import (
    collection,
    control,
    drift,
    owners,
    policy,
    require_spark,
    server,
    tasks,
)
from kafka_shell.audit.collection import Collection
from kafka_shell.audit.control import Control
from kafka_shell.audit.engine import Engine
from kafka_shell.audit.jvm import SparkTarget
from kafka_shell.audit.owners import Owner
from kafka_shell.audit.policy import Policy
from kafka_shell.audit.snapshot import is_snapshot
from kafka_shell.audit.tables import TABLES
from kafka_shell.audit.tasks import PLACES, SAMPLING, Sampling, Target
from kafka_shell.base.errors import UsageError, pointing_at
from kafka_shell.base.units import to_path
from kafka_shell.commands.spark.run import folder_of
from kafka_shell.context import Context
from kafka_shell.language.command import Invocation


def start_early(context: Context) -> bool:
    """Start a local Spark session in the background when the user types `spark`.

    True if a JVM was started now; False if one exists.
    """
    if context.resources.spark is not None:
        return False
    spark_target = _local(context)
    context.resources.spark = _engine(context, spark_target).begin()
    return not spark_target.server_folder


def wait_for_import(context: Context) -> None:
    """Let a session that starts in the background import Spark first. Raises ShellError if the
    extra `spark` is missing."""
    require_spark()
    kept = context.resources.spark
    if kept is not None:
        kept.wait_for_import()


def engine_of(invocation: Invocation, context: Context) -> Engine:
    """The Spark session of this program, started when first needed."""
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
    folder = folder_of(context)
    found = server.running(folder)
    return (
        SparkTarget()
        if found is None
        else SparkTarget(remote=found.remote, server_folder=str(folder))
    )


def _engine(context: Context, spark_target: SparkTarget) -> Engine:
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
    named = [name for word in invocation["clusters"] for name in word.split(",") if name]
    file = context.paths.config_file
    # The profile of this session may have other bootstrap servers, as in --profile a --broker b.
    if named and named != [context.settings.profile]:
        return tasks.of_profiles(named, file)
    return (tasks.of_settings(context.settings, context.environ, file),)


@contextmanager
def collected(
    invocation: Invocation, context: Context, names: set[str]
) -> Iterator[tuple[Engine, Collection]]:
    """The tables of the selected clusters or snapshot, released on exit."""
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
    places = {"latest": PLACES[-1:], "none": ()}.get(invocation["log-samples"] or "", PLACES)
    rate = invocation["sample-rate"]
    return Sampling(places, SAMPLING.bytes_per_second if rate is None else rate)


def collection_of(
    text: str, engine: Engine, context: Context, of: Collection | None = None
) -> Collection:
    """The tables of a snapshot's folder (of the clusters of another side), of profiles, or of the
    current cluster (`now`)."""
    file, names = context.paths.config_file, {*drift.KEYS, "clusters"}
    if text == "now":
        named: tuple[Target, ...] = (tasks.of_settings(context.settings, context.environ, file),)
    elif is_snapshot(text.rpartition("@")[0] or text) or "/" in text:
        return collection.of_snapshot(engine, text, TABLES, names, of)
    else:
        named = tasks.of_profiles(text.split(","), file)
    return collection.collect(engine, named, TABLES, names)


def owners_of(invocation: Invocation, context: Context) -> tuple[Owner, ...]:
    """The owners of resources. Raises UsageError for the --owner of nothing."""
    beside = to_path(invocation["policy"]) if invocation.get("policy") else None
    if beside is not None and not beside.is_dir():
        beside = beside.parent
    folders = (context.paths.config, *([beside] if beside else []))
    path = next((f / owners.FILE for f in folders[::-1] if (f / owners.FILE).exists()), None)
    path = path or context.paths.config / owners.FILE
    found = owners.read(path)
    if invocation.get("owner"):
        with pointing_at(invocation.span("owner")):
            owners.require_team(found, invocation["owner"], path)
    return found


def policy_of(invocation: Invocation, context: Context) -> tuple[dict[str, Control], Policy]:
    """The controls, with those of the user and of the folder of --policy, and the policy."""
    file = to_path(invocation["policy"]) if invocation["policy"] else None
    folder = file if file is not None and file.is_dir() else None
    known = control.controls_of(context.paths.config / "controls", *([folder] if folder else []))
    if folder is not None:
        file = folder / policy.FILE if (folder / policy.FILE).exists() else None
    if file is None or (invocation.get("accept") and not file.exists()):  # to be created
        return known, Policy()
    declared = policy.read(file, known)
    for each in declared.expired(date.today()):
        context.note(
            f"the suppression of {each.control} by {each.owner} has expired: {each.reason}"
        )
    return known, declared
