"""JVM options for short runs of Spark."""

from __future__ import annotations

from kafka_shell.audit import jvm
from kafka_shell.common.class_data import archive_folder


def options() -> str:
    """Those of kafka.sh, with the archive of Spark's classes if an earlier Spark made one."""
    archive = jvm.spark_archive(jvm.spark_java(), archive_folder()).find()
    return f"{jvm.SHORT} {jvm.QUIET}" + (f" -XX:SharedArchiveFile={archive}" if archive else "")
