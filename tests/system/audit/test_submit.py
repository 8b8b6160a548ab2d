"""The application for spark-submit runs without a terminal."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pyspark

from kafka_shell import submit
from kafka_shell.sandbox.state import Sandbox
from tests.support import short_jvm
from tests.support.places import ROOT

CONTROL = """\
-- id: U01
-- title: Configs of Spark
-- severity: low
-- description: For this test.
-- source: This test.
-- needs: topics
SELECT max(cluster) AS cluster, 'spark' AS resource, 'alarm' AS status, concat_ws(' ',
  java_method('java.lang.System', 'getProperty', 'spark.master'),
  java_method('java.lang.System', 'getProperty', 'spark.sql.session.timeZone'),
  count(*)) AS reason FROM topics
"""


def test_spark_submit_runs_an_audit_without_a_terminal(
    demo_sandbox: Sandbox, tmp_path: Path
) -> None:
    controls = tmp_path / "config" / "controls"
    controls.mkdir(parents=True)
    (controls / "own.sql").write_text(CONTROL)
    done = subprocess.run(
        [Path(pyspark.__file__).parent / "bin" / "spark-submit", "--master", "local[2]",
         "--conf", "spark.sql.session.timeZone=Asia/Tokyo", "--conf", "spark.ui.enabled=false",
         "--conf", f"spark.driver.extraJavaOptions={short_jvm.options()}", submit.__file__,
         "--broker", demo_sandbox.bootstrap, "spark", "audit", "--controls", "U01",
         "--output", "json"],
        capture_output=True, text=True, timeout=300, check=False, stdin=subprocess.DEVNULL,
        env={**os.environ, "KAFKA_SH_HOME": str(tmp_path), "PYSPARK_PYTHON": sys.executable,
             "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert done.returncode == 1, done.stderr[-3000:]
    # spark-submit writes both streams of the program to its standard output.
    assert "{" in done.stdout, done
    (finding,) = json.loads(done.stdout[done.stdout.index("{") :])["findings"]
    master, zone, topics = finding["reason"].split()
    assert (master, zone) == ("local[2]", "Asia/Tokyo")
    assert int(topics) > 40
    assert not (tmp_path / "state" / "spark" / "spark.log").read_text(), "another JVM was started"
