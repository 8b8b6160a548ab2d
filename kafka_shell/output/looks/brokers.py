"""One broker."""

from __future__ import annotations

from collections.abc import Iterator

from ...nouns.brokers import BrokerDescription
from ...nouns.partitions import LogDirUse
from ..page import Page, summary
from ..people import plural
from ..tables import Column, draw_table
from ..text import Text, text
from .configs import CONFIG
from .partitions import COLUMNS as PARTITIONS

_CONFIGS = (Column("CONFIG", lambda e: e.name, role="key"), *CONFIG)


def broker_page(described: BrokerDescription, width: int | None) -> Iterator[Text]:
    """Where it is and how it is, what it leads and has, its disks and its configs."""
    broker = described.broker
    yield from summary(
        width,
        text(f"broker {broker.id}", "heading"),
        f"{broker.host}:{broker.port}" if broker.host else "",
        f"rack {broker.rack}" if broker.rack else "",
        f"Kafka {broker.version}" if broker.version else "",
        text(broker.state, "good" if broker.state == "up" else "bad"),
        f"metadata quorum: {described.quorum_role}" if described.quorum_role else "",
    )
    sync = described.out_of_sync
    yield from summary(
        width,
        f"leads {plural(described.leaders, 'partition')} (preferred leader of"
        f" {described.preferred:,})",
        plural(described.replicas, "replica"),
        text(f"{sync:,} not in sync", "warning") if sync else "",
    )
    if described.log_dirs:
        yield Text()
        yield from draw_table(PARTITIONS[LogDirUse][1:], described.log_dirs, width=width)
    if described.configs:
        yield Text()
        yield from draw_table(_CONFIGS, described.configs, width=width)


PAGES: dict[type, Page] = {BrokerDescription: broker_page}
