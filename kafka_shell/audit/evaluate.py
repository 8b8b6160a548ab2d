"""Evaluate controls: run their SQL on the tables of a collection."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct, field

from kafka_shell.audit.collection import Status, rows_of, unread_tables
from kafka_shell.audit.control import COLUMNS, Control, render
from kafka_shell.audit.engine import is_small_data, tuned
from kafka_shell.audit.model import SEVERITIES, AuditFinding
from kafka_shell.audit.query import select
from kafka_shell.audit.remedy import changes_of, sql_text
from kafka_shell.audit.session import is_remote, sentence
from kafka_shell.base.plans import Change
from kafka_shell.base.structs import replace
from kafka_shell.base.text import is_printable
from kafka_shell.base.threads import in_threads
from kafka_shell.output.change_kinds import lines, undo_lines
from kafka_shell.wire.rounds import in_slices

# Of each control. The counts are those of all results.
MOST_FINDINGS = 10_000
_AT_ONCE = 4
_CORES = max(2, os.cpu_count() or 2)  # few rows: each query keeps a core busy with planning
_TOGETHER = 12  # controls in one query of a few rows: a larger plan takes longer than two
_STATUSES = ("ok", "info", "alarm", "skip", "error")  # that a control may return
_EXISTS = f"coalesce(status, '') IN ({', '.join(map(sql_text, _STATUSES))})"
REPORTED = "status NOT IN ('ok', 'suppressed')"


class Evaluation(Struct):
    """The results of controls: `findings` are those that are not ok; `counts` are the numbers of
    all results by (control, status); `left_out` are the numbers of alarms that are not in
    `findings`, by (control, cluster).
    """

    findings: list[AuditFinding] = field(default_factory=list)
    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    left_out: Counter[tuple[str, str]] = field(default_factory=Counter)

    def add(self, other: Evaluation) -> None:
        """Add the results of other controls."""
        self.findings += other.findings
        self.counts += other.counts
        self.left_out += other.left_out


def evaluate(
    session: Any,
    controls: Sequence[Control],
    thresholds: Mapping[str, Mapping[str, str]],
    status: Status,
    done: list[str] | None = None,
    stopped: Callable[[], bool] = lambda: False,
    suppressed: Mapping[str, str] | None = None,
) -> Evaluation:
    """Return the results of the controls.

    The tables are temporary views of the session, and `status` is what was read of them. A control
    whose SQL fails becomes an error finding. The IDs of evaluated controls are added to `done`, and
    no further one is begun once `stopped`. `suppressed` are SQL conditions by control: such alarms
    are counted as suppressed.
    """
    rows = rows_of(status)
    few = is_small_data(rows)
    unread = unread_tables(status)

    def query(control: Control) -> str:
        condition = (suppressed or {}).get(control.id, "")
        return query_of(control, thresholds.get(control.id, {}), unread, condition)

    def evaluate_group(group: Sequence[Control]) -> Evaluation:
        if stopped():
            return Evaluation()
        try:
            found = _evaluate_group(session, group, {each.id: query(each) for each in group}, few)
        except Exception as error:
            if len(group) > 1:  # which of them?
                return _sum(evaluate_group([each]) for each in group)
            found = _failed(group[0], sentence(error))
        for control in group:
            found.add(skipped(control, unread))
            if done is not None:
                done.append(control.id)
        return found

    with tuned(session, rows):
        groups = _groups(controls, few)
        return _sum(in_threads(evaluate_group, groups, _CORES if few else _AT_ONCE))


def _sum(parts: Iterable[Evaluation]) -> Evaluation:
    whole = Evaluation()
    for part in parts:
        whole.add(part)
    return whole


def _groups(controls: Sequence[Control], few: bool) -> list[Sequence[Control]]:
    """The controls that share a query: planning many takes longer than evaluating them. One of a
    user, whose query may fail, has a query of its own."""
    shared = [each for each in controls if few and each.built_in]
    alone = [[each] for each in controls if each not in shared]
    return [*in_slices(shared, _TOGETHER), *alone]


def _evaluate_group(
    session: Any, group: Sequence[Control], queries: Mapping[str, str], few: bool
) -> Evaluation:
    """The results of controls whose queries are run as one. Raises the error of Spark if it
    fails."""
    result = Evaluation()
    known = {control.id: control for control in group}
    for control in group:
        if not control.built_in:
            select(session, queries[control.id])
    for id, status, count, rows in (_all_of if few else _most_of)(session, queries):
        result.counts[id, status] += count
        kept = rows[:MOST_FINDINGS]
        result.findings += (finding(known[id], status, row) for row in kept)
        if status == "alarm" and count > len(kept):
            rest = _alarms(session, queries[id]) - Counter(row["cluster"] for row in kept)
            result.left_out += Counter({(id, name): n for name, n in rest.items()})
    return result


# A control, a status, the number of its results, and those that are not ok.
_Status = tuple[str, str, int, list[Mapping[str, Any]]]


def query_of(
    control: Control,
    thresholds: Mapping[str, str],
    unread: Iterable[tuple[str, str]] = (),
    suppressed: str = "",
) -> str:
    """The query of a control, without results about what is missing in clusters where it may only
    not have been read. The status of alarms that meet the condition `suppressed` is `suppressed`,
    and one that does not exist, which a control of a user may return, is an error."""
    query = control.query(thresholds)
    if not control.built_in:
        expected = sql_text(f" (expected {', '.join(_STATUSES)})")
        reason = f"concat('invalid status ', coalesce(status, 'NULL'), {expected})"
        query = (
            "SELECT * EXCEPT (status, reason),"
            f" IF({_EXISTS}, status, 'error') AS status,"
            f" IF({_EXISTS}, reason, {reason}) AS reason FROM (\n{query}\n)"
        )
    uncertain = {cluster for cluster, table in unread if table in control.absence}
    if uncertain:
        names = ", ".join(map(sql_text, sorted(uncertain)))
        query = f"SELECT * FROM (\n{query}\n) WHERE status = 'ok' OR cluster NOT IN ({names})"
    if suppressed:
        query = (
            "SELECT * EXCEPT (status),"
            f" IF(status = 'alarm' AND ({suppressed}), 'suppressed', status) AS status"
            f" FROM (\n{query}\n)"
        )
    return query


def _all_of(session: Any, queries: Mapping[str, str]) -> Iterator[_Status]:
    """The results by control and status, in a single query."""
    columns = COLUMNS if len(queries) > 1 else "*"
    results = "\nUNION ALL\n".join(
        f"SELECT '{id}' AS control, {columns} FROM (\n{query}\n)" for id, query in queries.items()
    )
    found = _query(
        session,
        "SELECT control, status, count(*) AS n,"
        f" collect_list(CASE WHEN {REPORTED} THEN struct(*) END) AS found"
        f" FROM (SELECT /*+ COALESCE(1) */ * FROM (\n{results}\n)) GROUP BY control, status",
    )
    for row in found.collect():
        rows = [each.asDict() for each in row["found"]]
        yield row["control"], row["status"], row["n"], rows


def _query(session: Any, text: str) -> Any:
    """The data frame of a query. Spark Connect would ask the server about it first, to know whether
    it is a command."""
    if not is_remote():
        return session.sql(text)
    from pyspark.sql.connect.dataframe import DataFrame
    from pyspark.sql.connect.plan import SQL

    return DataFrame(SQL(text), session)


def _most_of(session: Any, queries: Mapping[str, str]) -> Iterator[_Status]:
    """The results of one control by status. Executors count them all, and return some of those that
    are not ok."""
    from pyspark.sql import Observation
    from pyspark.sql import functions as f

    seen = Observation()
    statuses = (*_STATUSES, "suppressed")
    of_status = (f.count_if(f.col("status") == each).alias(each) for each in statuses)
    ((id, query),) = queries.items()
    results = session.sql(query).observe(seen, *of_status)
    # Alarms first: many rows of another status must not displace them.
    order = f.col("status") != "alarm", f.col("status") == "info"
    found = results.where(REPORTED).orderBy(*order).limit(MOST_FINDINGS)
    rows = [row.asDict() for row in found.collect()]
    for status, count in seen.get.items():
        if count:
            yield id, status, count, [row for row in rows if row["status"] == status]


def _alarms(session: Any, query: str) -> Counter[str]:
    """The number of alarms of each cluster."""
    found = session.sql(
        f"SELECT cluster, count(*) AS n FROM (\n{query}\n) WHERE status = 'alarm' GROUP BY cluster"
    )
    return Counter({row["cluster"]: row["n"] for row in found.collect()})


def skipped(control: Control, unread: Mapping[tuple[str, str], str]) -> Evaluation:
    """Return a skip finding per cluster and required table that could not be read."""
    required = {*control.needs, *control.absence}
    found = [
        _of(control, cluster, table, "skip", f"{table} could not be read: {why}")
        for (cluster, table), why in sorted(unread.items())
        if table in required
    ]
    return Evaluation(found, Counter([(control.id, "skip")] * len(found)))


def _failed(control: Control, why: str) -> Evaluation:
    error = _of(control, "", "", "error", f"query failed: {why}")
    return Evaluation([error], Counter([(control.id, "error")]))


def finding(control: Control, status: str, row: Mapping[str, Any]) -> AuditFinding:
    """A result of a query: with the units of its values, and its remedy."""
    reason = render(row["reason"] or "")
    changes: tuple[Change, ...] = ()
    try:
        changes = changes_of(row.get("remedy") or "")
    except ValueError as error:  # of a value that its query returns
        reason += f" (remedy omitted: {error})"
    found = _of(control, row["cluster"], row["resource"], status, reason)
    return with_remedy(found, changes, control.risk)


def with_remedy(found: AuditFinding, changes: Sequence[Change], risk: str) -> AuditFinding:
    """The finding with changes as its remedy. Lines that a terminal would not show are none."""
    remedy, undo = commands_of(changes)
    if not remedy:
        return found
    if not is_printable(remedy + undo):
        why = f"{found.reason} (remedy omitted: a name is not printable)"
        return replace(found, reason=why)
    return replace(found, remedy=remedy, undo=undo, risk=risk, changes=tuple(changes))


def commands_of(changes: Sequence[Change]) -> tuple[str, str]:
    """The commands that make the changes, and that undo them; empty without changes."""
    return "; ".join(lines(changes)), "; ".join(undo_lines(changes))


def _of(control: Control, cluster: str, resource: str, status: str, reason: str) -> AuditFinding:
    return AuditFinding(
        control.id, control.title, control.severity.name.lower(), status, cluster, resource, reason
    )


def in_order(findings: Iterable[AuditFinding]) -> tuple[AuditFinding, ...]:
    """Sort findings: alarms first, then by severity, control, cluster and resource."""
    statuses = ["alarm", "error", "skip", "info"]
    return tuple(
        sorted(
            findings,
            key=lambda f: (
                statuses.index(f.status) if f.status in statuses else len(statuses),
                SEVERITIES.index(f.severity), f.control, f.cluster, f.resource,
            ),
        )
    )  # fmt: skip
