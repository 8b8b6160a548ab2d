"""Run an audit in a process of its own. Arguments: MASTER REMOTE BOOTSTRAP FOLDER.

Prints the findings as JSON, and the path from which executors import this program.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from kafka_shell.audit import collection, run
from kafka_shell.audit.control import controls_of
from kafka_shell.audit.engine import Engine
from kafka_shell.audit.policy import Policy
from kafka_shell.audit.read_tasks import Target
from kafka_shell.audit.select_controls import select_controls
from kafka_shell.audit.spark_target import SparkTarget
from kafka_shell.audit.tables import TABLES
from kafka_shell.common.structs import asdict

CONTROLS = ("T01", "T13", "S05", "Q03")


def origins(session: Any) -> list[str]:
    """Where each executor's Python finds this program."""

    def look(batches: Any) -> Any:
        import pyarrow

        import kafka_shell

        for _ in batches:
            yield pyarrow.RecordBatch.from_pydict({"origin": [kafka_shell.__file__]})

    rows = session.range(0, 8, numPartitions=4).mapInArrow(look, "origin string").collect()
    return sorted({row["origin"] for row in rows})


def main(master: str, remote: str, bootstrap: str, folder: str) -> None:
    engine = Engine(
        Path(folder), lambda task, done, total: None, spark_target=SparkTarget(master, remote)
    )
    try:
        controls = select_controls(controls_of(Path(folder, "none")), CONTROLS)
        names = run.tables_for(controls, {}, TABLES)
        target = Target("far", bootstrap=bootstrap, config_file=f"{folder}/none.toml")
        found = collection.collect(engine, [target], TABLES, names)
        report = run.audit(engine, found, controls, Policy())
        where = engine.run("looking", lambda: origins(engine.session))
        print(  # noqa: T201
            json.dumps({"origins": where, "unread": report.unread,
                        "findings": [asdict(finding) for finding in report.findings]})
        )  # fmt: skip
    finally:
        engine.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
