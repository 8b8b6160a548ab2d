"""Rows for controls of sampled record batches."""

# ruff: noqa: E501 - a row is one line
from __future__ import annotations

from datetime import timedelta
from typing import Any

from tests.support.control_rows import DAY, NO_TIME, ORDERS, Case, Rows, batch, configs, found

A_WEEK = {"retention_ms": "604800000", "retention_bytes": "-1", "cleanup_policy": "delete"}
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
    ("D01", "without a sample the saving is unknown",
     {"topics": ORDERS, "batches": [batch("earliest", 0, 0, DAY, codec="none", size=100)],
      "disk_replicas": [{"topic": "orders", "size": 1 << 30}]},
     [found("orders", "alarm",
            reason="100% of the sampled bytes are not compressed, 1.0 GiB on disk")]),
    ("D01", "the bytes of uncompressed batches count, and only these can be saved",
     {"topics": [*ORDERS, {"topic": "small"}],
      "batches": [*(batch("earliest", at, at, DAY, codec="zstd", size=100) for at in range(3)),
                  batch("latest", 9, 9, DAY, codec="none", size=900),
                  *(batch("earliest", at, at, DAY, topic="small", codec="none", size=100)
                    for at in range(3)),
                  batch("latest", 9, 9, DAY, topic="small", codec="zstd", size=900)],
      "record_samples": [{"topic": topic, "plain_bytes": 1000, "packed_bytes": 200}
                         for topic in ("orders", "small")],
      "disk_replicas": [{"topic": topic, "size": 1 << 30} for topic in ("orders", "small")]},
     [found("orders", "alarm",
            reason="75% of the sampled bytes are not compressed, 1.0 GiB on disk;"
                   " compression would save about 60% of this size"),
      found("small", "ok")]),
    ("D02", "batches without a timestamp",
     {"topics": ORDERS,
      "batches": [batch("earliest", at, at, DAY, base_timestamp=None, max_timestamp=None)
                  for at in range(2)]},
     [found("orders", "skip",
            reason="a median of 1.0 records in 2 sampled batches, unknown rate;"
                   " without a timestamp: 2")]),
    ("D02", "one batch has no duration",
     {"topics": ORDERS,
      "batches": [batch("earliest", 0, 0, DAY), batch("earliest", 0, 0, DAY, partition=1)]},
     [found("orders", "ok",
            reason="a median of 1.0 records in 2 sampled batches, unknown rate")]),
    ("D02", "two records in a millisecond are not a high rate",
     {"topics": ORDERS, "batches": [batch("earliest", at, at, DAY) for at in (0, 1)]},
     [found("orders", "ok",
            reason="a median of 1.0 records in 2 sampled batches, 2.0 records per second")]),
    ("D02", "many records",
     {"topics": ORDERS,
      "batches": [batch("earliest", 0, 0, timedelta(seconds=10)),
                  batch("latest", 1999, 1999, NO_TIME)]},
     [found("orders", "alarm")]),
    ("D02", "compaction left one record of each batch",
     {"topics": [*ORDERS, {"topic": "tiny"}],
      "batches": [*(batch("earliest", 1000 * n, 1000 * n + 999, (10 - n) * timedelta(seconds=1),
                          records=1) for n in range(5)),
                  batch("earliest", 0, 0, timedelta(seconds=10), topic="tiny"),
                  batch("latest", 1999, 1999, timedelta(), topic="tiny")]},
     [found("orders", "ok",
            reason="a median of 1000.0 records in 5 sampled batches, 1250.0 records per second"),
      found("tiny", "alarm")]),
    ("D03", "older batches may be of producers that are idempotent now",
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
      found("long", "alarm")]),
    ("D03", "the end of each partition counts",
     {"topics": ORDERS, "topic_configs": configs("orders", **COMPACT),
      "batches": [plain("earliest", 5000, 5009),
                  plain("earliest", 0, 9, partition=1, producer_id=None)]},
     [found("orders", "alarm",
            reason="1 of 2 batches at the end of the log have no producer ID")]),
    ("D03", "MirrorMaker copies",
     {"topics": [{"topic": name} for name in ("west.checkpoints.internal", "west.prices",
                                              "prices")],
      "topic_configs": [*configs("west.prices", **COMPACT), *configs("prices", **COMPACT)],
      "batches": [plain("latest", 0, 9, topic=name, producer_id=None)
                  for name in ("west.prices", "prices")]},
     [found("prices", "alarm")]),
    ("D05", "the oldest sampled batch is not the oldest record",
     {"topics": ORDERS,
      "topic_configs": configs("orders", **A_WEEK | {"retention_bytes": "1000000"}),
      "batches": [batch("latest", 900, 999, DAY),
                  batch("earliest", 0, 9, 6 * DAY, partition=1),
                  batch("latest", 900, 999, DAY, partition=1)]},
     [found("orders:1", "ok"),
      found("cluster", "skip",
            reason="the start of the log was not sampled in 1 partition")]),
    ("D05", "records older than retention.ms, and records deleted early",
     {"topics": [*ORDERS, {"topic": "brief"}],
      "topic_configs": [*configs("orders", **A_WEEK),
                        *configs("brief", **A_WEEK | {"retention_bytes": "1000000"})],
      "batches": [batch("earliest", 0, 9, 20 * DAY), batch("latest", 900, 999, DAY),
                  batch("earliest", 500, 509, DAY, topic="brief")]},
     [found("orders:0", "alarm"), found("brief:0", "alarm")]),
    ("D06", "the start of the log was not sampled",
     {"topic_configs": configs("orders", **A_WEEK),
      "partition_offsets": [{"topic": "orders", "latest": 1000, "records": 1000}],
      "group_offsets": [{"group": "g", "topic": "orders", "offset": 1000, "latest": 1000}],
      "batches": [batch("latest", 900, 909, 20 * DAY), batch("latest", 910, 999, NO_TIME)]},
     [found("cluster", "skip",
            reason="the start of the log was not sampled in 1 topic")]),
    ("D06", "the group has read everything that is kept",
     {"topic_configs": configs("orders", **A_WEEK),
      "partition_offsets": [{"topic": "orders", "latest": 1000, "records": 1000}],
      "group_offsets": [{"group": "g", "topic": "orders", "offset": 1000, "latest": 1000}],
      "batches": [batch("earliest", 0, 9, 20 * DAY), batch("latest", 910, 999, NO_TIME)]},
     [found("orders", "alarm")]),
    *(("D06", f"a group that is {about}",
            {"topic_configs": configs("orders", cleanup_policy="delete", retention_ms="604800000"),
             **{name: [*read, *behind] for (name, read), behind
                in zip(offsets(0, 2000).items(), offsets(3, committed).values(), strict=True)},
             "batches": [batch("earliest", 1000, 1000, 8 * DAY, partition=partition)
                         for partition in (0, 3)]},
            [found("orders", "ok", reason="the records of 8d are retained, the slowest group is at"
                                          " most 8d behind")])
      for about, committed in (("behind the start of a log", 5), ("at the start of it", 1000))),
    ("D04", "timestamps",
     {"topics": [{"topic": name} for name in ("future", "mixed", "fine", "table", "forever", "append")],
      "topic_configs": [*(each for name in ("future", "mixed", "fine", "append")
                          for each in configs(name, **A_WEEK)),
                        *configs("table", **COMPACT, retention_ms="1"),
                        *configs("forever", cleanup_policy="delete", retention_ms="-1")],
      "batches": [*(batch("latest", 9, 9, -2 * DAY, topic=name) for name in ("future", "table", "forever")),
                  batch("latest", 9, 9, -2 * DAY, topic="append", append_time=True),
                  batch("earliest", 0, 0, DAY, topic="mixed"), batch("latest", 9, 9, 20 * DAY, topic="mixed"),
                  batch("earliest", 0, 0, 2 * DAY, topic="fine"), batch("latest", 9, 9, DAY, topic="fine")]},
     [found("future", "alarm", reason="up to 2d in the future"),
      found("mixed", "alarm", reason="up to 19d out of order"), found("fine", "ok", reason="in order")]),
    ("D05", "a retention that has not passed",
     {"topics": ORDERS, "topic_configs": configs("orders", **A_WEEK),
      "batches": [batch("earliest", 0, 9, 6 * DAY)]},
     [found("orders:0", "ok", reason="the oldest record is 6d old, retention.ms is 7d")]),
    ("D07", "records without a key, and records that could not be decoded",
     {"topics": [{"topic": name} for name in ("keyless", "keyed", "corrupt", "log")],
      "topic_configs": [each for name in ("keyless", "keyed", "corrupt", "log") for each in
                        configs(name, cleanup_policy="delete" if name == "log" else "compact")],
      "record_samples": [{"topic": name, "records": records, "null_keys": keyless, "unread": unread}
                         for name, records, keyless, unread in (
                             ("keyless", 9, 2, 0), ("keyed", 9, 0, 1), ("corrupt", 0, 0, 1),
                             ("log", 9, 9, 0))]},
     [found("keyless", "alarm", reason="2 of 9 sampled records have no key"), found("keyed", "ok"),
      found("corrupt", "skip")]),
    ("D08", "most records have the same key",
     {"topics": [{"topic": name, "partitions": 1 + (name != "one")}
                 for name in ("hot", "even", "small", "one", "corrupt")],
      "record_samples": [{"topic": name, "records": records, "null_keys": 10, "top_key_records": top,
                          "unread": unread}
                         for name, records, top, unread in (
                             ("hot", 110, 51, 0), ("even", 110, 50, 0), ("small", 109, 99, 0),
                             ("one", 110, 99, 0), ("corrupt", 10, 0, 1))]},
     [found("hot", "alarm", reason="one key has 51 of 100 sampled records"), found("even", "ok"),
      found("small", "ok"), found("corrupt", "skip")]),
]  # fmt: skip
