"""Start a Spark session: local, on a master, or with Spark Connect. Its log goes to a file.

The user's Spark comes first: an existing session, spark-submit, spark-defaults.conf and --conf are
used as they are, and only configs that are not set there get values of ours.
"""

from __future__ import annotations

import atexit
import os
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from msgspec import Struct

from kafka_shell.audit import jvm
from kafka_shell.audit.jvm import LOCAL, SparkTarget, is_local, is_submitted
from kafka_shell.base.errors import ShellError
from kafka_shell.base.files import open_private, private_folder
from kafka_shell.wire.endpoint import normalize_url

_CONNECT_PORT, _CONNECT_S = 15002, 5.0
# Configs of a session, which can also be set in one that exists.
SQL = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.python.filterPushdown.enabled": "true",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    # Spark chooses joins by file size, but a snapshot is much larger in memory than in Parquet.
    "spark.sql.sources.fileCompressionFactor": "20",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    "spark.sql.runSQLOnFiles": "false",  # a query reads tables, not text.`/etc/passwd`
}
# Functions that run code, or open files whose names are arguments.
WITHHELD = (
    "reflect", "try_reflect", "java_method", "from_avro", "to_avro", "schema_of_avro",
    "from_protobuf", "to_protobuf", "from_xml", "schema_of_xml",
)  # fmt: skip
CONFIG = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    # Snapshots are readable by their owner only, like all files of kafka.sh.
    "spark.hadoop.fs.permissions.umask-mode": "077",
    "spark.executorEnv.PYTHONSAFEPATH": "1",
    "spark.cleaner.referenceTracking.cleanCheckpoints": "true",
}
_NAME, _MEMORY, _JAVA = "spark.app.name", "spark.driver.memory", "spark.driver.extraJavaOptions"
_CONNECT_MODE = "SPARK_CONNECT_MODE_ENABLED"
_SAFE_PATH = "PYTHONSAFEPATH"
_EXCLUDED = "no_grpc_proxy"  # what gRPC reads instead of no_proxy
THIS_MACHINE = "127.0.0.1"
_NOT_PROXIED = f"localhost,{THIS_MACHINE},::1"
PRIVATE = 0o077  # the umask of the JVM and of its workers: they spill rows to files
LOCAL_CONFIG = {
    "spark.driver.host": THIS_MACHINE,
    "spark.driver.bindAddress": THIS_MACHINE,
    # With a secret that Spark makes. Without one, any user of this machine could send it objects.
    "spark.authenticate": "true",
}


class Opened(Struct):
    """A session. It is `local` if executors are on this machine only. `ends_with_program` is
    whether this program ends it."""

    session: Any
    local: bool
    ends_with_program: bool = True


def import_spark() -> None:
    """Import what is used of Spark: not safe while other threads import it."""
    import pyarrow  # noqa: F401
    from pyspark import SparkConf, SparkContext  # noqa: F401
    from pyspark.errors import PySparkException  # noqa: F401
    from pyspark.sql import Observation, SparkSession, functions  # noqa: F401


def open_session(folder: Path, spark_target: SparkTarget) -> Opened:
    """Return a session; `folder` gets the Spark log. Raises ShellError if there is no JDK or Spark
    does not start."""
    # PySpark logs failing queries to stderr in addition to raising an error.
    from pyspark.logger import PySparkLogger

    for name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger"):
        PySparkLogger.getLogger(name).disabled = True
    private_folder(folder)
    if spark_target.remote:
        return _connect(spark_target)
    existing = _existing()
    opened = _launch(spark_target, folder) if existing is None else _adopt(existing, spark_target)
    session = opened.session
    withhold(session._jvm, session._jsparkSession.sessionState().functionRegistry())
    return opened


def withhold(jvm: Any, registry: Any) -> None:
    """Remove functions that run code or open files from a registry of Spark, so that no query can
    use them, under any name."""
    some = jvm.scala.Some
    for name in WITHHELD:
        builtin = (name, some("builtin"), some("system"))
        registry.dropFunction(jvm.org.apache.spark.sql.catalyst.FunctionIdentifier(*builtin))


def is_remote() -> bool:
    """Whether the session of this process is one of Spark Connect."""
    return _CONNECT_MODE in os.environ


def _existing() -> Any:
    """The session of this process; None if there is none. Which one is active depends on the
    thread."""
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    context = SparkContext._active_spark_context
    return None if context is None else SparkSession._instantiatedSession or SparkSession(context)


def _adopt(existing: Any, spark_target: SparkTarget) -> Opened:
    """A session of its own, with the configs of an existing one."""
    set_there = existing.conf.getAll
    session = existing.newSession()
    wanted = {**set_there, **dict(spark_target.conf)}
    for key, value in wanted.items():
        if session.conf.isModifiable(key) and session.conf.get(key, None) != value:
            session.conf.set(key, value)
    _complete(session, wanted)
    local = is_local(str(wanted.get("spark.master", "")))
    return Opened(session, local, ends_with_program=False)


def _complete(session: Any, given: Mapping[str, str]) -> None:
    for key, value in SQL.items():
        if key not in given:
            session.conf.set(key, value)


def _launch(spark_target: SparkTarget, folder: Path) -> Opened:
    from pyspark import SparkConf, SparkContext
    from pyspark.java_gateway import launch_gateway
    from pyspark.sql import SparkSession

    os.environ.pop(_CONNECT_MODE, None)  # of a session that ended
    given = spark_target.user_configs()
    local = bool(spark_target.runs_locally())
    ours = local and _JAVA not in given and not is_submitted()
    if not is_submitted():
        java = jvm.spark_java()
        os.environ["JAVA_HOME"] = str(java.resolve().parent.parent)
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        given.setdefault("spark.master", LOCAL)
        given.setdefault(_MEMORY, f"{jvm.heap_mebibytes()}m")
        if ours:
            given[_JAVA] = jvm.options(folder)
    log = open_private(folder / "spark.log", "w")
    try:
        started = SparkConf(loadDefaults=False)
        for key, value in given.items():
            started.set(key, value)
        with _environment(jvm.LOOPBACK if local else {}):
            streams = {"stdin": subprocess.PIPE, "stdout": log, "stderr": subprocess.STDOUT}
            gateway = launch_gateway(started, {**streams, "umask": PRIVATE})
        conf = SparkConf(_jvm=gateway.jvm)  # also what spark-submit and spark-defaults.conf say
        local = is_local(conf.get("spark.master", LOCAL) or LOCAL)
        _fill(conf, dict(spark_target.conf) if is_submitted() else {}, local, folder)
        context = SparkContext(conf=conf, gateway=gateway)
    except Exception as error:
        raise ShellError(
            f"Spark did not start: {jvm.cause_in(folder / 'spark.log') or sentence(error)}",
            hint=jvm.hint(folder / "spark.log"),
            code="spark",
        ) from None
    return Opened(SparkSession(context), local)


def _fill(conf: Any, given: Mapping[str, str], local: bool, folder: Path) -> None:
    """Add what was given to a program that spark-submit started, and our own defaults."""
    for key, value in given.items():
        conf.set(key, value)
    if conf.get(_NAME, "") in ("", "pyspark-shell"):
        conf.set(_NAME, "kafka.sh")
    more = {**LOCAL_CONFIG, "spark.local.dir": f"{folder}/scratch"} if local else {}
    more["spark.sql.warehouse.dir"] = str(folder / "warehouse")
    for key, value in {**CONFIG, **SQL, **more}.items():
        conf.setIfMissing(key, value)


@contextmanager
def _environment(more: Mapping[str, str]) -> Iterator[None]:
    """Start the JVM with these variables that are not set, and keep Spark workers (`python -m`)
    from importing from the current directory."""
    before = dict(os.environ)
    os.environ.update({**more, **before, _SAFE_PATH: "1"})
    try:
        yield
    finally:
        for name in (*more, _SAFE_PATH):
            del os.environ[name]
        os.environ.update(before)


def sentence(error: BaseException) -> str:
    """Return the root cause of a Spark error, without its stack traces."""
    text = str(error).strip() or type(error).__name__
    return jvm.root_cause(text) or text.splitlines()[0][:300]


def _connect(spark_target: SparkTarget) -> Opened:
    _reach(spark_target.remote)
    _no_proxy_for_this_machine()
    os.environ[_CONNECT_MODE] = "1"  # as SparkSession.builder.remote() does
    try:
        from pyspark.sql.connect.session import SparkSession

        session = SparkSession.builder.channelBuilder(channel(spark_target.remote)).create()
        atexit.register(end, session, spark_target.remote)  # the server would keep it for an hour
        for key, value in spark_target.conf:
            session.conf.set(key, value)
        _complete(session, session.conf.getAll)
        return Opened(session, bool(spark_target.server_folder))
    except Exception as error:
        raise ShellError(
            "cannot connect to Spark Connect at"
            f" {_shown(spark_target.remote)}: {str(error).splitlines()[0]}",
            hint="Use --remote sc://host:port.",
            code="spark",
        ) from None


def channel(remote: str) -> Any:
    """Return the channel builder of a URL. On this machine, the client connects to the address that
    servers have: another user may listen on a second address of the name localhost, and would get
    the token."""
    import grpc
    from pyspark.sql.connect.client import DefaultChannelBuilder

    class ToThisMachine(DefaultChannelBuilder):  # type: ignore[misc]
        def toChannel(self) -> Any:  # noqa: N802
            if not self.token:
                return self._insecure_channel(self.endpoint)
            login = grpc.access_token_call_credentials(self.token)
            local = grpc.composite_channel_credentials(grpc.local_channel_credentials(), login)
            return self._secure_channel(self.endpoint, local)

        @property
        def endpoint(self) -> str:
            return f"ipv4:{THIS_MACHINE}:{self._port}"

    remote = normalize_url(remote)
    found = DefaultChannelBuilder(remote)
    if found.use_ssl or found.host not in ("localhost", THIS_MACHINE):
        return found
    return ToThisMachine(remote)


def _no_proxy_for_this_machine() -> None:
    """Keep gRPC from sending requests to this machine to the proxy of the environment."""
    before = os.environ.get(_EXCLUDED) or os.environ.get("no_proxy", "")
    if _NOT_PROXIED not in before:
        os.environ[_EXCLUDED] = f"{before},{_NOT_PROXIED}".lstrip(",")


def end(session: Any, remote: str) -> None:
    """End a session; Spark Connect would try for minutes if its server is gone."""
    if remote:
        try:
            _reach(remote)
        except ShellError:
            session.release_session_on_close = False
    session.stop()


def _shown(remote: str) -> str:
    """The URL without its parameters, of which one may be a token."""
    return remote.partition("/;")[0]


def _reach(remote: str) -> None:
    """Raise ShellError unless the server accepts connections: Spark would retry for minutes."""
    server = urlsplit(remote)
    try:
        if server.scheme != "sc" or not server.hostname:
            raise ValueError("not of the form sc://host:port")
        host = THIS_MACHINE if server.hostname == "localhost" else server.hostname
        address = (host, server.port or _CONNECT_PORT)
        socket.create_connection(address, _CONNECT_S).close()
    except (OSError, ValueError) as error:
        raise ShellError(
            f"cannot connect to Spark Connect at {_shown(remote)}: {error}",
            hint="Use --remote sc://host:port.",
            code="spark",
        ) from None
