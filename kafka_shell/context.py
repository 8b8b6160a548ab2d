"""The context of a running command: streams, clock, settings, cluster. Tests replace any part."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TextIO

from msgspec import Struct, field

from kafka_shell.base.errors import ShellError, Status, UsageError
from kafka_shell.base.files import require_own, xdg_folder
from kafka_shell.base.plans import Plan, Report
from kafka_shell.base.structs import replace
from kafka_shell.wire.endpoint import Address

if TYPE_CHECKING:
    from kafka_shell.audit.engine import Engine
    from kafka_shell.sandbox.cluster import Attachment
    from kafka_shell.settings import Settings
    from kafka_shell.view.cache import Cache
    from kafka_shell.wire.cluster import Cluster
    from kafka_shell.wire.endpoint import ConnectionConfig


class Ask(Protocol):
    """Asks the user a question and returns the answer. A `secret` is typed without echo."""

    def __call__(self, question: str, *, secret: bool = False) -> str: ...


def confirmed(ask: Ask, question: str) -> bool:
    """Ask a question with the answers y and N; anything but yes is no."""
    return ask(f"{question} [y/N] ").strip().lower() in ("y", "yes")


class Paths(Struct, frozen=True):
    """The XDG folders of kafka.sh. Files are created with mode 0600 in folders with mode 0700."""

    config: Path
    cache: Path
    state: Path

    @classmethod
    def of(cls, environ: Mapping[str, str]) -> Paths:
        """Return the XDG folders of the user, or three folders in KAFKA_SH_HOME if set. Raises
        ShellError if another user can write to them, or to the config file."""
        names, home = ("config", "cache", "state"), environ.get("KAFKA_SH_HOME")
        paths = cls(*(Path(home) / name if home else xdg_folder(name, environ) for name in names))
        for path in (paths.config, paths.cache, paths.state, paths.config_file):
            require_own(path)
        return paths

    @property
    def config_file(self) -> Path:
        """The config file, which contains the profiles."""
        return self.config / "config.toml"

    @property
    def themes(self) -> Path:
        """The folder of the themes of the user."""
        return self.config / "themes"

    @property
    def journal(self) -> Path:
        """The folder of the journal."""
        return self.state / "journal"

    @property
    def reassignments(self) -> Path:
        """The folder of the files of reassignments."""
        return self.state / "reassignments"

    @property
    def cluster_ids(self) -> Path:
        """The file with the last known cluster ID of each profile."""
        return self.state / "cluster-ids.json"

    @property
    def history(self) -> Path:
        """The history file of the prompt."""
        return self.state / "history"


class ShellControl(Protocol):
    """The part of the prompt that commands may use."""

    def connect(self, settings: Settings) -> None:
        """Connect the prompt to another cluster."""

    def set_theme(self, name: str) -> None:
        """Use another theme from now on."""

    def leave(self) -> None:
        """Leave the prompt after this command."""

    def refresh(self, parts: frozenset[str]) -> None:
        """Reload these parts of the cached view (empty: all) in the background."""

    def in_background(self, work: Callable[[Report], str], resume: str, settings: Settings) -> None:
        """Run `work` on the cluster of `settings` in the background and print its result. `resume`
        is the command that resumes it if the prompt is left earlier."""


class Observer(Protocol):
    """Methods that are called with what the commands of a context do."""

    def planned(self, plan: Plan) -> None:
        """A command returned a plan, which is executed next."""

    def returned(self, value: object) -> None:
        """A command ended with this value; that of a plan is its Outcome."""

    def failed(self, error: ShellError) -> None:
        """A command or a whole line failed."""


class FullScreen(Protocol):
    """Shows a view of `top` on the terminal until it is left, and returns the exit status.

    `interval` and `idle` are in seconds: between two measurements, and without a key press before
    measuring pauses.
    """

    def __call__(
        self, view: str, context: Context, *, interval: float, idle: float, plain: bool
    ) -> Status: ...


class ScriptState(Struct):
    """The state of a run of many lines, shared by the contexts of all of them.

    `files` are the running script files, outermost first; `place` is `file:line` of the running
    line, and `told` whether an error of its command was printed; `left` is set by `exit`;
    `from_stdin` is whether standard input is a script, which other programs must not read; `notes`
    are warnings to print after the line; `suggested` is what the next prompt offers; `asks` is
    whether each change asks for confirmation, even with --yes. The lines of a `generated` script
    are plain commands: no pipe, redirect or `!`. `session` identifies the run in the journal.
    """

    files: list[Path] = field(default_factory=list)
    place: str = ""
    told: bool = False
    left: bool = False
    from_stdin: bool = False
    warned: set[str] = field(default_factory=set)
    notes: list[str] = field(default_factory=list)
    suggested: str = ""
    asks: bool = False
    generated: bool = False
    session: str = field(default_factory=lambda: os.urandom(4).hex())

    def tell_place(self) -> str:
        """Return what is printed before an error of the running line."""
        self.told = True
        return f"{self.place}: " if self.place else ""


class ClusterSession(Struct):
    """The settings and the connection of the current cluster, shared by the contexts that use it.

    `connect`, `set` and `theme` change it for the lines that follow. `cache` is the cached view of
    the prompt. `expected_id` is the cluster ID the user confirmed, if any.
    """

    settings: Settings
    theme: str = ""
    cache: Cache | None = None
    expected_id: str = ""
    cluster: Cluster | None = None

    @property
    def known_id(self) -> str:
        """The cluster ID if a broker has reported it; sends no request."""
        if self.cluster is not None and self.cluster.known_id:
            return self.cluster.known_id
        return self.cache.view.cluster_id if self.cache and self.cache.view.read_at else ""

    @property
    def known_brokers(self) -> tuple[Address, ...]:
        """The addresses of the brokers, as far as they are known; sends no request."""
        brokers = self.cluster.known_brokers() if self.cluster is not None else ()
        cached = self.cache.view.brokers.value if self.cache is not None else ()
        return tuple(Address(broker.host, broker.port) for broker in (*brokers, *cached))

    def switch(self, settings: Settings, expected_id: str) -> None:
        """Use another cluster for the lines that follow."""
        self.close()
        self.settings, self.expected_id = settings, expected_id
        self.theme = settings.theme

    def close(self) -> None:
        """Close the connection; the next use opens a new one."""
        if self.cluster is not None:
            self.cluster.close()
            self.cluster = None


class Resources(Struct):
    """What is expensive to start and outlives a line, shared by all contexts of a run.

    `prompt` is the context of a prompt to open after a one-shot command. `ends` is what `close`
    ends.
    """

    spark: Engine | None = None
    sandbox: Attachment | None = None
    prompt: Context | None = None
    ends: ExitStack = field(default_factory=ExitStack)

    def close(self) -> None:
        """End what has to end with the program."""
        self.ends.close()


class Context(Struct, frozen=True):
    """Streams, clock, paths, cluster, progress and questions of one command.

    A context is immutable: a command that needs another output or another cluster gets a new one
    (`structs.replace`, `with_settings`). What changes between lines is in `session`, `script` and
    `resources`, which contexts share.

    `ask` asks the user a question and returns the answer; None without a terminal. `shell` is the
    prompt, if there is one. `run_line` runs another line (watch), `run_file` the lines of a file
    (source). `full_screen` shows a live view (top); None without a screen. `observer` is called
    with what commands do (rehearse). `previous` is what a command that is repeated (watch) keeps
    for its next run, by command; None elsewhere. `defaults` are options of the program that apply
    to every line.
    """

    session: ClusterSession
    paths: Paths
    out: TextIO = field(default_factory=lambda: sys.stdout)
    err: TextIO = field(default_factory=lambda: sys.stderr)
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)
    clock: Callable[[], float] = time.time
    ask: Ask | None = None
    report: Report = lambda task, done, total: None
    shell: ShellControl | None = None
    run_line: Callable[[str, Context], int] | None = None
    run_file: Callable[..., Status] | None = None
    full_screen: FullScreen | None = None
    observer: Observer | None = None
    previous: dict[str, Any] | None = None
    defaults: Mapping[str, Any] = field(default_factory=dict)
    script: ScriptState = field(default_factory=ScriptState)
    resources: Resources = field(default_factory=Resources)

    @property
    def settings(self) -> Settings:
        """The settings of the session."""
        return self.session.settings

    @property
    def cache(self) -> Cache | None:
        """The cached view of the prompt, or None."""
        return self.session.cache

    @property
    def connection(self) -> ConnectionConfig:
        """The connection config of the settings, with the ID of the expected cluster."""
        config = self.settings.connection
        expected = self.session.expected_id or self.session.known_id
        if not expected and not config.cluster_id and self.settings.profile:
            expected = remembered_ids(self.paths).get(self.settings.profile, "")
        return replace(config, cluster_id=config.cluster_id or expected)

    @property
    def cluster(self) -> Cluster:
        """The cluster of the settings. Connects when the first request is sent."""
        session = self.session
        if session.cluster is None:
            from kafka_shell.wire.cluster import Cluster

            session.cluster = Cluster(self.connection)
            session.cluster.on_wait(getattr(self.report, "waiting", None))
        elif session.cache and not session.cluster.known_id and session.cache.view.read_at:
            session.cluster.expect(session.cache.view.cluster_id)
        return session.cluster

    def accept_cluster(self, cluster_id: str) -> None:
        """Use this cluster from now on, although another one had this address before."""
        self.session.expected_id = cluster_id
        self.session.close()
        if self.shell is not None and self.cache is not None:
            self.shell.connect(self.settings)

    def note(self, message: str) -> None:
        """Add a warning to be printed on stderr after the line."""
        self.script.notes.append(message)

    def refuse_dry_run(self, what: str) -> None:
        """Raise UsageError in a dry run: `what` changes files or processes, and has no plan."""
        if self.defaults.get("dry-run"):
            raise UsageError(f"{what} is not allowed under --dry-run", code="dry-run")

    def with_settings(self, settings: Settings) -> Context:
        """Return a context with other settings and a connection of its own, for one line."""
        same = settings.connection.bootstrap == self.settings.connection.bootstrap
        expected = (self.session.expected_id or self.session.known_id) if same else ""
        session = ClusterSession(settings, theme=self.session.theme, expected_id=expected)
        return replace(self, session=session)

    def close(self) -> None:
        """Close the connection of the session."""
        self.session.close()


class OtherClusterPlan(Struct, frozen=True):
    """A plan for another cluster than that of the session: that of `context`."""

    plan: Plan
    context: Context


def remembered_ids(paths: Paths) -> dict[str, str]:
    """Return the last known cluster ID of each profile, by profile name."""
    import json

    try:
        ids = json.loads(paths.cluster_ids.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return {str(name): str(id) for name, id in ids.items()} if type(ids) is dict else {}
