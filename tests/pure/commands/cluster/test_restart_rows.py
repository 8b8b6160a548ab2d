"""Rows of the order of a rolling restart, as in CSV."""

from __future__ import annotations

from kafka_shell.admin.cluster.restart.judge import (
    NotRestarted,
    Reason,
    RestartCheck,
    RestartOrder,
    Verdict,
)
from kafka_shell.commands.cluster.restart_render import ROWS
from kafka_shell.output.data import plain


def test_every_broker_has_the_verdict_of_its_batch_and_why() -> None:
    why = Reason(Verdict.RISKY, "single-replica", "1 in-sync replica would be left", 1)
    order = RestartOrder(
        ((1, 2),),
        (NotRestarted(3, ("1 partition would have no leader",), Verdict.UNSAFE),
         NotRestarted(4, ("is down",))),
        (RestartCheck((1, 2), Verdict.RISKY, 0, 0, 0, 0, False, (why,)),),
    )  # fmt: skip
    rows = [plain(row) for row in ROWS[RestartOrder](order)]
    assert [(row["broker"], row["batch"], row["verdict"], *row["reasons"]) for row in rows] == [
        (1, 1, "risky", why.summary),
        (2, 1, "risky", why.summary),
        (3, None, "unsafe", "1 partition would have no leader"),
        (4, None, None, "is down"),
    ]
