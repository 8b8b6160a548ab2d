"""The JVM of a local Spark: options that make a short run fast, and the archive of its classes."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path

from kafka_shell.base.errors import ShellError, Status
from kafka_shell.base.files import private_folder
from kafka_shell.base.java import Archive, archive_of, find_java, jvm_options, make_archive
from kafka_shell.base.processes import start_module

_MODULE = "jdk.incubator.vector"  # in every JDK, but not in the Java of the sandbox
_JDK = (
    "Install a JDK 17 or 21, such as Eclipse Temurin or the package openjdk-21-jdk-headless, and"
    " set JAVA_HOME. The Java of the sandbox lacks a module that Spark requires."
)
# Less compilation (whose cache is small by default, and full after two audits), and one thread that
# collects garbage: a small audit is over in seconds.
SHORT = "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m -XX:+UseSerialGC"
QUIET = "-Xlog:cds=off -Xlog:cds+dynamic=off"
LOOPBACK = {"SPARK_LOCAL_IP": "127.0.0.1"}
"""Variables of a local Spark. Without them it resolves the host name of this machine."""
_END_S, _POLL_S, _OLD_S = 60.0, 0.2, 86400


def spark_java() -> Path:
    """Return the Java that runs Spark. Raises ShellError (status 2) if there is none, or no Spark
    in SPARK_HOME."""
    if not Path(spark_class()).is_file():
        raise ShellError(
            f"SPARK_HOME is not the folder of a Spark: {spark_class()} does not exist",
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


def options(java: Path, cache: Path | None, folder: Path) -> str:
    """The options of a JVM for small audits, with the archive of classes in `cache` if there is
    one. Making one costs more than it saves once, so only the second JVM lists its classes for it.
    Crash reports are written to `folder`."""
    if cache is None or " " in f"{cache}{folder}":
        return SHORT
    archive = spark_archive(java, cache)
    started = private_folder(cache) / f"{archive.name}.started"
    class_list = _class_list(cache, os.getpid()) if started.exists() else None
    started.touch(mode=0o600)
    words = jvm_options(archive, folder, class_list)
    return " ".join([SHORT, QUIET, *words])


def archive_later(cache: Path, jvm: int) -> None:
    """Make the archive in the background when the JVM with this process ID has ended, if it was
    started by this process and listed its classes."""
    if _class_list(cache, os.getpid()).exists():
        start_module(
            "kafka_shell.audit.jvm", cache, os.getpid(), jvm,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip


def spark_class() -> str:
    """The program that starts classes of Spark."""
    import pyspark

    return f"{os.environ.get('SPARK_HOME') or Path(pyspark.__file__).parent}/bin/spark-class"


def spark_archive(java: Path, cache: Path) -> Archive:
    """The archive of the classes of this Spark."""
    import pyspark

    return archive_of(cache, "spark", java, spark_class(), pyspark.__version__)


def _class_list(cache: Path, starter: int) -> Path:
    return cache / f"classes-{starter}.list"


def _make(cache: Path, starter: int, jvm: int) -> None:
    """Wait until the JVM has written its list of classes, and make the archive of them."""
    until = time.monotonic() + _END_S
    while _is_running(jvm) and time.monotonic() < until:
        time.sleep(_POLL_S)
    class_list = _class_list(cache, starter)
    java = spark_java()
    os.environ["JAVA_HOME"] = str(java.resolve().parent.parent)
    submit = [spark_class(), "org.apache.spark.deploy.SparkSubmit"]
    try:
        make_archive(
            spark_archive(java, cache),
            class_list,
            # Spark's own class path; the JVM ends before it looks for the class.
            lambda given: [*submit, "--driver-java-options", " ".join(given), "--class", "None",
                           "spark-internal"],
        )  # fmt: skip
    finally:
        for file in cache.glob("classes-*.list"):  # also of programs that were killed
            if file == class_list or time.time() - file.stat().st_mtime > _OLD_S:
                file.unlink(missing_ok=True)


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


if __name__ == "__main__":
    _make(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
