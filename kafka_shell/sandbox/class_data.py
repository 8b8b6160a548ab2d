"""Archives of Kafka's classes (Java's class data sharing): brokers start with half the CPU time."""

from __future__ import annotations

import hashlib
import os
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path

from kafka_shell.private import private_folder
from kafka_shell.xdg import xdg_folder

from .jars import Report

ARCHIVE_SECONDS = 120.0


def archive_path(java: Path, class_path: str) -> Path:
    """Return where the archive of this Java and this class path is, or would be.

    An archive is of no use to another build of Java, which may be installed in the same place.
    """
    binary = java.resolve()
    key = f"{binary}\n{binary.stat().st_mtime_ns}\n{class_path}"
    name = hashlib.sha256(key.encode()).hexdigest()[:20]
    return xdg_folder("cache", os.environ) / "class-data" / f"{name}.jsa"


def class_data_arguments(archive: Path, class_list: Path | None = None) -> list[str]:
    """Return the JVM arguments that use the archive; without one, those that list the classes."""
    if archive.exists():
        return [f"-XX:SharedArchiveFile={archive}"]
    return [f"-XX:DumpLoadedClassList={class_list}"] if class_list else []


def make_archive(
    archive: Path, java: Path, class_path: str, class_list: Path, report: Report
) -> None:
    """Make the archive of the listed classes. If that fails, the next start tries it again.

    The archive is moved to its place when it is complete: Java crashes if a part is missing.
    """
    report("Archiving the classes of Kafka for faster starts", 0, None)
    private_folder(archive.parent)
    with tempfile.TemporaryDirectory(dir=archive.parent, prefix="new-") as folder:
        new = Path(folder, archive.name)
        arguments = [
            "-Xshare:dump",
            "-XX:+UseSerialGC",
            f"-XX:SharedClassListFile={class_list}",
            f"-XX:SharedArchiveFile={new}",
        ]
        with suppress(OSError, subprocess.SubprocessError):
            subprocess.run(
                [java, *arguments, "-cp", class_path],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=ARCHIVE_SECONDS,
                check=True,
            )
            new.chmod(0o600)
            new.replace(archive)
