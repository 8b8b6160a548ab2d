"""The JVM of a local Spark: options that make a short run fast, and its archive of classes."""

from __future__ import annotations

import hashlib
import os
import re
import time
from pathlib import Path

from kafka_shell.errors import Status
from kafka_shell.java import find_java
from kafka_shell.private import private_folder

_MODULE = "jdk.incubator.vector"  # in every JDK, but not in the Java of the sandbox
_JDK = (
    "Install a JDK 17 or 21, such as Eclipse Temurin or the package openjdk-21-jdk-headless, and"
    " set JAVA_HOME. The Java of the sandbox lacks a module that Spark requires."
)
# Less compilation (whose cache is small by default, and full after two audits), and one thread that
# collects garbage: a small audit is over in seconds.
_SHORT = "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m -XX:+UseSerialGC"
_WRITTEN_S = 30  # it takes a few seconds
_PART = re.compile(r"(classes-\w+\.jsa)\.(\d+)")


def spark_java() -> Path:
    """Return the Java that runs Spark. Raises ShellError (status 2) if there is none."""
    return find_java("Spark", status=Status.WRONG, module=_MODULE, hint=_JDK)


def heap_mebibytes() -> int:
    """Return a quarter of the memory, 1 to 8 GiB. The default of Spark, 1 GiB, is often too
    small."""
    whole = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") >> 20
    return max(1024, min(8192, whole // 4))


def options(java: Path, folder: Path | None) -> str:
    """The options of a JVM for small audits.

    Without `folder`, it has no archive of classes. Otherwise the first JVM writes one there when it
    ends, and later ones start from it: they need not load and verify thousands of classes.
    """
    if folder is None or " " in str(folder):
        return _SHORT
    archive = _archive(java, private_folder(folder))
    if archive.exists():
        return f"{_SHORT} -XX:SharedArchiveFile={archive} -Xlog:cds=off -Xlog:cds+dynamic=off"
    return f"{_SHORT} -XX:ArchiveClassesAtExit={archive}.{os.getpid()} -Xlog:cds=off"


def _archive(java: Path, folder: Path) -> Path:
    """The archive for this Java and this Spark. One that a JVM wrote to its end is put in its
    place; others are removed."""
    import pyspark

    spark = Path(pyspark.__file__)
    made_of = f"{java.resolve()} {java.resolve().stat().st_mtime} {spark} {pyspark.__version__}"
    archive = folder / f"classes-{hashlib.sha256(made_of.encode()).hexdigest()[:12]}.jsa"
    for file in folder.glob("classes-*.jsa*"):
        part = _PART.fullmatch(file.name)
        if part is not None and not _is_written(file, int(part[2])):
            continue
        if part is not None and part[1] == archive.name and not archive.exists():
            file.replace(archive)
        elif file != archive:
            file.unlink(missing_ok=True)
    return archive


def _is_written(file: Path, pid: int) -> bool:
    """Whether the process that started its JVM is gone, and the JVM had the time to write it."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return time.time() - file.stat().st_mtime > _WRITTEN_S
    except PermissionError:
        pass
    return False
