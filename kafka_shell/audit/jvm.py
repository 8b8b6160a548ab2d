"""The JVM of a local Spark, options that make a short run fast, and which Spark an audit uses."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

from msgspec import Struct

from kafka_shell.base.errors import ShellError, Status
from kafka_shell.base.java import find_java

_MODULE = "jdk.incubator.vector"  # in every JDK, but not in the Java of the sandbox
_JDK = (
    "Install a JDK 17 or 21, such as Eclipse Temurin or the package openjdk-21-jdk-headless, and"
    " set JAVA_HOME. The Java of the sandbox lacks a module that Spark requires."
)
# Less compilation (whose cache is small by default, and full after two audits), and one thread that
# collects garbage: a small audit is over in seconds.
SHORT = "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m -XX:+UseSerialGC"
LOOPBACK = {"SPARK_LOCAL_IP": "127.0.0.1"}
"""Variables of a local Spark. Without them it resolves the host name of this machine."""


def spark_java() -> Path:
    """Return the Java that runs Spark. Raises ShellError (status 2) if there is none, or no Spark
    in SPARK_HOME."""
    if not Path(spark_class()).is_file():
        raise ShellError(
            f"SPARK_HOME is not the directory of a Spark: {spark_class()} does not exist",
            hint="Unset SPARK_HOME to use the Spark of the Python package pyspark.",
            code="spark",
            status=Status.WRONG,
        )
    return find_java("Spark", status=Status.WRONG, module=_MODULE, hint=_JDK)


def root_cause(text: str) -> str:
    """The message of the last cause in the stack traces of a text, or empty."""
    trace = r'(?m)^(?:Caused by|Exception in thread "main"):? [\w.$]+: (.+)$'
    causes = re.findall(trace, text) or re.findall(r"(?m)^Error: (.+)$", text)
    return str(causes[-1])[:300] if causes else ""


def cause_in(log: Path) -> str:
    """Why a JVM ended, by its log; empty if that does not tell."""
    try:
        return root_cause(log.read_text("utf-8", "replace"))
    except OSError:
        return ""


def hint(log: Path) -> str:
    """Where to look if Spark does not start."""
    home = os.environ.get("SPARK_HOME")
    return f"See {log}." + (f" SPARK_HOME is {home}." if home else "")


def heap_mebibytes() -> int:
    """Return a quarter of the memory, 1 to 8 GiB. The default of Spark, 1 GiB, is often too
    small."""
    whole = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") >> 20
    return max(1024, min(8192, whole // 4))


def options(folder: Path) -> str:
    """The options of a local JVM. Crash reports are written to `folder`."""
    return SHORT if " " in str(folder) else f"{SHORT} -XX:ErrorFile={folder}/hs_err_pid%p.log"


def spark_class() -> str:
    """The program that starts classes of Spark."""
    import pyspark

    return f"{os.environ.get('SPARK_HOME') or Path(pyspark.__file__).parent}/bin/spark-class"


# -- Which Spark an audit uses: what the user configured, before Spark is started ------------------

LOCAL = "local[*]"
_GATEWAY = "PYSPARK_GATEWAY_PORT"  # set by spark-submit


class SparkTarget(Struct, frozen=True):
    """A master or a Spark Connect server (by default what Spark is configured with, or the local
    cores), and Spark configs. `server_folder` is that of the server of `spark start`, if used."""

    master: str = ""
    remote: str = ""
    conf: tuple[tuple[str, str], ...] = ()
    server_folder: str = ""

    def user_configs(self) -> dict[str, str]:
        """The Spark configs of the user: of spark-defaults.conf, then of the command line."""
        found = {**_defaults(), **dict(self.conf)}
        return found | {"spark.master": self.master} if self.master else found

    def runs_locally(self) -> bool | None:
        """Whether Spark runs on this machine only, as part of this program or of `spark start`;
        None if only the session can tell."""
        if self.remote:
            return bool(self.server_folder)
        if is_submitted():
            return None
        return is_local(self.user_configs().get("spark.master", LOCAL))


def is_local(master: str) -> bool:
    """Whether executors are threads of the driver."""
    return re.fullmatch(r"local(\[.*\])?", master) is not None


def is_submitted() -> bool:
    """Whether spark-submit started this program."""
    return _GATEWAY in os.environ


def _defaults() -> Mapping[str, str]:
    """The configs in spark-defaults.conf."""
    home = os.environ.get("SPARK_HOME") or _home()
    folder = os.environ.get("SPARK_CONF_DIR") or Path(home, "conf")
    try:
        lines = Path(folder, "spark-defaults.conf").read_text(encoding="utf-8").splitlines()
    except OSError:
        return {}
    pairs = (re.match(r"\s*([^#\s=:]+)\s*[\s=:]\s*(.*?)\s*$", line) for line in lines)
    return {pair[1]: pair[2] for pair in pairs if pair is not None}


def _home() -> str:
    """The folder of the installed PySpark, which is not imported for it."""
    spec = find_spec("pyspark")
    return str(Path(spec.origin).parent) if spec is not None and spec.origin else ""
