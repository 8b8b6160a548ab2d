"""The process that keeps a Spark Connect server: `python -m kafka_shell.audit.server_process`."""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from kafka_shell.audit import jvm
from kafka_shell.audit.jvm import LOCAL, SparkTarget
from kafka_shell.audit.server import Server, alone, last_used, publish, running
from kafka_shell.audit.session import CONFIG, LOCAL_CONFIG, PRIVATE, THIS_MACHINE, withhold
from kafka_shell.base.errors import ShellError
from kafka_shell.base.processes import start_module
from kafka_shell.base.waits import POLL_S

_END_S = 10.0
_ROUNDS = 2  # of queries that prepare the JVM


def main(folder: Path, idle_s: int) -> int:
    """Keep a server until it is idle for this time, its JVM ends, or SIGTERM."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with alone(folder):
        token = secrets.token_urlsafe(32)
        spark, port = _launch(token, folder)
        publish(folder, Server(os.getpid(), port, token, idle_s, int(time.time() * 1000)))
        preparation = start_module("kafka_shell.audit.server_process", folder)
        try:
            while spark.poll() is None and time.time() - last_used(folder) < idle_s:
                preparation.poll()  # no zombie is left of it
                time.sleep(POLL_S)
        finally:
            for process in (spark, preparation):
                process.terminate()
            try:
                spark.wait(_END_S)
            except subprocess.TimeoutExpired:
                spark.kill()
    return 0


def _launch(token: str, folder: Path) -> tuple[subprocess.Popen[bytes], int]:
    """Return the JVM of a server, and the port where it accepts connections."""
    from pyspark import SparkConf, SparkContext
    from pyspark.java_gateway import launch_gateway

    heap = jvm.heap_mebibytes()
    young = min(768, heap // 2)
    # Plans of queries are garbage soon: the fewer collections meet them, the less is copied.
    memory = f"-Xms{min(heap, young + 432)}m -Xmn{young}m -XX:MetaspaceSize=256m"
    configs = {
        **CONFIG,
        **LOCAL_CONFIG,
        "spark.app.name": "kafka.sh",
        "spark.master": LOCAL,
        "spark.connect.grpc.binding.address": THIS_MACHINE,
        "spark.connect.grpc.binding.port": "0",
        "spark.driver.memory": f"{heap}m",
        "spark.driver.extraJavaOptions": f"{jvm.options(folder)} {memory}",
        # Each sort of a few rows would get a page of 64 MiB.
        "spark.buffer.pageSize": "1m",
        "spark.log.level": "WARN",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.local.dir": str(folder / "scratch"),
    }
    os.environ.pop("PYSPARK_GATEWAY_PORT", None)  # of a program that spark-submit started
    os.environ |= {
        **jvm.LOOPBACK,
        "PYSPARK_PYTHON": sys.executable,
        **os.environ,
        "JAVA_HOME": str(jvm.spark_java().resolve().parent.parent),
        "SPARK_CONNECT_AUTHENTICATE_TOKEN": token,  # not visible in the process list
        "PYTHONSAFEPATH": "1",
    }
    conf = SparkConf(loadDefaults=False).setAll(list(configs.items()))
    gateway = launch_gateway(conf, {"umask": PRIVATE})
    java = gateway.jvm
    withhold(java, java.org.apache.spark.sql.catalyst.analysis.FunctionRegistry.builtin())
    connect = java.org.apache.spark.sql.connect.service
    service = getattr(getattr(connect, "SparkConnectService$"), "MODULE$")
    service.start(SparkContext(conf=SparkConf(_jvm=java), gateway=gateway)._jsc.sc())
    return gateway.proc, service.localPort()


def prepare_jvm(folder: Path) -> int:
    """Evaluate all controls on tables of one row, so that the JVM has loaded and compiled what
    audits use."""
    from kafka_shell.audit.control import controls_of
    from kafka_shell.audit.engine import Engine
    from kafka_shell.audit.evaluate import evaluate
    from kafka_shell.audit.snapshot import frames_of, record_batches
    from kafka_shell.audit.tables import TABLES

    server = running(folder)
    if server is None:
        return 1
    engine = Engine(
        folder, lambda task, done, total: None, spark_target=SparkTarget(remote=server.remote)
    )
    controls = tuple(controls_of(folder / "none").values())
    rows = {name: [_row(table)] for name, table in TABLES.items()}
    batches = record_batches(rows, TABLES)
    for name, frame in frames_of(engine.session, batches, TABLES).items():
        frame.createOrReplaceTempView(name)
    for _ in range(_ROUNDS):
        evaluate(engine.session, controls, {}, {})
    engine.stop()
    return 0


# A value of each column type.
_VALUES: dict[str, Any] = {
    "string": "ok", "int": 1, "long": 1, "double": 1.0, "boolean": True, "time": 1,
    "ints": [1], "strings": ["ok"],
}  # fmt: skip


def _row(table: Any) -> tuple[Any, ...]:
    return tuple(_VALUES[column.type] for column in table.all_columns)


if __name__ == "__main__":
    try:
        if len(sys.argv) > 2:
            sys.exit(main(Path(sys.argv[1]), int(sys.argv[2])))
        sys.exit(prepare_jvm(Path(sys.argv[1])))
    except ShellError as error:
        sys.exit(str(error))
