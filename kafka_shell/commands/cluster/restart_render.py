"""Pages of `check-restart`: verdicts with their reasons, and the order of a rolling restart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from kafka_shell.admin.cluster.decommission import (
    DONE,
    NOT_CHECKED,
    TO_DO,
    Decommission,
    DecommissionStep,
)
from kafka_shell.admin.cluster.restart.judge import (
    BackInSync,
    Reason,
    RestartCheck,
    RestartChecks,
    RestartOrder,
    Verdict,
)
from kafka_shell.base.units import approximate_bytes, counted, format_duration
from kafka_shell.output.columns import labeled_lines, summary
from kafka_shell.output.humanize import comma_list
from kafka_shell.output.tables import Column, Page, Rows, draw_table
from kafka_shell.output.text import Role, Text, hang, pad, text

_LABEL = 10
_ROLES: dict[Verdict, Role] = {
    Verdict.SAFE: "good",
    Verdict.RISKY: "warning",
    Verdict.UNKNOWN: "warning",
    Verdict.UNSAFE: "bad",
}


def verdict_text(verdict: Verdict) -> Text:
    """The verdict in its color."""
    return text(verdict.name.lower(), _ROLES[verdict])


def _named(brokers: Sequence[int]) -> str:
    return f"broker{'' if len(brokers) == 1 else 's'} {', '.join(map(str, brokers))}"


_STATE_ROLES: dict[str, Role] = {DONE: "good", TO_DO: "key", NOT_CHECKED: "warning"}
_WHAT = {
    "cordon": "place no new replicas on the broker",
    "drain": "move its replicas to other brokers",
    "stop": "wait until the broker is stopped",
    "voter": "remove it from the metadata quorum",
    "configs": "delete its dynamic configs",
    "unregister": "remove its registration",
}

COLUMNS: dict[type, tuple[Column, ...]] = {
    RestartCheck: (
        Column("BROKER", lambda c: comma_list(c.brokers), "right", "name"),
        Column("VERDICT", lambda c: verdict_text(c.verdict)),
        Column("LEADERS", lambda c: c.leaders, "right"),
        Column("REPLICAS", lambda c: c.replicas, "right"),
        Column("COORDINATOR", lambda c: c.groups + c.transactions, "right"),
        Column("ROLE", lambda c: "controller" if c.controller else None),
    ),
    DecommissionStep: (
        Column("STEP", lambda s: s.name, role="name"),
        Column("STATE", lambda s: text(s.state, _STATE_ROLES.get(s.state, "dim"))),
        Column("WHAT", lambda s: _WHAT.get(s.name)),
        Column("DETAIL", lambda s: s.detail or None, overflow="wrap"),
    ),
}


def checks_page(checks: RestartChecks, width: int | None) -> Iterator[Text]:
    """The verdict for each set of brokers, then the reasons, worst first."""
    if len(checks.checks) == 1:
        yield from _single(checks.checks[0], width)
    else:
        yield from draw_table(COLUMNS[RestartCheck], checks.checks, width=width)
    brokers_of: dict[Reason, list[int]] = {}
    for check in checks.checks:
        for reason in check.reasons:
            brokers_of.setdefault(reason, []).extend(check.brokers)
    for reason, brokers in sorted(
        brokers_of.items(), key=lambda item: item[0].verdict, reverse=True
    ):
        yield Text()
        about = "" if len(checks.checks) == 1 else _about(brokers, len(checks.checks))
        yield from reason_lines(reason, about, width)


def _about(brokers: Sequence[int], total: int) -> str:
    return "all checked brokers: " if len(brokers) == total > 1 else f"{_named(brokers)}: "


def _single(check: RestartCheck, width: int | None) -> Iterator[Text]:
    yield from summary(
        width,
        text(f"{_named(check.brokers)}: ", "heading") + verdict_text(check.verdict),
        f"leads {counted(check.leaders, 'partition')} ({check.groups:,} of __consumer_offsets,"
        f" {check.transactions:,} of __transaction_state)",
        counted(check.replicas, "replica"),
        "active controller" if check.controller else "",
    )


def reason_lines(reason: Reason, about: str, width: int | None) -> Iterator[Text]:
    """The verdict, the summary after `about`, and the examples."""
    label = text(reason.verdict.name, _ROLES[reason.verdict])
    summary = about + reason.summary
    return labeled_lines(label, _LABEL, summary, reason.examples, reason.count, width)


def order_page(order: RestartOrder, width: int | None) -> Iterator[Text]:
    """The batches in order and their risks, then the brokers that are in none."""
    for number, batch in enumerate(order.batches, 1):
        yield from hang(
            pad(text(f"batch {number}", "heading"), _LABEL) + comma_list(batch), width, _LABEL
        )
    if order.batches:
        last = "Stop a batch, start it again, and wait for it with check-restart BROKER... --wait."
        yield from hang(text(last, "hint"), width, 0)
    batches_of: dict[Reason, list[int]] = {}
    for number, check in enumerate(order.checks, 1):
        for reason in check.reasons:
            batches_of.setdefault(reason, []).append(number)
    for reason, numbers in batches_of.items():
        yield Text()
        yield from reason_lines(reason, _about_batches(numbers, len(order.batches)), width)
    if order.left_out:
        if order.batches:
            yield Text()
        count = counted(len(order.left_out), "broker")
        are = "is" if len(order.left_out) == 1 else "are"
        yield text(f"{count} {are} not in the plan: not running, or unsafe to stop", "bad")
        total = len(order.left_out) + sum(map(len, order.batches))
        brokers_of: dict[str, list[int]] = {}
        for restarted in order.left_out:
            for why in restarted.reasons:
                brokers_of.setdefault(why, []).append(restarted.broker)
        for why, brokers in brokers_of.items():
            yield from hang(text(_about(brokers, total), "heading") + why, width, 4)


def _about_batches(numbers: Sequence[int], total: int) -> str:
    if len(numbers) == total > 1:
        return "all batches: "
    ids = ", ".join(map(str, numbers))
    return f"batch {ids}: " if len(numbers) == 1 else f"batches {ids}: "


def back_page(back: BackInSync, width: int | None) -> Iterator[Text]:
    """One line."""
    took = f" ({format_duration(round(back.seconds) * 1000)})" if back.seconds >= 1 else ""
    verb = "is" if len(back.brokers) == 1 else "are"
    fact = f"{_named(back.brokers)} {verb} up, {counted(back.replicas, 'replica')} in sync"
    yield from hang(text(fact, "good") + text(took, "dim"), width, 4)
    for about, why in back.unread.items():
        yield from hang(text(f"not checked: {about}: {why.message}", "warning"), width, 4)


class OrderRow(Struct, frozen=True):
    """A broker in the order of a rolling restart; `batch` is None if it is in none. `verdict` is
    that of its batch, or of the broker alone; None if it is not running."""

    broker: int
    batch: int | None
    verdict: Verdict | None
    reasons: tuple[str, ...]


def _order_rows(order: RestartOrder) -> Iterator[OrderRow]:
    for number, check in enumerate(order.checks, 1):
        for broker in check.brokers:
            reasons = tuple(reason.summary for reason in check.reasons)
            yield OrderRow(broker, number, check.verdict, reasons)
    for restarted in order.left_out:
        yield OrderRow(restarted.broker, None, restarted.verdict, restarted.reasons)


# -- The page of `decommission`: the verdict, and the steps that are done and left -----------------


def decommission_page(work: Decommission, width: int | None) -> Iterator[Text]:
    """The verdict with its reasons, worst first, then the steps."""
    size = "" if not work.size else approximate_bytes(work.size)
    yield from summary(
        width,
        text(f"broker {work.broker}: ", "heading") + _verdict(work),
        "not in the cluster" if work.state == "unknown" else work.state,
        "" if work.ok else counted(work.replicas, "replica") + (f", {size}" if size else ""),
    )
    if work.ok and work.state == "unknown":
        return
    for reason in () if work.ok else work.reasons:
        yield from reason_lines(reason, "", width)
    yield Text()
    yield from draw_table(COLUMNS[DecommissionStep], work.steps, width=width)


def _verdict(progress: Decommission) -> Text:
    if progress.ok:
        done = progress.step("configs").state == DONE
        return text("decommissioned", "good") if done else text("nothing is left to remove", "good")
    return text("decommissioning is ") + verdict_text(progress.verdict)


PAGES: dict[type, Page] = {
    RestartChecks: checks_page,
    RestartOrder: order_page,
    BackInSync: back_page,
    Decommission: decommission_page,
}
ROWS: dict[type, Rows] = {
    RestartChecks: lambda found: found.checks,
    RestartOrder: lambda order: _order_rows(order),
    Decommission: lambda found: found.steps,
}
