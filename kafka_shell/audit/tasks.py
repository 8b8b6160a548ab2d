"""List the topics, brokers and groups of each cluster to split the collection into tasks."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct, field

from kafka_shell import settings
from kafka_shell.audit.table import ReadFailure, Table, read_failure
from kafka_shell.base.errors import ShellError, UsageError
from kafka_shell.base.threads import in_threads
from kafka_shell.base.units import counted, to_path
from kafka_shell.settings import Settings
from kafka_shell.wire.endpoint import parse_via
from kafka_shell.wire.rounds import in_slices

if TYPE_CHECKING:
    from kafka_shell.wire.cluster import Cluster

# The tasks of a collection, which Spark executors receive as JSON.
#
# A target contains a profile name or an address, never a secret: executors look up the profile
# themselves.

# The size of a task. A Spark task costs some tens of milliseconds, so slices are not small, but
# 100,000 topics of three partitions are still enough slices for a hundred cores.
PARTITIONS_PER_SLICE = 3_000
GROUPS_PER_SLICE = 500
# Positions in a log that are sampled, and the bytes per second of a task.
PLACES = ("earliest", "middle", "latest")
BYTES_PER_SECOND = 20_000_000
# The task of this thread, for readers that depend on more than a slice.
CURRENT: ContextVar[ReadTask] = ContextVar("task")


class Target(Struct, frozen=True):
    """A cluster to collect: its address and where its credentials are.

    `profile` is looked up in `config_file`; `command_config` is a .properties file; `properties`
    are client properties of the command line, without secrets. `via` and `address_map` are those of
    the command line and the environment; a profile has its own.
    """

    name: str
    profile: str = ""
    bootstrap: str = ""
    config_file: str = ""
    command_config: str = ""
    properties: tuple[str, ...] = ()
    via: str = ""
    address_map: tuple[str, ...] = ()


class ClusterNames(Struct, frozen=True):
    """The names by which the tasks of a cluster are sliced. Topics have a number of partitions."""

    topics: Mapping[str, int] = field(default_factory=dict)
    brokers: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()


class Sampling(Struct, frozen=True):
    """How logs are sampled: the positions in each partition (the older ones may be in cold
    segments), and the bytes per second of each task, or 0 for no limit."""

    places: tuple[str, ...] = PLACES
    bytes_per_second: int = BYTES_PER_SECOND


SAMPLING = Sampling()


class ReadTask(Struct, frozen=True):
    """A task: reads `tables` of one slice of one cluster over one connection."""

    target: Target
    tables: tuple[str, ...]
    names: tuple[str, ...] = ()
    sampling: Sampling = SAMPLING


def split(
    target: Target,
    names: ClusterNames,
    tables_by: Mapping[str, Sequence[str]],
    sampling: Sampling = SAMPLING,
) -> tuple[ReadTask, ...]:
    """Return the tasks of one cluster. `tables_by` are the tables by the `by` of Table."""
    slices: dict[str, Sequence[tuple[str, ...]]] = {
        "cluster": [()],
        "topics": list(_slices_of_topics(names.topics)),
        "groups": [tuple(part) for part in in_slices(names.groups, GROUPS_PER_SLICE)],
        "brokers": [(broker,) for broker in names.brokers],
        "none": [],  # rows are added while other tables are read
    }
    return tuple(
        ReadTask(target, tuple(tables), chunk, sampling)
        for by, tables in tables_by.items()
        if tables
        for chunk in slices[by]
    )


def _slices_of_topics(topics: Mapping[str, int]) -> Iterator[tuple[str, ...]]:
    """The topics in slices of about as many partitions: a topic with many is alone."""
    names: list[str] = []
    partitions = 0
    for name in sorted(topics):
        if names and partitions + topics[name] > PARTITIONS_PER_SLICE:
            yield tuple(names)
            names, partitions = [], 0
        names.append(name)
        partitions += topics[name]
    if names:
        yield tuple(names)


def to_json(tasks: Sequence[ReadTask]) -> str:
    """Encode tasks as an option of the data source."""
    return msgspec.json.encode(tasks).decode()


def from_json(text: str) -> tuple[ReadTask, ...]:
    """Decode the output of `to_json`."""
    return msgspec.json.decode(text, type=tuple[ReadTask, ...])


# A task of a collection, run by an executor: reads the tables of a slice over one connection.
#
# Failures become rows of `collection_status`. They are not raised, because a single exception would
# fail the whole Spark job.

ROWS_PER_BATCH = 10_000
_EXAMPLES = 10  # of resources that could not be read
_STATUS = "collection_status"
COLLECT_DEADLINE_S = 120.0  # per slice

Opener = Callable[[Target], "Cluster"]


class Read(Struct, frozen=True):
    """Rows of one table, including the common columns."""

    table: str
    rows: list[tuple[Any, ...]]


def collect(
    task: ReadTask, tables: Mapping[str, Table], snapshot_id: str, open_cluster: Opener
) -> Iterator[Read]:
    """Yield the rows of each table of this task in batches, and a status row per table."""
    try:
        cluster = open_cluster(task.target)
    except ShellError as error:
        for name in task.tables:
            why = read_failure("", error)
            yield Read(_STATUS, [status_row(name, task, snapshot_id, 0, 0.0, why)])
        return
    CURRENT.set(task)
    with cluster, cluster.within(COLLECT_DEADLINE_S):
        for name in task.tables:
            yield from _of_table(tables[name], task, cluster, snapshot_id)


def _of_table(table: Table, task: ReadTask, cluster: Cluster, snapshot_id: str) -> Iterator[Read]:
    started = time.time()
    common = (task.target.name, int(started * 1000), snapshot_id)
    rows: list[tuple[Any, ...]] = []
    failures: list[ReadFailure] = []
    count = 0
    try:
        for row in table.read(cluster, task.names):
            if isinstance(row, ReadFailure):
                failures.append(row)
                continue
            rows.append((*common, *row))
            count += 1
            if len(rows) >= ROWS_PER_BATCH:
                yield Read(table.name, rows)
                rows = []
    except ShellError as error:
        failures.append(read_failure("", error))
    except Exception as error:  # must not fail the whole job; its text could contain a secret
        failures.append(ReadFailure("", "internal", type(error).__name__))
    if rows:
        yield Read(table.name, rows)
    seconds = time.time() - started
    for of_error in _by_error(failures):
        yield Read(_STATUS, [status_row(table.name, task, snapshot_id, 0, seconds, *of_error)])
    if not failures or count:
        yield Read(_STATUS, [status_row(table.name, task, snapshot_id, count, seconds, None)])


def _by_error(failures: Iterable[ReadFailure]) -> Iterator[tuple[ReadFailure, int]]:
    """Return one failure for each error, with ten of the resources and their number: if no leader
    answers, each of 100,000 partitions fails in the same way."""
    found: dict[str, list[ReadFailure]] = {}
    for each in failures:
        found.setdefault(each.error, []).append(each)
    for error, same in found.items():
        examples = ", ".join(each.resource for each in same[:_EXAMPLES] if each.resource)
        yield ReadFailure(examples, error, same[0].reason), len(same)


def status_row(
    table: str,
    task: ReadTask,
    snapshot_id: str,
    rows: int,
    seconds: float,
    why: ReadFailure | None,
    failures: int = 1,
) -> tuple[Any, ...]:
    """Return the collection_status row of reading a table of this task."""
    names = task.names
    part = "" if not names else names[0] if len(names) == 1 else f"{names[0]} .. {names[-1]}"
    return (
        task.target.name, int(time.time() * 1000), snapshot_id,
        table, part,
        "ok" if why is None else "error",
        rows, seconds,
        None if why is None else why.resource,
        None if why is None else why.error,
        None if why is None else why.reason,
        0 if why is None else failures,
    )  # fmt: skip


def open_target(target: Target) -> Cluster:
    """Connect to the target with the credentials of its profile on this host. Raises ShellError.

    Environment variables are ignored because executors have their own environment.
    """
    from kafka_shell.wire.cluster import Cluster

    flags: dict[str, object] = {
        "profile": target.profile,
        "broker": target.bootstrap,
        "command-config": target.command_config,
        "adminclient-property": list(target.properties),
        "via": target.via,
        "address-map": list(target.address_map),
    }
    flags = {name: value for name, value in flags.items() if value}
    found = settings.load(flags, {}, Path(target.config_file))
    return Cluster(found.connection)


_AT_ONCE = 16
DEADLINE_S = 60.0  # per cluster
_HIDDEN_GROUPS = ReadFailure(
    "", "CLUSTER_AUTHORIZATION_FAILED",
    "some groups may not be visible: requires DESCRIBE on the cluster",
)  # fmt: skip
_OF_TOPICS = ("group_offsets",)  # beside the tables that are sliced by topics


class ClusterTasks(Struct, frozen=True):
    """The tasks of one cluster, and its size. `lost` are the tables that cannot be read, with the
    reason."""

    target: Target
    tasks: tuple[ReadTask, ...]
    lost: tuple[tuple[str, ReadFailure], ...] = ()
    unreached: str = ""  # why, if there was no connection
    topics: int = 0
    partitions: int = 0
    groups: int = 0

    def status_rows(self, snapshot_id: str) -> Read:
        """Return `lost` as rows of collection_status."""
        rows = [
            status_row(table, ReadTask(self.target, (table,)), snapshot_id, 0, 0.0, why)
            for table, why in self.lost
        ]
        return Read(_STATUS, rows)


def list_tasks(
    targets: Sequence[Target],
    tables: Sequence[Table],
    open_cluster: Opener = open_target,
    sampling: Sampling = SAMPLING,
) -> tuple[ClusterTasks, ...]:
    """Return the tasks of all targets, in parallel. Failures are part of the result."""
    from kafka_shell.wire.codec import import_messages

    import_messages()  # before the threads begin

    def one(target: Target) -> ClusterTasks:
        return _list_tasks(target, tables, open_cluster, sampling)

    return tuple(in_threads(one, targets, _AT_ONCE))


def _list_tasks(
    target: Target, tables: Sequence[Table], open_cluster: Opener, sampling: Sampling
) -> ClusterTasks:
    by: dict[str, list[str]] = {}
    for table in tables:
        by.setdefault(table.by, []).append(table.name)
    try:
        with open_cluster(target) as cluster, cluster.within(DEADLINE_S):
            from kafka_shell.admin.cluster.registrations import registered
            from kafka_shell.wire import metadata_scan

            found = metadata_scan.scan(cluster)
            brokers = tuple(
                str(broker.id) for broker in sorted(found.brokers, key=lambda broker: broker.id)
            )
            groups, lost = _groups(cluster, by.get("groups", ()))
            topics = {topic.name: topic.partitions for topic in found.summaries()}
            names = ClusterNames(topics, brokers, groups)
            of_topics = [*by.get("topics", ()), *(t.name for t in tables if t.name in _OF_TOPICS)]
            lost += tuple((table, why) for why in _hidden(cluster, names) for table in of_topics)
            known = found.replica_ids() | (registered(cluster) or frozenset())
            down = known - {broker.id for broker in found.brokers}
            lost += tuple(
                (table, _not_running(broker))
                for broker in sorted(down)
                for table in by.get("brokers", ())
            )
    except ShellError as error:
        why = read_failure("", error)
        failed = tuple((table.name, why) for table in tables if table.by != "none")
        return ClusterTasks(target, (), failed, why.reason)
    sizes = len(names.topics), found.partitions, len(groups)
    return ClusterTasks(target, split(target, names, by, sampling), lost, "", *sizes)


def _not_running(broker: int) -> ReadFailure:
    """No task reads the tables of a broker that is down, so that they would seem complete."""
    return ReadFailure(
        f"broker {broker}", "BROKER_NOT_AVAILABLE", f"broker {broker} is not running"
    )


def _hidden(cluster: Cluster, names: ClusterNames) -> list[ReadFailure]:
    """What the principal of the connection may not see of the topics."""
    from kafka_shell.admin.topics.visibility import hidden

    found = hidden(cluster, frozenset(names.topics))
    topics = [about for about in found if about.startswith("topic ")]
    failures = [read_failure(about, why) for about, why in found.items() if about not in topics]
    if topics:
        text = f"{counted(len(topics), 'topic')} not visible: requires DESCRIBE on the topics"
        failures.append(ReadFailure("", found[topics[0]].name, text))
    return failures


def _groups(
    cluster: Cluster, tables: Sequence[str]
) -> tuple[tuple[str, ...], tuple[tuple[str, ReadFailure], ...]]:
    """Return the groups, and what is lost of the group tables if brokers do not list theirs."""
    if not tables:
        return (), ()
    from kafka_shell.admin.groups import read as groups

    try:
        found = groups.list_groups(cluster)
        hidden = groups.hidden(cluster)
    except ShellError as error:
        return (), tuple((name, read_failure("", error)) for name in tables)
    lost = tuple(
        (name, read_failure(str(about), why))
        for about, why in found.failures.items()
        for name in tables
    )
    if hidden:
        lost += tuple((name, _HIDDEN_GROUPS) for name in tables)
    return tuple(sorted(found.values)), lost


def new_id(clock: float) -> str:
    """Return a snapshot ID: its start time, sortable, and what sets it apart from others."""
    started = time.strftime("%Y%m%dT%H%M%S", time.gmtime(clock))
    return f"{started}.{int(clock * 1000) % 1000:03}Z-{os.urandom(2).hex()}"


# -- The clusters to audit: profiles by name, or the current cluster -------------------------------


def of_settings(found: Settings, environ: Mapping[str, str], config_file: Path) -> Target:
    """Return the target of these settings. Raises UsageError for a secret on the command line."""
    flags = found.flags
    file = str(flags.get("command-config") or environ.get("KAFKA_SH_COMMAND_CONFIG") or "")
    via = str(flags.get("via") or environ.get("KAFKA_SH_VIA") or "")
    if via and parse_via(via).password is not None:
        raise _sent("the password of via")
    mapped = "address-map" in flags or "KAFKA_SH_ADDRESS_MAP" in environ
    return Target(
        found.cluster_name,
        found.profile,
        ",".join(map(str, found.connection.bootstrap)),
        str(config_file.absolute()),
        str(to_path(file).absolute()) if file else "",
        _properties(flags.get("adminclient-property")),
        via,
        tuple(map("=".join, found.connection.address_map)) if mapped else (),
    )


def of_profiles(names: Sequence[str], config_file: Path) -> tuple[Target, ...]:
    """Return the targets of these profiles, without duplicates. Raises ShellError if one does not
    exist. Whatever else is wrong with one is a failure to read its cluster: others are read."""
    settings.require_profiles(names, config_file)
    path = str(config_file.absolute())
    return tuple(Target(name, name, config_file=path) for name in dict.fromkeys(names))


def _sent(secret: str) -> UsageError:
    return UsageError(
        f"{secret} would be sent to the Spark executors",
        hint="Put the credentials into config.toml or a --command-config file.",
        code="secret",
    )


def _properties(given: object) -> tuple[str, ...]:
    from kafka_shell.wire.client_properties import KNOWN, is_secret

    pairs = given if isinstance(given, list | tuple) else [given] if given else []
    texts = [f"{pair[0]}={pair[1]}" if isinstance(pair, tuple) else str(pair) for pair in pairs]
    for text in texts:
        key = text.partition("=")[0].strip()
        if is_secret(key):
            raise _sent(key)
    return tuple(text for text in texts if text.partition("=")[0].strip() in KNOWN)


# -- Read small clusters in this process, without waiting for Spark --------------------------------

MOST_TOPICS = 2_000
MOST_PARTITIONS = 20_000
MOST_GROUPS = 2_000
_AT_ONCE = 16


def is_small(listed: Sequence[ClusterTasks]) -> bool:
    """Whether the clusters together are read in seconds, and fit into the memory of a program."""
    return (
        sum(each.topics for each in listed) <= MOST_TOPICS
        and sum(each.partitions for each in listed) <= MOST_PARTITIONS
        and sum(each.groups for each in listed) <= MOST_GROUPS
    )


def read_in_process(
    tasks: Sequence[ReadTask],
    tables: Mapping[str, Table],
    snapshot_id: str,
    known: Sequence[Read] = (),
    done: Callable[[ReadTask], None] = lambda task: None,
    stopped: Callable[[], bool] = lambda: False,
    open_cluster: Opener = open_target,
) -> dict[str, list[tuple[Any, ...]]]:
    """Read these tasks in threads, and return the rows of each table, with those of `known`.
    `done` is called after each task; no further one is begun once `stopped`."""

    def one(task: ReadTask) -> list[Read]:
        if stopped():
            return []
        found = list(collect(task, tables, snapshot_id, open_cluster))
        done(task)
        return found

    rows: dict[str, list[tuple[Any, ...]]] = {}
    for each in (known, *in_threads(one, tasks, _AT_ONCE)):
        for part in each:
            rows.setdefault(part.table, []).extend(part.rows)
    return rows
