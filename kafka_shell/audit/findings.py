"""All findings of an audit, written by executors: there may be more than a program can hold."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date
from functools import reduce
from pathlib import Path
from typing import Any

from kafka_shell.audit.control import COLUMNS, Control
from kafka_shell.audit.engine import Engine
from kafka_shell.audit.evaluate import REPORTED, finding, query_of, skipped
from kafka_shell.audit.model import AuditFinding
from kafka_shell.audit.owners import Owner, concerns, with_owner
from kafka_shell.audit.policy import Policy
from kafka_shell.audit.snapshot import address
from kafka_shell.base.errors import ShellError, Status
from kafka_shell.base.structs import fields
from kafka_shell.wire.rounds import in_slices

_TOGETHER = 12  # controls in one job
_LINES = (".json", ".jsonl")
_SUCCESS = "mapreduce.fileoutputcommitter.marksuccessfuljobs"  # the file of a complete folder
_FIELDS = [name for name in fields(AuditFinding) if name != "changes"]
_DDL = ", ".join(f"`{name}` STRING" for name in _FIELDS)


def require_new(text: str) -> str:
    """Return the folder to write to. Raises ShellError if it exists."""
    folder, _ = address(text)
    if "://" not in folder and Path(folder).exists():
        raise ShellError(
            f"{folder} already exists", hint="Use another directory.", code="exists",
            status=Status.WRONG,
        )  # fmt: skip
    return folder


def write(
    engine: Engine,
    controls: Sequence[Control],
    policy: Policy,
    folder: str,
    unread: Mapping[tuple[str, str], str],
    others: Iterable[AuditFinding] = (),
    owners: Sequence[Owner] = (),
    team: str = "",
) -> None:
    """Write the findings of these controls that are not suppressed, of all teams or of the one with
    all that was not checked, to a new folder: as JSON lines
    if its name ends in .json or .jsonl, else as Parquet, with a folder for each control. `others`
    are findings that are not results of their queries; those of `unread` tables are added."""
    engine.prepare_executors()
    done: list[int] = []
    suppressed = policy.suppressed(date.today())

    def results(of: Control) -> Any:
        thresholds = policy.thresholds.get(of.id, {})
        query = query_of(of, thresholds, unread, suppressed.get(of.id, ""))
        return _results(engine.session, of.id, query)

    def append(frame: Any, *, last: bool = False) -> None:
        writer = frame.write.mode("append").option(_SUCCESS, str(last).lower())
        if folder.endswith(_LINES):
            writer.json(folder)
        else:
            writer.partitionBy("control").parquet(folder)

    def write_all() -> None:
        known = [*others, *(each for one in controls for each in skipped(one, unread).findings)]
        rows = [tuple(_row(with_owner(each, owners)).values()) for each in known]
        append(engine.session.createDataFrame(rows, _DDL).coalesce(1), last=not controls)
        for group in in_slices(controls, _TOGETHER):
            if engine.stopped():
                return
            whole = reduce(lambda a, b: a.unionByName(b), map(results, group))
            done.append(len(group))
            append(
                whole.mapInArrow(_rendered(group, owners, team), _DDL),
                last=sum(done) == len(controls),
            )

    engine.run("writing findings", write_all, lambda: (sum(done), len(controls)))


def _row(found: AuditFinding) -> dict[str, str]:
    return {name: getattr(found, name) for name in _FIELDS}


def _results(session: Any, control: str, query: str) -> Any:
    from pyspark.sql import functions as f

    found = session.sql(query).where(REPORTED)
    names = COLUMNS.split(", ")
    columns = (f.col(each) if each in found.columns else f.lit(None) for each in names)
    as_text = (each.cast("string").alias(n) for each, n in zip(columns, names, strict=True))
    return found.select(f.lit(control).alias("control"), *as_text)


def _rendered(
    controls: Sequence[Control], owners: Sequence[Owner], team: str
) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """What executors do with the results: the values get their units, as in the report, and the
    findings their owners."""
    known = {each.id: each for each in controls}

    def render(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow

        schema = pyarrow.schema([(name, pyarrow.string()) for name in _FIELDS])
        for batch in batches:
            rows = batch.to_pylist()
            judged = (finding(known[row["control"]], row["status"], row) for row in rows)
            found = (with_owner(each, owners) for each in judged)
            kept = [_row(each) for each in found if not team or concerns(each, team)]
            yield pyarrow.RecordBatch.from_pylist(kept, schema=schema)

    return render
