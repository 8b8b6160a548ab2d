"""Audits with spark-submit, with Spark Connect and in a catalog: Spark in processes of its own.

Executors must import this program from what they are sent: another kafka_shell that they would find
first fails to import.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyspark
import pytest

from kafka_shell import submit
from kafka_shell.audit import jvm
from kafka_shell.audit.control import controls_of
from kafka_shell.base.java import find_java
from kafka_shell.sandbox.security import passwords
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire import metadata_scan
from tests.support import typical_topics
from tests.support.changes import connect
from tests.support.in_process_shell import Shell
from tests.support.places import ROOT
from tests.support.scripts import documents
from tests.support.tcp_proxy import Proxy
from tests.support.waiting import wait_for

SPARK = Path(pyspark.__file__).parent
EXECUTORS = "local-cluster[1,2,1024]"  # a process of its own
WRONG = "wrong-fleet-password"
CLUSTERS = 8
CONTROL = """\
-- title: The session
-- severity: low
-- description: For this test.
-- source: This test.
SELECT max(cluster) AS cluster, 'spark' AS resource, 'alarm' AS status,
  concat_ws(' ', current_timezone(), count(*)) AS reason FROM topics
"""
# An alarm of every topic.
TOPICS = """\
-- title: Every topic
-- severity: low
-- description: For this test.
-- source: This test.
SELECT cluster, topic AS resource, 'alarm' AS status, 'it is there' AS reason FROM topics
"""


def environment(home: Path, **more: str) -> dict[str, str]:
    """Nothing of this machine's user; Python's packages come from the interpreter alone."""
    return {
        "PATH": os.environ["PATH"], "KAFKA_SH_HOME": str(home), "PYSPARK_PYTHON": sys.executable,
        "JAVA_HOME": str(find_java().resolve().parent.parent), "SPARK_HOME": str(SPARK),
        "SPARK_LOCAL_IP": "127.0.0.1", "JDK_JAVA_OPTIONS": jvm.SHORT, **more,
    }  # fmt: skip


@pytest.fixture(scope="module")
def unusable(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A folder with a kafka_shell that cannot be imported."""
    folder = tmp_path_factory.mktemp("unusable")
    (folder / "kafka_shell").mkdir()
    (folder / "kafka_shell" / "__init__.py").write_text("raise ImportError('not what was sent')")
    return str(folder)


def profiles(home: Path, by_name: Mapping[str, Mapping[str, str]]) -> None:
    """Write the configuration with these profiles, and a control."""
    config = home / "config" / "config.toml"
    (config.parent / "controls").mkdir(parents=True)
    (config.parent / "controls" / "U01.sql").write_text(CONTROL)
    (config.parent / "controls" / "U02.sql").write_text(TOPICS)
    config.write_text(
        "".join(
            f"[profiles.{name}]\n" + "".join(f'"{k}" = {json.dumps(v)}\n' for k, v in of.items())
            for name, of in by_name.items()
        )
    )


def login(sandbox: Sandbox, password: str) -> dict[str, str]:
    """The properties of the admin."""
    module = "org.apache.kafka.common.security.plain.PlainLoginModule required"
    return {
        "bootstrap": f"127.0.0.1:{sandbox.brokers[0].ports['SASL_PLAINTEXT']}",
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "PLAIN",
        "sasl.jaas.config": f'{module} username="admin" password="{password}";',
    }


Findings = dict[str, set[tuple[str, ...]]]


def findings(answer: Any) -> Findings:
    """The findings of each cluster."""
    found: Findings = {}
    for each in answer["findings"]:
        of = found.setdefault(each["cluster"], set())
        of.add(tuple(each[name] for name in ("control", "status", "resource", "reason", "remedy")))
    return found


def listed(found: set[tuple[str, ...]]) -> set[str]:
    """The topics of a cluster according to findings."""
    return {resource for control, status, resource, *_ in found
            if (control, status) == ("U02", "alarm")}  # fmt: skip


def topic_names(sandbox: Sandbox) -> set[str]:
    """All topics of one broker, each of which has a single copy."""
    with connect(sandbox) as cluster:
        return set(metadata_scan.scan(cluster).names)


def test_spark_submit_audits_many_clusters_without_secrets(
    demo_sandbox: Sandbox, secure_sandbox: Sandbox, unusable: str, tmp_path: Path
) -> None:
    """Clusters that cannot be read do not affect the others."""
    right = passwords(secure_sandbox)["admin"]
    events = tmp_path / "events"
    events.mkdir()
    confs = {
        "spark.driver.extraJavaOptions": jvm.SHORT,
        "spark.executor.extraJavaOptions": jvm.SHORT,
        "spark.executorEnv.PYTHONPATH": unusable,
        "spark.eventLog.enabled": "true",
        "spark.eventLog.compress": "false",
        "spark.eventLog.dir": events.as_uri(),
        "spark.sql.session.timeZone": "Asia/Tokyo",
        "spark.ui.enabled": "false",
    }
    with Proxy() as slow:
        slow.target = int(demo_sandbox.bootstrap.rpartition(":")[2])
        slow.delay = 2.0
        troubled = {
            "gone": {"bootstrap": "127.0.0.1:1"},
            "wrong": login(secure_sandbox, WRONG),
            "secure": login(secure_sandbox, right),
            "slow": {"bootstrap": slow.address},
        }
        names = [f"c{number:02}" for number in range(CLUSTERS - len(troubled))]
        demos = {name: {"bootstrap": demo_sandbox.bootstrap} for name in names}
        profiles(tmp_path, demos | troubled)
        done = subprocess.run(
            [SPARK / "bin" / "spark-submit", "--master", EXECUTORS,
             *(word for key, value in confs.items() for word in ("--conf", f"{key}={value}")),
             submit.__file__, "spark", "audit", "--clusters", ",".join([*names, *troubled]),
             "--controls", "U02,S01,U01", "--output", "json"],
            env=environment(tmp_path, PYTHONPATH=str(ROOT)), cwd=tmp_path, timeout=500,
            capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
        )  # fmt: skip
    # spark-submit writes both streams of the program to its standard output.
    assert done.returncode == 3 and "\n{" in f"\n{done.stdout}", done
    answer, _ = json.JSONDecoder().raw_decode(done.stdout, f"\n{done.stdout}".index("\n{"))
    assert set(answer["unread"]) == {"gone", "wrong"}
    assert "127.0.0.1:1" in answer["unread"]["gone"]
    found = findings(answer)
    ((_, _, _, session, _),) = [each for of in found.values() for each in of if each[0] == "U01"]
    topics = topic_names(demo_sandbox)
    zone, count = session.split()
    assert zone == "Asia/Tokyo" and int(count) >= (len(names) + 1) * len(topics)
    assert set(found) == {*names, "slow", "secure"}
    assert all(listed(found[name]) == topics for name in (*names, "slow"))
    assert "broker 1 SASL_PLAINTEXT" in {resource for _, _, resource, _, _ in found["secure"]}
    assert not (tmp_path / "state" / "spark" / "spark.log").read_text(), "another JVM was started"

    wait_for("Spark has ended", lambda: not any(tmp_path.rglob("*.inprogress")))
    files = [each for each in tmp_path.rglob("*") if each.is_file() and each.name != "config.toml"]
    logged = b"".join(file.read_bytes() for file in files if "events" in file.parts)
    assert f'"spark.master":"{EXECUTORS}"'.encode() in logged
    assert b"kafka_sh" in logged and b"collection_status" in logged, files
    said = [done.stdout.encode(), done.stderr.encode(), *(file.read_bytes() for file in files)]
    secrets = [each for each in (right, WRONG) if any(each.encode() in text for text in said)]
    assert not secrets


@contextmanager
def connect_server(folder: Path, **more: str) -> Iterator[str]:
    """The address of a Spark Connect server, which is ended at the end."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    log = folder / "connect.log"
    words = ("org.apache.spark.deploy.SparkSubmit", "--master", "local[2]",
             "--class", "org.apache.spark.sql.connect.service.SparkConnectServer",
             "--conf", f"spark.connect.grpc.binding.port={port}",
             "--conf", "spark.connect.grpc.binding.address=127.0.0.1",
             "--conf", "spark.ui.enabled=false", "--name", "connect")  # fmt: skip
    with log.open("w") as out:
        process = subprocess.Popen(
            [str(SPARK / "bin" / "spark-class"), *words],
            cwd=folder, env=environment(folder, **more), stdout=out, stderr=subprocess.STDOUT,
        )  # fmt: skip
    try:
        started = "Spark Connect server started"
        wait_for("Spark Connect accepts sessions", lambda: started in log.read_text(), 120)
        yield f"sc://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(30)


# What somebody did wrong at the demo company.
FAULTS = {
    "T05": {"payments.authorized", "payments.captured"},
    "T14": {
        "analytics.revenue-daily", "analytics.sessions-hourly", "customers.support-tickets",
        "orders.placed.dlq", "orders.returns", "payments.captured", "payments.refunds",
        "shipping.parcels.dlq",
    },
    "T19": {"payments.fraud-scores", "shipping.parcels", "web.clickstream", "web.searches"},
    "T20": {"shipping.labels"},
    "T25": {
        "billing.credit-notes", "billing.invoices", "customers.consents", "orders.returns",
        "payments.authorized", "payments.captured", "payments.refunds",
        "shipping.carrier-webhooks",
    },
    "Q02": {
        "client-id legacy-exporter consumer_byte_rate",
        "client-id web-frontend producer_byte_rate",
    },
    "Q04": {
        "client-id web-frontend producer_byte_rate",
        "user svc-payments client-id checkout producer_byte_rate",
    },
    "Q06": {"user alice", "user carol"},
    "S08": {
        "allow User:alice Write on topic invoices.legacy",
        "allow User:reporting Read on prefixed topic *",
    },
    "S10": {"user bob SCRAM-SHA-512", "user carol SCRAM-SHA-256"},
    "S18": {"allow User:carol All on cluster"},
    "D06": {"customers.support-tickets"},
}  # fmt: skip
# What one broker on a laptop is: no encryption, one process.
LAPTOP = {"B01", "B05", "B06", "B07", "B17", "B18", "B20", "S01", "S16"}
OPINIONS = {control.id for control in controls_of().values() if control.is_opinion}
# Habits more than faults, of a good part of the topics and of groups that only left commits.
HABITS = {"T15", "T16", "T29", "T30", "G07"}


def test_spark_connect_evaluates_every_control(
    demo_sandbox: Sandbox, sandbox: Sandbox, old_sandbox: Sandbox, unusable: str, tmp_path: Path
) -> None:
    """Audits many clusters at once: the demo company has exactly its faults, topics of Connect,
    Streams, MirrorMaker and others are no false alarms, and Kafka 3.9 is audited as well."""
    clusters = {"demo": demo_sandbox, "typical": sandbox, "old": old_sandbox}
    profiles(tmp_path, {name: {"bootstrap": of.bootstrap} for name, of in clusters.items()})
    shell = Shell(tmp_path / "shell", sandbox.bootstrap)
    try:
        typical_topics.create(sandbox, shell)
        with connect_server(tmp_path, PYTHONPATH=unusable) as remote:
            done = subprocess.run(
                [sys.executable, "-m", "kafka_shell", "spark", "audit", "--clusters",
                 ",".join(clusters), "--remote", remote, "--output", "json", "--controls", "all"],
                env=environment(tmp_path, PYTHONPATH=str(ROOT)), cwd=tmp_path, timeout=500,
                capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
            )  # fmt: skip
            _check_functions(remote, sandbox.bootstrap, tmp_path)
    finally:
        typical_topics.delete(shell)
    assert done.returncode == 1, done
    answer = json.loads(done.stdout)
    assert not answer["unread"]
    found = findings(answer)
    assert set(found) == {*clusters}
    assert not [each for of in found.values() for each in of if each[1] == "error"]
    alarms: dict[str, set[str]] = defaultdict(set)
    for control, status, resource, *_ in found["demo"]:
        if status == "alarm":
            alarms[control].add(resource)
    assert set(alarms) == {*FAULTS, *LAPTOP, *HABITS, "U02"}
    assert {control: alarms[control] for control in FAULTS} == FAULTS
    habits = {*OPINIONS, "U02"}
    assert sum(len(of) for control, of in alarms.items() if control not in habits) <= 30, alarms
    _check_typical(found["typical"])


def _check_functions(remote: str, bootstrap: str, folder: Path) -> None:
    """A server that others started has the functions of Spark, but queries run no programs there
    either."""
    queries = "select version() as v, reflect('java.lang.Math', 'abs', -7) as n", _PROGRAM
    lines = "".join(f'spark sql --remote {remote} "{query}" --output json\n' for query in queries)
    done = subprocess.run(
        [sys.executable, "-m", "kafka_shell", "--broker", bootstrap], input=lines, timeout=200,
        text=True,
        env=environment(folder, PYTHONPATH=str(ROOT)), cwd=folder, capture_output=True, check=False,
    )  # fmt: skip
    assert json.loads(done.stdout)[0]["n"] == "7", done
    assert "a query cannot run a program" in done.stderr


_PROGRAM = "select transform(1) using 'cat' as (a)"

# A segment of a busy topic is kept until it is rolled, and these have one partition.
IT_IS_SO = {
    ("T15", "orders.replies"),
    ("T16", "_confluent-ksql-default__command_topic"),
    ("T16", "schema-changes.inventory"),
}


def _check_typical(found: set[tuple[str, ...]]) -> None:
    names = (*typical_topics.TOPICS, "newapp", "copied-from-west")
    alarms = {
        (control, resource)
        for control, status, resource, *_ in found
        if status == "alarm" and any(name in resource for name in names)
    }
    assert {each for each in alarms if each[0] != "U02"} <= IT_IS_SO, "false alarms"
    shown = {
        (control, resource): (status, reason) for control, status, resource, reason, _ in found
    }
    status, reason = shown["T29", "just.created"]
    assert status == "info" and "the creation time is unknown" in reason
    assert shown["G07", "group copied-from-west"][0] == "info"
    assert shown["S08", "allow User:shop All on prefixed topic newapp-"][0] == "info"


CATALOG = "catalog:lakehouse"
METASTORE = """
spark.sql.catalogImplementation hive
spark.sql.warehouse.dir {folder}/warehouse
spark.hadoop.javax.jdo.option.ConnectionURL jdbc:derby:;databaseName={folder}/metastore;create=true
spark.hadoop.datanucleus.schema.autoCreateAll true
spark.hadoop.hive.metastore.schema.verification false
spark.driver.extraJavaOptions {options}
"""

# A table without one of our columns and with another one, and a snapshot that was not finished.
# Then kafka.sh runs in the same session.
OLDER = """
import sys
from pyspark.sql import SparkSession, functions as f
from kafka_shell.app import main
from kafka_shell.audit.tables import TABLES
session = SparkSession.builder.master("local[2]").getOrCreate()
fields = session.createDataFrame([], TABLES["topics"].ddl).schema
columns = [f.lit(None).cast(each.dataType).alias(each.name) for each in fields]
row = session.range(1).select(*columns).drop("topic_id").withColumns({
    "snapshot_id": f.lit("20990101T000000.000Z-0000"), "of_a_newer_version": f.lit("a")})
session.sql("CREATE DATABASE lakehouse")
row.write.partitionBy("snapshot_id", "cluster").saveAsTable("lakehouse.topics")
"""
# Each table costs seconds in Derby, and all are written alike: these are kept.
FEW = """
import sys
from kafka_shell.app import main
from kafka_shell.audit.tables import TABLES
KEPT = {"clusters", "topics", "partitions", "collection_status"}
for name in TABLES.keys() - KEPT:
    del TABLES[name]
sys.exit(main())
"""


def run(program: Sequence[str], folder: Path, bootstrap: str, *lines: str) -> list[Any]:
    """The answers of a script that kafka.sh runs in a process of its own."""
    done = subprocess.run(
        [sys.executable, *program, "--broker", bootstrap, "--output", "json"],
        input="\n".join(lines), text=True, capture_output=True, timeout=300, check=False,
        cwd=folder, env=os.environ | {"SPARK_CONF_DIR": str(folder), "KAFKA_SH_HOME": str(folder)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    return [*documents(done.stdout)]


def test_snapshots_in_a_catalog(demo_sandbox: Sandbox, tmp_path: Path) -> None:
    """They outlive the session. The rows of one that was not written to its end are ignored, and a
    table of an older version gets the columns that it does not have."""
    (tmp_path / "spark-defaults.conf").write_text(
        METASTORE.format(folder=tmp_path, options=jvm.SHORT)
    )
    first, second = run(
        ("-c", OLDER + FEW),
        tmp_path,
        demo_sandbox.bootstrap,
        f"spark snapshot {CATALOG} --no-findings",
        f"spark snapshot {CATALOG} --no-findings",
    )
    assert first["folder"] == CATALOG and first["rows"]["topics"] > 40
    columns = "snapshot_id, count(*) as n, count(topic_id) as ids"
    count = f"spark sql 'select {columns} from topics group by all' --snapshot"
    newest, one, partitions = run(
        ("-c", FEW),
        tmp_path,
        demo_sandbox.bootstrap,
        f"{count} {CATALOG}",
        f"{count} {CATALOG}@{first['snapshot_id']}",
        f"spark trend partitions --snapshot {CATALOG}",
    )
    for rows, taken in ((newest, second), (one, first)):
        topics = taken["rows"]["topics"]
        assert rows == [{"snapshot_id": taken["snapshot_id"], "n": topics, "ids": topics}]
    assert [(row["name"], row["snapshots"]) for row in partitions] == [("partitions", 2)]
