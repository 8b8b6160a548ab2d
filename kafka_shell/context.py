"""What a running command is handed. Each part can be replaced in a test."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TextIO

from kafka_shell.nouns import Report

if TYPE_CHECKING:
    from kafka_shell.admin.connection import Cluster
    from kafka_shell.metadata.cache import Cache
    from kafka_shell.settings import Settings


class Ask(Protocol):
    """Puts a question to a person; the answer. A `secret` one is typed without echo."""

    def __call__(self, question: str, *, secret: bool = False) -> str: ...


@dataclass(frozen=True)
class Paths:
    """Folders of this program, by the XDG rules. Files written there are 0600 in 0700 folders."""

    config: Path
    cache: Path
    state: Path

    @classmethod
    def of(cls, environ: Mapping[str, str]) -> Paths:
        """The XDG folders of this user. KAFKA_SH_HOME puts all three below one folder."""
        home = environ.get("KAFKA_SH_HOME")
        if home:
            root = Path(home)
            return cls(root / "config", root / "cache", root / "state")
        from platformdirs import PlatformDirs

        dirs = PlatformDirs("kafka-sh", appauthor=False)
        return cls(dirs.user_config_path, dirs.user_cache_path, dirs.user_state_path)

    @property
    def config_file(self) -> Path:
        """Where profiles are declared."""
        return self.config / "config.toml"

    @property
    def themes(self) -> Path:
        """Where users keep themes of their own."""
        return self.config / "themes"

    @property
    def journal(self) -> Path:
        """What this program changed."""
        return self.state / "journal.jsonl"

    @property
    def history(self) -> Path:
        """Lines typed at the prompt."""
        return self.state / "history"


class ShellControl(Protocol):
    """What a command may ask of the prompt it was typed at."""

    def connect(self, settings: Settings) -> None:
        """Work on another cluster from now on."""

    def set_theme(self, name: str) -> None:
        """Draw with another theme from now on."""

    def leave(self) -> None:
        """End the session after this command."""

    def refresh(self, parts: frozenset[str]) -> None:
        """Read these parts of the view again (empty: all), off the prompt's thread."""

    def in_background(self, work: Callable[[Report], str], look: str) -> None:
        """Do something long on a thread of its own, and say at the prompt what it returns. `look`
        picks it up where the prompt is left before its end."""


@dataclass
class ScriptState:
    """Where a run of many lines stands. `files` are those being run, outermost first; `left` is
    set by `exit`; `from_stdin` tells that programs must keep their hands off standard input;
    `notes` wait to be said; `suggested` is the line that the next prompt starts with.
    """

    files: list[Path] = field(default_factory=list)
    left: bool = False
    from_stdin: bool = False
    warned: set[str] = field(default_factory=set)
    notes: list[str] = field(default_factory=list)
    suggested: str = ""


@dataclass
class Context:
    """Streams, clock, paths, settings, cluster, progress and questions of one run of the program.

    `ask` puts a question to a person and returns the answer; None where there is no terminal.
    `shell` is the prompt, where there is one. `run_line` runs another line (watch, source).
    `defaults` are options given to the whole program: they hold for each line that does not say
    otherwise. `script` is shared by all lines of one run, and so is `held`: what is costly to
    start and outlives a line (a Spark session).
    """

    settings: Settings
    paths: Paths
    out: TextIO = field(default_factory=lambda: sys.stdout)
    err: TextIO = field(default_factory=lambda: sys.stderr)
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)
    clock: Callable[[], float] = time.time
    ask: Ask | None = None
    report: Report = lambda task, done, total: None
    shell: ShellControl | None = None
    cache: Cache | None = None
    run_line: Callable[[str, Context], int] | None = None
    theme: str = ""
    defaults: Mapping[str, Any] = field(default_factory=dict)
    script: ScriptState = field(default_factory=ScriptState)
    held: dict[str, Any] = field(default_factory=dict)
    _cluster: Cluster | None = None

    @property
    def cluster(self) -> Cluster:
        """The cluster of these settings; nothing is sent before the first request."""
        if self._cluster is None:
            from kafka_shell.admin.connection import Cluster

            self._cluster = Cluster(self.settings.connection)
            self._cluster.on_wait(getattr(self.report, "waiting", None))
        return self._cluster

    def note(self, message: str) -> None:
        """A warning to be said on stderr when the line is done."""
        self.script.notes.append(message)

    def elsewhere(self, settings: Settings) -> Context:
        """The same context on another cluster, for one line."""
        return replace(self, settings=settings, _cluster=None, cache=None)

    def close(self) -> None:
        """Hang up."""
        if self._cluster is not None:
            self._cluster.close()
            self._cluster = None


def private_folder(folder: Path) -> Path:
    """The folder, made 0700 where it is not there yet."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return folder


def open_private(path: Path, mode: str) -> TextIO:
    """Open a file of this program for writing: 0600, in a 0700 folder."""
    private_folder(path.parent)
    flags = os.O_WRONLY | os.O_CREAT | (os.O_APPEND if "a" in mode else os.O_TRUNC)
    file = os.open(path, flags, 0o600)
    return os.fdopen(file, mode, encoding="utf-8")  # type: ignore[return-value]
