"""The page of `decommission`: the verdict, and the steps that are done and left."""

from __future__ import annotations

from collections.abc import Iterator

from kafka_shell.admin.cluster.decommission.check import (
    DONE,
    NOT_CHECKED,
    TO_DO,
    Decommission,
    DecommissionStep,
)
from kafka_shell.base.units import approximate_bytes, counted
from kafka_shell.commands.cluster.restart_render import reason_lines, verdict_text
from kafka_shell.output.columns import summary
from kafka_shell.output.tables import Column, Page, Rows, draw_table
from kafka_shell.output.text import Role, Text, text

_ROLES: dict[str, Role] = {DONE: "good", TO_DO: "key", NOT_CHECKED: "warning"}
_WHAT = {
    "cordon": "place no new replicas on the broker",
    "drain": "move its replicas to other brokers",
    "stop": "wait until the broker is stopped",
    "voter": "remove it from the metadata quorum",
    "configs": "delete its dynamic configs",
    "unregister": "remove its registration",
}

COLUMNS: dict[type, tuple[Column, ...]] = {
    DecommissionStep: (
        Column("STEP", lambda s: s.name, role="name"),
        Column("STATE", lambda s: text(s.state, _ROLES.get(s.state, "dim"))),
        Column("WHAT", lambda s: _WHAT.get(s.name)),
        Column("DETAIL", lambda s: s.detail or None, overflow="wrap"),
    ),
}


def decommission_page(found: Decommission, width: int | None) -> Iterator[Text]:
    """The verdict with its reasons, worst first, then the steps."""
    size = "" if not found.size else approximate_bytes(found.size)
    yield from summary(
        width,
        text(f"broker {found.broker}: ", "heading") + _verdict(found),
        "not in the cluster" if found.state == "unknown" else found.state,
        "" if found.ok else counted(found.replicas, "replica") + (f", {size}" if size else ""),
    )
    if found.ok and found.state == "unknown":
        return
    for reason in () if found.ok else found.reasons:
        yield from reason_lines(reason, "", width)
    yield Text()
    yield from draw_table(COLUMNS[DecommissionStep], found.steps, width=width)


def _verdict(found: Decommission) -> Text:
    if found.ok:
        done = found.step("configs").state == DONE
        return text("decommissioned", "good") if done else text("nothing is left to remove", "good")
    return text("decommissioning is ") + verdict_text(found.verdict)


PAGES: dict[type, Page] = {Decommission: decommission_page}
ROWS: dict[type, Rows] = {Decommission: lambda found: found.steps}
