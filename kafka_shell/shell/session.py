"""The prompt: reads and runs lines, with or without a reachable cluster."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cache
from io import StringIO
from signal import SIGTERM
from threading import Lock, Thread
from time import monotonic
from typing import TextIO, cast

from prompt_toolkit.application import run_in_terminal
from prompt_toolkit.auto_suggest import Suggestion
from prompt_toolkit.document import Document
from prompt_toolkit.filters import Always
from prompt_toolkit.formatted_text import FormattedText, StyleAndTextTuples
from prompt_toolkit.history import InMemoryHistory
from prompt_toolkit.input.typeahead import get_typeahead, store_typeahead
from prompt_toolkit.layout import Dimension
from prompt_toolkit.layout.menus import CompletionsMenuControl
from prompt_toolkit.lexers import PygmentsLexer
from prompt_toolkit.output.color_depth import ColorDepth
from prompt_toolkit.shortcuts import CompleteStyle, PromptSession, print_formatted_text
from prompt_toolkit.styles import DynamicStyle

from kafka_shell.base.errors import ShellError, Status
from kafka_shell.base.plans import Report
from kafka_shell.base.processes import exiting_on
from kafka_shell.base.structs import replace
from kafka_shell.base.units import counted, format_remaining, parse_duration
from kafka_shell.commands import REGISTRY
from kafka_shell.context import Context
from kafka_shell.crash import report_crash
from kafka_shell.language.tokens import logical_lines
from kafka_shell.output import theme as themes
from kafka_shell.output.styled_stream import PipeClosed
from kafka_shell.output.terminal import terminal_size
from kafka_shell.run.dispatch import is_valid, run_text
from kafka_shell.run.script import run_file
from kafka_shell.settings import Settings
from kafka_shell.shell import completer as documentation
from kafka_shell.shell import keys, screen
from kafka_shell.shell.completer import ShellCompleter
from kafka_shell.shell.history import PrivateHistory, Suggest
from kafka_shell.shell.keys import exit_application, reduce_latency
from kafka_shell.shell.lexer import CommandLexer
from kafka_shell.shell.paging import (
    PROMPT_ROWS,
    PagedOutput,
    StderrStream,
    UnpagedReport,
    discard_typed_ahead,
    typed_ahead,
)
from kafka_shell.shell.screen import cleaned, style_of
from kafka_shell.view.cache import FRESH_S, TOPICS, Cache
from kafka_shell.wire.via import SSH_S, open_tunnel


def run(context: Context, about: str = "") -> int:
    """Run the prompt until the user leaves it and return the exit status. `about` is what the
    banner says of the cluster."""
    with exiting_on(SIGTERM, leave=exit_application):
        return Session(context).run(about)


class Session:
    """A prompt on a terminal. Implements `context.ShellControl` for commands."""

    def __init__(self, context: Context) -> None:
        self._notes: list[str] = []
        self._leaving = False
        self._offered = ""
        self._menu_rows = screen.MENU_ROWS
        self._stdout = context.out
        self._paged = PagedOutput(
            context.out, context.environ, self._rows_on_screen, lambda: not self._typed_ahead()
        )
        self._report = UnpagedReport(context.report, self._paged)
        self.context = context = replace(
            context,
            out=cast(TextIO, self._paged),
            err=cast(TextIO, StderrStream(context.err, self._paged)),
            shell=self,
            ask=self.ask,
            report=self._report,
            run_line=context.run_line or (lambda text, context: int(run_text(text, context))),
            run_file=context.run_file or run_file,
        )
        self.plain = bool(context.settings.no_color or context.environ.get("NO_COLOR"))
        self._style = style_of(self._theme(context.session.theme), color=not self.plain)
        self.cache = self._open_cache()
        self.completer = ShellCompleter(lambda: self.cache, REGISTRY, context)
        self._reported_unreachable = False
        self._guard = screen.KnownGuard(context)
        self.prompt: PromptSession[str] = self._make_prompt()
        self._background = Background(
            lambda: self._schedule(self.prompt.app.invalidate), self._task_finished
        )

    # -- the loop ----------------------------------------------------------------------------------

    def run(self, about: str = "") -> int:
        """Read and run lines until Ctrl-D or `exit`."""
        threading.excepthook = self._report_thread_crash
        self._print(screen.lines(self.context.settings, terminal_size(self._stdout)[1], about))
        reduce_latency()
        connection = self.context.settings.connection
        with suppress(ShellError):  # before the prompt reads the terminal; reading the view reports
            open_tunnel(connection, connection.bootstrap[0], SSH_S)
        try:
            while not self._leaving:
                self._print_notes()
                self._offer()
                try:
                    text = self.prompt.prompt(
                        pre_run=self._suggest, refresh_interval=self._refresh_s() / 2
                    )
                except KeyboardInterrupt:
                    continue  # the line was cleared
                except EOFError:
                    break
                self.run_lines(text)
        finally:
            self.cache.close()
        self._print_notes()
        for line in self._background.unfinished:
            self._print([("class:warning", "still running, to resume: "), ("", line)])
        return int(Status.OK)

    def run_lines(self, text: str) -> Status:
        """Run the typed or pasted lines until one fails."""
        lines = [line for _, line in logical_lines(text.split("\n")) if line.strip()]
        status = Status.OK
        for number, line in enumerate(lines):
            if len(lines) > 1:
                self._print([("class:comment", f"› {line}")])
            status = self._run_line(line)
            left = len(lines) - number - 1
            if status and left:
                self._print([("class:warning", f"stopped: {counted(left, 'more line')} not run")])
            if status or self._leaving:
                break
        return status

    def _offer(self) -> None:
        """Offer the command that the last line meant, unless the next line was typed already: an
        Enter that was typed before the offer was shown does not accept it."""
        script = self.context.script
        self._offered, script.suggested = script.suggested, ""
        if self._offered and self._typed_ahead():
            self._offered = ""
        elif self._offered:
            self._print([("class:comment", "Enter runs it, the right arrow edits it.")])

    def _suggest(self) -> None:
        """Suggest the offered command in gray. In the line itself, other words would be appended
        to it."""
        if self._offered:
            self.prompt.default_buffer.suggestion = Suggestion(self._offered)

    def _run_line(self, line: str) -> Status:
        self.context.script.asks = bool(self._offered) and line == self._offered
        at_end = self.completer.command_at(line, len(line)) in ("history", "journal")
        try:
            with self._paged.during(at_end=at_end):
                status = run_text(line, self.context)
        except KeyboardInterrupt:
            self.context.err.write("interrupted\n")
            status = Status.INTERRUPTED
        except Exception as error:  # an internal error must not end the session
            report_crash(error, self.context.paths, self.context.err)
            status = Status.FAILED
        finally:
            getattr(self._report, "clear", lambda: None)()
        if status is Status.OK:
            self.cache.retry()
        elif status is Status.UNREACHABLE:
            self.cache.refresh(frozenset({TOPICS}))  # updates the toolbar
        return status

    def _typed_ahead(self) -> bool:
        """Return whether the user has already typed the next line: no pager may take it."""
        keyboard = self.prompt.app.input
        early = get_typeahead(keyboard)
        store_typeahead(keyboard, early)
        return bool(early) or typed_ahead(keyboard.fileno())

    def _rows_on_screen(self) -> int:
        """Return the number of rows that are printed without a pager."""
        screens = self.context.settings.pager
        rows = terminal_size(self._stdout)[0]
        return sys.maxsize if screens == "off" else int(screens) * rows - PROMPT_ROWS

    # -- ShellControl ------------------------------------------------------------------------------

    def connect(self, settings: Settings) -> None:
        """Connect to another cluster."""
        session, old = self.context.session, self.cache
        session.close()
        session.cache = None
        if settings is not session.settings:
            session.expected_id = ""
            self._notes += (*settings.warnings, *settings.file_warnings)
            session.theme = settings.theme
            self._style = style_of(self._theme(settings.theme), color=not self.plain)
        session.settings = settings
        self._reported_unreachable = False
        self.cache = self._open_cache()
        old.close()  # it waits for its thread: Ctrl-C meanwhile must not leave a closed cache

    def set_theme(self, name: str) -> None:
        """Use another theme."""
        theme = themes.load(name, user=self.context.paths.themes)
        self._style = style_of(theme, color=not self.plain)
        self.context.session.theme = name

    def leave(self) -> None:
        """Leave the prompt after this command."""
        self._leaving = True

    def refresh(self, parts: frozenset[str]) -> None:
        """Reload these parts of the cached view."""
        self.cache.refresh(parts)

    def in_background(self, work: Work, resume: str, settings: Settings) -> None:
        """Run a task on a cluster in the background and print its result."""
        cluster = settings.cluster_name

        def guarded(report: Report) -> str:
            try:
                result = work(report)
            except Exception as error:  # an internal error must be reported
                message = StringIO()
                report_crash(error, self.context.paths, message)
                return f"{message.getvalue()}To resume: {resume}"
            return named(cluster, self.context.settings.cluster_name, result)

        self._background.start(guarded, resume, cluster)

    def ask(self, question: str, *, secret: bool = False) -> str:
        """Ask a question. Ctrl-D returns an empty answer, and Ctrl-C ends the line. What was typed
        before the question was shown is not an answer to it."""
        self._paged.before_question()
        discard_typed_ahead(self.prompt.app.input)
        asking: PromptSession[str] = PromptSession(
            history=InMemoryHistory(), style=DynamicStyle(lambda: self._style)
        )
        try:
            text = FormattedText(cleaned([("class:warning", question)]))
            return asking.prompt(text, is_password=secret)
        except EOFError:
            return ""
        except KeyboardInterrupt:
            self.context.err.write("no changes made\n")
            raise

    def _report_thread_crash(self, crash: threading.ExceptHookArgs) -> None:
        """Report an internal error of another thread above the prompt."""
        if crash.exc_value is not None:
            message = StringIO()
            report_crash(crash.exc_value, self.context.paths, message)
            self._task_finished(message.getvalue().rstrip())

    # -- key bindings ------------------------------------------------------------------------------

    def help_text(self, document: Document, highlighted: str) -> Callable[[], None]:
        """Return a function that shows the full documentation of a config key, or command help."""
        subject = self.completer.subject(document, highlighted)
        if subject is not None:
            kind, resource, key = subject
            return lambda: self._show(documentation.full_text(self.cache.view, kind, resource, key))
        name = self.completer.command_at(document.text, document.cursor_position)

        def show() -> None:
            self._run_line(f"help {name}" if name else "help")

        return show

    def _show(self, lines: Callable[[int], Iterable[str]]) -> None:
        columns = terminal_size(self._stdout)[1]
        with suppress(PipeClosed, KeyboardInterrupt), self._paged.during():
            for line in lines(columns):
                self.context.out.write(f"{line}\n")

    def toggle_vi(self) -> None:
        """Switch between emacs and vi keys."""
        mode = "emacs" if self.context.settings.editing_mode == "vi" else "vi"
        self.context.session.settings = replace(self.context.settings, editing_mode=mode)

    # -- the view ----------------------------------------------------------------------------------

    def _open_cache(self) -> Cache:
        settings = self.context.settings
        cache = Cache(
            self.context.connection,
            self.context.paths.cache,
            self.context.clock,
            name=settings.cluster_name,
            properties=settings.properties,
        )
        cache.on_swap(lambda: self._schedule(self._redraw))
        self.context.session.cache = cache
        return cache

    def _task_finished(self, result: str) -> None:
        """Print the result of a background task. Called in the thread of the task."""
        self._notes.append(result)
        self._schedule(lambda: run_in_terminal(self._print_notes))

    def _schedule(self, work: Callable[[], object]) -> None:
        """Run `work` in the thread of the prompt, if it is waiting for input."""
        app = self.prompt.app
        loop = app.loop
        if loop is not None and app.is_running and app.context is not None:
            with suppress(RuntimeError):  # this prompt has just ended
                loop.call_soon_threadsafe(work, context=app.context.copy())

    def _redraw(self) -> None:
        buffer = self.prompt.default_buffer
        state = buffer.complete_state
        if self.completer.waits_for(state.original_document if state else buffer.document):
            if state is None:
                buffer.start_completion(select_first=False)
            else:
                self.completer.renew(state)
        self.prompt.app.invalidate()
        failure = self.cache.state.failure
        if failure is not None and not self.cache.view.read_at and not self._reported_unreachable:
            self._reported_unreachable = True
            run_in_terminal(lambda: self._print(screen.unreachable(failure)))

    # -- the prompt itself -------------------------------------------------------------------------

    def _make_prompt(self) -> PromptSession[str]:
        prompt: PromptSession[str] = PromptSession(
            message=lambda: cleaned(screen.prompt(self.context.settings, self._guard())),
            multiline=True,
            prompt_continuation=screen.continuation,
            lexer=PygmentsLexer(CommandLexer),
            style=DynamicStyle(lambda: self._style),
            include_default_pygments_style=False,
            history=PrivateHistory(
                self.context.paths.history, self._notes.append, lambda: self.cache.view
            ),
            auto_suggest=Suggest(usable=cache(is_valid)),
            completer=self.completer,
            complete_while_typing=True,
            complete_style=CompleteStyle.COLUMN,
            enable_open_in_editor=True,
            enable_suspend=True,
            key_bindings=keys.bindings(self.help_text, self.toggle_vi),
            bottom_toolbar=self._toolbar,
            color_depth=ColorDepth.DEPTH_1_BIT if self.plain else None,
            editing_mode=keys.editing_mode(self.context.settings.editing_mode),
            mouse_support=False,
        )
        # The default height is at most 16.
        for window in prompt.layout.find_all_windows():
            if isinstance(window.content, CompletionsMenuControl):
                window.height = lambda: Dimension(min=1, max=max(16, self._menu_rows))
        # As an option of PromptSession it would disable completion while typing.
        prompt.default_buffer.enable_history_search = Always()
        prompt.default_buffer.on_text_changed += lambda _: self.cache.touch()
        # Not on_text_changed: browsing the history changes the text, too.
        prompt.default_buffer.on_text_insert += lambda buffer: self._typed(buffer.text)
        prompt.app.before_render += lambda _: self._fit()
        prompt.app.after_render += lambda _: self._drawn()
        return prompt

    def _typed(self, text: str) -> None:
        """Start Spark, which takes seconds, when a line starts with `spark`."""
        if text.startswith("spark "):
            try:
                from kafka_shell.commands.spark.sources import start_early

                started = start_early(self.context)
            except ShellError:  # the command says what is missing
                return
            if started:
                message = "starting Spark in the background"
                run_in_terminal(lambda: self._print([("class:comment", message)]))

    def _drawn(self) -> None:
        """Read the cluster after the prompt was drawn, and again each time the view is older than
        `set refresh`."""
        seconds = self._refresh_s()
        if seconds or (not self.cache.view.read_at and self.cache.state.failure is None):
            self.cache.touch(seconds or FRESH_S)

    def _refresh_s(self) -> float:
        """Return the seconds of `set refresh`; 0 for off."""
        refresh = self.context.settings.refresh
        return 0 if refresh == "off" else parse_duration(refresh) / 1000

    def _fit(self) -> None:
        state = self.prompt.default_buffer.complete_state
        wanted = len(state.completions) if state is not None else 0
        idle = state is None and not self.prompt.default_buffer.text
        self._menu_rows = screen.menu_rows(self.prompt.app.output.get_size().rows, wanted)
        # Reserving rows for a closed menu would scroll output off the screen.
        self.prompt.reserve_space_for_menu = 0 if idle else self._menu_rows
        self.prompt.app.editing_mode = keys.editing_mode(self.context.settings.editing_mode)

    def _toolbar(self) -> StyleAndTextTuples:
        size = self.prompt.app.output.get_size()
        fragments = screen.bottom(
            self.cache,
            self.context.settings,
            self.completer,
            self.prompt.default_buffer,
            rows=size.rows,
            columns=size.columns,
            guard=self._guard(),
            progress=self._background.shown(self.context.settings.cluster_name),
        )
        return cleaned(fragments)

    # -- printing ----------------------------------------------------------------------------------

    def _print(self, fragments: StyleAndTextTuples) -> None:
        print_formatted_text(
            FormattedText(cleaned(fragments)),
            style=self._style,
            include_default_pygments_style=False,
            file=self._stdout,
            color_depth=ColorDepth.DEPTH_1_BIT if self.plain else None,
        )

    def _print_notes(self) -> None:
        self._notes += self.cache.notes()
        while self._notes:  # background tasks may add notes
            self._print([("class:warning", "note: "), ("", self._notes.pop(0))])

    def _theme(self, name: str) -> themes.Theme:
        """Return the theme, or the default theme if it cannot be loaded."""
        theme, error = themes.load_or_default(name, user=self.context.paths.themes)
        if error is not None:
            self._notes.append(error.message)
            self.context.session.theme = themes.DEFAULT
        return theme


# -- Background tasks of the prompt: changes that are followed to their end ------------------------

Work = Callable[[Report], str]


class Background:
    """Runs tasks in threads. A task must not raise exceptions.

    `changed` is called when the progress changes, `finished` with the result of a task, both in the
    thread of the task. Tasks end with the process.
    """

    def __init__(self, changed: Callable[[], None], finished: Callable[[str], None]) -> None:
        self._changed, self._finished = changed, finished
        self._lock = Lock()
        self._progress: dict[int, str] = {}
        self._clusters: dict[int, str] = {}
        self._resume: dict[int, str] = {}

    def start(self, work: Work, resume: str, cluster: str) -> None:
        """Start a task on this cluster. `resume` is the command that continues it in another
        session."""
        with self._lock:
            number = len(self._clusters) + 1
            self._resume[number], self._clusters[number] = resume, cluster
        Thread(target=self._run, args=(number, work), daemon=True).start()

    def shown(self, current: str) -> str:
        """The progress of all tasks: `Moving 3 partitions 45%, 20s left`; empty without tasks.
        Those on another cluster than the current one have its name."""
        with self._lock:
            return ", ".join(
                named(self._clusters[number], current, progress)
                for number, progress in self._progress.items()
            )

    @property
    def unfinished(self) -> tuple[str, ...]:
        """The commands that resume unfinished tasks."""
        with self._lock:
            return tuple(dict.fromkeys(self._resume.values()))

    def _run(self, number: int, work: Work) -> None:
        began: dict[str, float] = {}

        def report(task: str, done: int, total: int | None) -> None:
            elapsed = monotonic() - began.setdefault(task, monotonic())
            with self._lock:
                before = self._progress.pop(number, "")
                # At the end, whether it succeeded is not known yet: it may have been cancelled.
                now = "" if total and done >= total else task + _percentage(done, total, elapsed)
                if now:
                    self._progress[number] = now
            if now != before:
                self._changed()

        try:
            result = work(report)
        finally:
            with self._lock:
                self._progress.pop(number, None)
                self._resume.pop(number, None)
        self._finished(result)


def named(cluster: str, current: str, text: str) -> str:
    """Return the text about a task, with the name of its cluster if that is not the current one."""
    return text if cluster == current else f"{cluster}: {text}"


def _percentage(done: int, total: int | None, elapsed: float) -> str:
    if not total:
        return ""
    left = format_remaining(done, total, elapsed)
    return f" {100 * done // total}%" + (f", {left}" if left else "")
