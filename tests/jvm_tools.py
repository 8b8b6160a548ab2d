"""Kafka's own command line tools, to compare ours with."""

from __future__ import annotations

import subprocess
from pathlib import Path

from kafka_shell.sandbox.jars import class_path, fetch, locked_jars, read_lock
from kafka_shell.sandbox.java import find_java

LOCK = Path(__file__).parent / "locks" / "kafka-tools-4.3.1.lock"
JVM = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-XX:-UsePerfData", "-Dlog4j2.level=OFF")


def tool_command(main_class: str, *arguments: str) -> list[str]:
    """The command line of a tool, by its main class: `org.apache.kafka.tools.TopicCommand` say."""
    jars = fetch(read_lock(LOCK.read_text()), report=lambda *_: None)
    return [str(find_java()), *JVM, "-cp", class_path(jars), main_class, *arguments]


def config_command(*arguments: str) -> list[str]:
    """The command line of kafka-configs.sh, which comes with the broker."""
    jars = class_path(fetch(locked_jars("4.3.1"), report=lambda *_: None))
    return [str(find_java()), *JVM, "-cp", jars, "kafka.admin.ConfigCommand", *arguments]


def run_tool(
    main_class: str, *arguments: str, timeout: float = 60, stdin: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run a tool's main class to its end."""
    return subprocess.run(
        tool_command(main_class, *arguments),
        input=stdin, capture_output=True, text=True, timeout=timeout, check=False,
    )  # fmt: skip
