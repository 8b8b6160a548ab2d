"""Start a Spark session: local, on a master, or with Spark Connect. Its log goes to a file."""

from __future__ import annotations

import atexit
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from kafka_shell.errors import ShellError, Status
from kafka_shell.java import find_java
from kafka_shell.private import open_private, private_folder

SHUFFLE_PARTITIONS = "8"
_MODULE = "jdk.incubator.vector"  # in every JDK, but not in the Java of the sandbox
_JDK = (
    "Install a JDK 17 or 21, such as Eclipse Temurin or the package openjdk-21-jdk-headless, and"
    " set JAVA_HOME. pip has none that Spark runs on."
)
_CONNECT_PORT, _CONNECT_S = 15002, 5.0
_CONFIG = {
    "spark.app.name": "kafka.sh",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.python.filterPushdown.enabled": "true",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.sql.shuffle.partitions": SHUFFLE_PARTITIONS,
    # Spark chooses joins by file size, but a snapshot is much larger in memory than in Parquet.
    "spark.sql.sources.fileCompressionFactor": "20",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    # Snapshots are readable by their owner only, like all files of kafka.sh.
    "spark.hadoop.fs.permissions.umask-mode": "077",
    "spark.executorEnv.PYTHONSAFEPATH": "1",
}
_SAFE_PATH = "PYTHONSAFEPATH"
_LOCAL = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
# The Python packages that executors need in addition to PySpark.
_PACKAGES = ("kafka_shell", "kafka")


def open_session(folder: Path, *, master: str = "", remote: str = "") -> Any:
    """Return a session with our data source registered and our packages on its executors.

    `folder` gets the Spark log. Raises ShellError if there is no JDK or Spark does not start.
    """
    # PySpark logs failing queries to stderr in addition to raising an error.
    from pyspark.logger import PySparkLogger

    for name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger"):
        PySparkLogger.getLogger(name).disabled = True
    private_folder(folder)
    session = _connect(remote) if remote else _launch(master or "local[*]", folder)
    from .source import KafkaSource

    # Executors may start and fetch it at any time, so it is kept until the program ends.
    shipped = tempfile.mkdtemp(prefix="kafka-sh-")
    atexit.register(shutil.rmtree, shipped, ignore_errors=True)
    session.addArtifacts(str(_packages(Path(shipped))), pyfile=True)
    session.dataSource.register(KafkaSource)
    return session


def _launch(master: str, folder: Path) -> Any:
    from pyspark import SparkConf, SparkContext
    from pyspark.java_gateway import launch_gateway
    from pyspark.sql import SparkSession

    java = find_java("Spark", status=Status.WRONG, module=_MODULE, hint=_JDK)
    os.environ["JAVA_HOME"] = str(java.resolve().parent.parent)
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    conf = SparkConf(loadDefaults=False)
    local = _LOCAL if master.startswith("local") else {}
    conf.set("spark.driver.memory", f"{_heap_mebibytes()}m")
    for key, value in {**_CONFIG, **local, "spark.master": master}.items():
        conf.set(key, value)
    conf.set("spark.sql.warehouse.dir", str(folder / "warehouse"))
    log = open_private(folder / "spark.log", "w")
    try:
        with _safe_path():
            gateway = launch_gateway(
                conf, {"stdin": subprocess.PIPE, "stdout": log, "stderr": subprocess.STDOUT}
            )
        context = SparkContext(conf=conf, gateway=gateway)
    except Exception as error:
        raise ShellError(
            f"Spark did not start: {str(error).splitlines()[0]}",
            hint=f"See {folder / 'spark.log'}.",
            code="spark",
        ) from None
    return SparkSession(context)


@contextmanager
def _safe_path() -> Iterator[None]:
    """Keep Spark workers (`python -m`) from importing from the current directory."""
    before = os.environ.get(_SAFE_PATH)
    os.environ[_SAFE_PATH] = "1"
    try:
        yield
    finally:
        del os.environ[_SAFE_PATH]
        if before is not None:
            os.environ[_SAFE_PATH] = before


def _heap_mebibytes() -> int:
    """Return a quarter of the memory, 1 to 8 GiB. The default of Spark, 1 GiB, is often too
    small."""
    whole = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") >> 20
    return max(1024, min(8192, whole // 4))


def sentence(error: BaseException) -> str:
    """Return the root cause of a Spark error, without its stack traces."""
    causes = re.findall(r"(?m)^Caused by: [\w.$]+: (.+)$", str(error))
    return str(causes[-1] if causes else str(error).strip().splitlines()[0])[:300]


def _connect(remote: str) -> Any:
    from pyspark.sql import SparkSession

    _reach(remote)
    try:
        builder = SparkSession.builder.remote(remote)
        for key, value in _CONFIG.items():
            if key.startswith("spark.sql."):
                builder = builder.config(key, value)
        session = builder.create()
        atexit.register(session.stop)  # the server would keep it for an hour
        return session
    except Exception as error:
        raise ShellError(
            f"cannot connect to Spark Connect at {_shown(remote)}: {str(error).splitlines()[0]}",
            hint="Use --remote sc://host:port.",
            code="spark",
        ) from None


def _shown(remote: str) -> str:
    """The URL without its parameters, of which one may be a token."""
    return remote.partition("/;")[0]


def _reach(remote: str) -> None:
    """Raise ShellError unless the server accepts connections: Spark would retry for minutes."""
    server = urlsplit(remote)
    try:
        if server.scheme != "sc" or not server.hostname:
            raise ValueError("not of the form sc://host:port")
        where = (server.hostname, server.port or _CONNECT_PORT)
        socket.create_connection(where, _CONNECT_S).close()
    except (OSError, ValueError) as error:
        raise ShellError(
            f"cannot connect to Spark Connect at {_shown(remote)}: {error}",
            hint="Use --remote sc://host:port.",
            code="spark",
        ) from None


def _packages(folder: Path) -> Path:
    """Write our packages into a zip file that Python can import from."""
    path = folder / "kafka_sh.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for package in _PACKAGES:
            spec = find_spec(package)
            assert spec is not None and spec.origin is not None
            root = Path(spec.origin).parent
            for file in sorted(root.rglob("*")):
                if file.suffix in (".py", ".json"):
                    archive.write(file, Path(package) / file.relative_to(root))
    return path
