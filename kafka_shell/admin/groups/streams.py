"""Internal topics and local state of Kafka Streams applications, besides their group."""

from __future__ import annotations

from collections.abc import Container, Iterable

from kafka_shell.admin.groups.read import list_groups
from kafka_shell.admin.wire.connection import Cluster
from kafka_shell.admin.wire.metadata_scan import scan
from kafka_shell.common.units import some
from kafka_shell.errors import ShellError

_ENDINGS = ("-changelog", "-repartition")
_NAMED = 5  # topics that a warning names


def warnings(cluster: Cluster, groups: Iterable[str], operation: str) -> tuple[str, ...]:
    """A warning for each group of a Streams application. `operation` ('deleting the group') leaves
    its other data.

    Requires the metadata of all topics, and, if any is internal to one of these groups, the list of
    groups. Without that list, topics of another application whose name continues that of a group
    are taken for its own.
    """
    requested = list(groups)
    if not requested:
        return ()
    names = [name for name in scan(cluster).names if name.endswith(_ENDINGS)]
    if not _by_group(names, set(requested)):
        return ()
    internal = _by_group(names, {*requested, *_existing(cluster)})
    return tuple(
        f"group {group} looks like a Kafka Streams application: {operation} does not change its"
        f" internal topics ({some(internal[group], _NAMED)}) and local state"
        " (state.dir); reset them too, or the application continues with the old state"
        for group in requested
        if group in internal
    )


def _existing(cluster: Cluster) -> Iterable[str]:
    try:
        return list_groups(cluster).values
    except ShellError:
        return ()


def _by_group(names: Iterable[str], groups: Container[str]) -> dict[str, list[str]]:
    """The internal topics of each of these groups, by Kafka Streams' naming convention: a topic
    starts with the application.id, which is the name of the group, and a hyphen. Of several groups
    (orders, orders-enricher), it is that with the longest name."""
    found: dict[str, list[str]] = {}
    for name in names:
        end = name.rfind("-")
        while end > 0 and name[:end] not in groups:
            end = name.rfind("-", 0, end)
        if end > 0:
            found.setdefault(name[:end], []).append(name)
    return found
