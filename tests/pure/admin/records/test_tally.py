"""The report of records that were not written."""

from __future__ import annotations

from kafka_shell.admin.records.write import Tally
from kafka_shell.base.results import Failure


def test_failures_that_are_not_listed_are_counted() -> None:
    tally: Tally[int] = Tally("orders", "write", "line")
    for line in range(2_500):
        tally.fail(Failure("refused", "refused"), line % 2, [line])
    failed = tally.results().failures
    assert sum(change.records or 0 for change in failed) == 2_500
    more = {str(each.resource): each.records for each in failed if each.field == "more records"}
    assert more == {"partition orders:0": 750, "partition orders:1": 750}
