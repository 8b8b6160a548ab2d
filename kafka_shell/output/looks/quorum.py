"""The metadata quorum, features, and what brokers speak."""

from __future__ import annotations

from collections.abc import Iterator

from ...nouns.quorum import ApiSupport, Feature, Features, Quorum, QuorumReplica
from ..page import Page, summary
from ..people import local_time
from ..tables import Cell, Column, draw_table
from ..text import Text, text

_SLOW_MS = 1_000
_ROUND_MS = 10_000


def _behind(replica: QuorumReplica) -> Cell:
    if replica.behind_ms < 0 or replica.role == "leader":
        return None
    from ...values import spell_duration

    behind, slow = replica.behind_ms, replica.behind_ms > _SLOW_MS
    # Of a voter that is far behind nobody reads the milliseconds.
    told = behind - behind % 1_000 if behind >= _ROUND_MS else behind
    return text(spell_duration(told), "warning" if slow else "")


def _supported(feature: Feature) -> str:
    if feature.lowest > feature.highest:
        return "no level in common"
    levels = f"{feature.lowest}-{feature.highest}"
    return f"{levels} ({feature.highest_release})" if feature.highest_release else levels


def _feature_note(feature: Feature) -> Cell:
    if feature.differs:
        told = ", ".join(f"broker {b.broker}: {b.lowest}-{b.highest}" for b in feature.brokers)
        return text(told, "warning")
    if feature.level < feature.highest:
        return text(f"can go up to {feature.highest_release or feature.highest}", "hint")
    return None


def _versions(lowest: int | None, highest: int | None) -> str | None:
    return None if lowest is None else f"{lowest}-{highest}"


def _differences(api: ApiSupport) -> Text | None:
    if not api.differs:
        return None
    each = [f"broker {b.broker}: {b.lowest}-{b.highest}" for b in api.brokers]
    each += [f"broker {broker}: none" for broker in api.missing]
    return text(", ".join(each), "warning")


COLUMNS: dict[type, tuple[Column, ...]] = {
    QuorumReplica: (
        Column("ID", lambda r: r.id, "right", "name"),
        Column("ROLE", lambda r: text(r.role, "good" if r.role == "leader" else "")),
        Column("LOG-END-OFFSET", lambda r: r.log_end_offset, "right"),
        Column("LAG", lambda r: r.lag, "right"),
        Column("BEHIND", _behind, "right"),
        Column("LAST-CAUGHT-UP", lambda r: local_time(r.last_caught_up), give="drop"),
        Column("ENDPOINTS", lambda r: ",".join(map(str, r.endpoints))),
        Column("DIRECTORY-ID", lambda r: r.directory_id, role="dim", give="drop"),
    ),
    Feature: (
        Column("FEATURE", lambda f: f.name, role="key"),
        Column("LEVEL", lambda f: f.level, "right", "value"),
        Column("RELEASE", lambda f: f.release),
        Column("SUPPORTED", _supported),
        Column("NOTE", _feature_note, give="wrap"),
    ),
    ApiSupport: (
        Column("KEY", lambda a: a.key, "right"),
        Column("API", lambda a: a.name, role="name"),
        Column("VERSIONS", lambda a: _versions(a.lowest, a.highest)),
        Column("DIFFERENCES", _differences, give="wrap"),
    ),
}


def quorum_page(quorum: Quorum, width: int | None) -> Iterator[Text]:
    """The metadata quorum: its leader, then its voters and observers."""
    yield from summary(
        width,
        text("metadata quorum", "heading"),
        text("no leader", "bad") if quorum.leader < 0 else f"leader {quorum.leader}",
        f"epoch {quorum.leader_epoch}",
        f"high watermark {quorum.high_watermark}",
    )
    if quorum.replicas:
        yield Text()
        yield from draw_table(COLUMNS[QuorumReplica], quorum.replicas, width=width)


def features_page(features: Features, width: int | None) -> Iterator[Text]:
    """The features, as of their epoch."""
    yield from summary(
        width,
        text("features", "heading"),
        f"epoch {features.epoch}" if features.epoch >= 0 else text("none", "warning"),
        *(text(f"broker {broker} did not answer", "bad") for broker, _ in features.unread),
    )
    if features.features:
        yield Text()
        yield from draw_table(COLUMNS[Feature], features.features, width=width)


PAGES: dict[type, Page] = {Quorum: quorum_page, Features: features_page}
ROWS = {
    Quorum: lambda quorum: quorum.replicas,
    Features: lambda features: features.features,
}
