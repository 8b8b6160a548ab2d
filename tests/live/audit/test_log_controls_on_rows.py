"""Controls of sampled record batches evaluated on given rows."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from tests.support.control_rows import (
    DAY,
    ORDERS,
    Case,
    Rows,
    batch,
    configs,
    evaluating,
    found,
)

COMPACT = {"cleanup_policy": "compact"}


def offsets(partition: int, committed: int) -> dict[str, Rows]:
    """A committed offset of a partition with the offsets 1000 to 2000."""
    return {
        "partition_offsets": [{"topic": "orders", "partition": partition, "earliest": 1000,
                               "latest": 2000, "records": 1000}],
        "group_offsets": [{"group": "g", "topic": "orders", "partition": partition,
                           "offset": committed, "latest": 2000}],
    }  # fmt: skip


def plain(place: str, base: int, last: int, **values: Any) -> dict[str, Any]:
    """A batch with a producer ID, unless it is given."""
    return batch(place, base, last, DAY, **{"producer_id": 7} | values)


CASES: list[Case] = [
    (
        "D02", "compaction left one record of each batch",
        {"topics": [*ORDERS, {"topic": "tiny"}],
         "batches": [*(batch("earliest", 1000 * n, 1000 * n + 999, (10 - n) * timedelta(seconds=1),
                             records=1) for n in range(5)),
                     batch("earliest", 0, 0, timedelta(seconds=10), topic="tiny"),
                     batch("latest", 1999, 1999, timedelta(), topic="tiny")]},
        [found("orders", "ok",
               reason="a median of 1000.0 records in 5 sampled batches, 1250.0 records per second"),
         found("tiny", "alarm")],
    ),
    (
        "D03", "older batches may be of producers that are idempotent now",
        {"topics": [*ORDERS, {"topic": "wrong"}, {"topic": "long"}],
         "topic_configs": [*configs("orders", **COMPACT), *configs("wrong", **COMPACT),
                           *configs("long", **COMPACT)],
         "batches": [plain("earliest", 0, 9, producer_id=None), plain("earliest", 500, 509),
                     plain("earliest", 0, 9, topic="wrong"),
                     plain("latest", 500, 509, topic="wrong", producer_id=None),
                     plain("earliest", 0, 149, topic="long", producer_id=None)]},
        [found("orders", "ok", reason="0 of 1 batches at the end of the log have no producer ID"),
         found("wrong", "alarm",
               reason="1 of 1 batches at the end of the log have no producer ID"),
         found("long", "alarm")],
    ),
    (
        "D03", "the end of each partition counts",
        {"topics": ORDERS, "topic_configs": configs("orders", **COMPACT),
         "batches": [plain("earliest", 5000, 5009),
                     plain("earliest", 0, 9, partition=1, producer_id=None)]},
        [found("orders", "alarm",
               reason="1 of 2 batches at the end of the log have no producer ID")],
    ),
    (
        "D03", "MirrorMaker copies",
        {"topics": [{"topic": name} for name in ("west.checkpoints.internal", "west.prices",
                                                 "prices")],
         "topic_configs": [*configs("west.prices", **COMPACT), *configs("prices", **COMPACT)],
         "batches": [plain("latest", 0, 9, topic=name, producer_id=None)
                     for name in ("west.prices", "prices")]},
        [found("prices", "alarm")],
    ),
    *(
        (
            "D06", f"a group that is {about}",
            {"topic_configs": configs("orders", cleanup_policy="delete", retention_ms="604800000"),
             **{name: [*read, *behind] for (name, read), behind
                in zip(offsets(0, 2000).items(), offsets(3, committed).values(), strict=True)},
             "batches": [batch("earliest", 1000, 1000, 8 * DAY, partition=partition)
                         for partition in (0, 3)]},
            [found("orders", "ok", reason="the records of 8d are retained, the slowest group is at"
                                          " most 8d behind")],
        )
        for about, committed in (("behind the start of a log", 5), ("at the start of it", 1000))
    ),
]  # fmt: skip


test_a_control_on_given_rows = evaluating(CASES)
