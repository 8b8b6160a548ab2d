"""The jars of a Kafka version: listed in a lock file, downloaded from Maven Central, verified."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from msgspec import Struct

from kafka_shell.base.errors import ShellError, missing_package
from kafka_shell.base.files import private_folder, xdg_folder
from kafka_shell.base.units import Bytes

if TYPE_CHECKING:
    from jgo.maven import MavenContext

Report = Callable[[str, int, int | None], None]
"""Progress: the task, the completed amount, and the total if known."""

CONNECTIONS = 8


class Jar(Struct, frozen=True):
    """A line of a lock file: Maven coordinates, size in bytes and SHA-256."""

    group: str
    artifact: str
    version: str
    size: int
    sha256: str

    @property
    def path(self) -> Path:
        """The path in Maven repositories and in our cache."""
        name = f"{self.artifact}-{self.version}.jar"
        return Path(*self.group.split("."), self.artifact, self.version, name)


def no_report(_task: str, _done: int, _total: int | None) -> None:
    """Ignore progress."""


def locked_versions() -> list[str]:
    """Return the Kafka versions that have a lock file."""
    names = (entry.name for entry in files(__package__).joinpath("locks").iterdir())
    return sorted(name.removesuffix(".lock") for name in names if name.endswith(".lock"))


def locked_jars(version: str) -> list[Jar]:
    """Return the jars of a Kafka version in class path order."""
    return read_lock(files(__package__).joinpath("locks", f"{version}.lock").read_text())


def read_lock(text: str) -> list[Jar]:
    """Parse a lock file: lines of `sha256 size group:artifact:version`, `#` for comments."""
    lines = (line.split() for line in text.splitlines() if not line.startswith("#"))
    named = ((name.split(":"), int(size), sha256) for sha256, size, name in lines)
    return [Jar(group, name, version, size, sha) for (group, name, version), size, sha in named]


def default_cache() -> Path:
    """Return the folder of the jars in the XDG cache folder, shared by all sandboxes."""
    return xdg_folder("cache", os.environ) / "jars"


def fetch(jars: Sequence[Jar], report: Report, cache: Path | None = None) -> list[Path]:
    """Return the verified files of `jars`, downloading those that are not in the cache."""
    cache = cache or default_cache()
    missing = [jar for jar in jars if not (cache / jar.path).exists()]
    if missing:
        _download(missing, cache, report)
    with ThreadPoolExecutor() as pool:
        list(pool.map(lambda jar: _check(jar, cache / jar.path), set(jars) - set(missing)))
    return [cache / jar.path for jar in jars]


def _download(jars: Sequence[Jar], cache: Path, report: Report) -> None:
    """Download jars in parallel. Each is moved into the cache when it is complete and verified."""
    private_folder(cache)
    with (
        tempfile.TemporaryDirectory(dir=cache, prefix="download-") as scratch,
        ThreadPoolExecutor(CONNECTIONS) as pool,
    ):
        context = _maven(Path(scratch), report, sum(jar.size for jar in jars))
        downloads = [pool.submit(_download_one, context, jar, cache) for jar in jars]
        try:
            for download in downloads:
                download.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _download_one(context: MavenContext, jar: Jar, cache: Path) -> None:
    import requests

    try:
        dependency = context.create_dependency(f"{jar.group}:{jar.artifact}:{jar.version}")
        path = dependency.artifact.resolve()
    except (requests.RequestException, RuntimeError) as error:
        raise ShellError(
            f"cannot download {jar.path.name} from Maven Central: {_reason(error)}",
            hint="Check the network and try again. Downloaded jars are kept.",
            code="no-download",
        ) from error
    _check(jar, path)
    private_folder((cache / jar.path).parent)
    path.replace(cache / jar.path)


def _reason(error: BaseException) -> str:
    """Return the innermost cause; requests wraps the useful message several times."""
    while error.__context__ is not None:
        error = error.__context__
    return str(error)


def _check(jar: Jar, path: Path) -> None:
    """Raise ShellError if the checksum of a file is wrong."""
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if digest != jar.sha256:
        raise ShellError(
            f"wrong checksum of {path}: expected SHA-256 {jar.sha256}, got {digest}",
            hint=f"Delete {path} to download it again. If the new file is rejected as well, do not"
            " trust the download.",
            code="wrong-checksum",
        )


def _maven(scratch: Path, report: Report, total: int) -> MavenContext:
    """Return a jgo context that downloads into `scratch` and reports the progress in bytes."""
    try:
        from jgo.maven import MavenContext, PythonResolver
    except ImportError:
        raise missing_package("the sandbox", "jgo", "sandbox") from None
    done = 0
    lock = Lock()

    def add(count: int) -> None:
        nonlocal done
        with lock:
            done += count
            report("Downloading Kafka", Bytes(done), Bytes(total))

    @contextmanager
    def progress(_file: str, _size: int) -> Iterator[Callable[[int], None]]:
        yield add

    return MavenContext(
        repo_cache=scratch, resolver=PythonResolver(progress_callback=progress), timeout=30
    )


def class_path(paths: Iterable[Path]) -> str:
    """Return a Java class path."""
    return os.pathsep.join(map(str, paths))
