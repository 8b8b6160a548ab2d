"""The prompt: reads lines, runs them, and stays whatever happens to the cluster."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from io import StringIO
from typing import TextIO, cast

from prompt_toolkit.application import run_in_terminal
from prompt_toolkit.document import Document
from prompt_toolkit.filters import Always
from prompt_toolkit.formatted_text import FormattedText, StyleAndTextTuples
from prompt_toolkit.history import InMemoryHistory
from prompt_toolkit.input.typeahead import get_typeahead, store_typeahead
from prompt_toolkit.layout import Dimension
from prompt_toolkit.layout.menus import CompletionsMenuControl
from prompt_toolkit.output.color_depth import ColorDepth
from prompt_toolkit.shortcuts import CompleteStyle, PromptSession, print_formatted_text
from prompt_toolkit.styles import DynamicStyle

from kafka_shell.commands import REGISTRY
from kafka_shell.commands.spark.sources import start_early
from kafka_shell.context import Context
from kafka_shell.crash import report_crash
from kafka_shell.dispatch import is_valid, run_text
from kafka_shell.errors import ShellError, Status
from kafka_shell.language.logical_lines import logical_lines
from kafka_shell.output import theme as themes
from kafka_shell.output.pane import PipeClosed
from kafka_shell.plan.model import Report
from kafka_shell.script import run_file
from kafka_shell.settings import Settings
from kafka_shell.view.cache import TOPICS, Cache

from . import banner, documentation, keys, screen
from .background import Background, Work
from .completer import ShellCompleter
from .history import PrivateHistory
from .lexer import ShellLexer
from .paging import Beside, Paged, terminal_size, typed_ahead
from .styles import cleaned, style_of
from .suggest import Suggest
from .switch_interval import stay_awake


def run(context: Context) -> int:
    """Open the prompt and stay until it is left; the exit status."""
    return Session(context).run()


class Session:
    """One prompt on one terminal. Also what a command may ask of it (`context.ShellControl`)."""

    def __init__(self, context: Context) -> None:
        self._notes: list[str] = list(context.settings.warnings)
        self._usable: dict[str, bool] = {}  # lines, and whether they did not fail
        self._leaving = False
        self._menu_rows = screen.MENU_ROWS
        self._stdout = context.out
        self._paged = Paged(
            context.out, context.environ, lambda: terminal_size(self._stdout), self._pages
        )
        self.context = context = replace(
            context,
            out=cast(TextIO, self._paged),
            err=cast(TextIO, Beside(context.err, self._paged)),
            shell=self,
            ask=self.ask,
            run_line=context.run_line or (lambda text, context: int(run_text(text, context))),
            run_file=context.run_file or run_file,
        )
        self.plain = bool(context.settings.no_color or context.environ.get("NO_COLOR"))
        self._style = style_of(self._theme(context.session.theme), colour=not self.plain)
        self.cache = self._open_cache()
        self.completer = ShellCompleter(lambda: self.cache, REGISTRY, context)
        self._said_unreachable = False
        self.prompt: PromptSession[str] = self._make_prompt()
        self._background = Background(lambda: self._soon(self.prompt.app.invalidate), self._heard)

    # -- the loop ----------------------------------------------------------------------------------

    def run(self) -> int:
        """Read and run lines until Ctrl-D or `exit`."""
        threading.excepthook = self._thread_died
        self._print(banner.lines(self.context.settings, terminal_size(self._stdout)[1]))
        stay_awake()
        try:
            while not self._leaving:
                self._say_notes()
                start, self.context.script.suggested = self.context.script.suggested, ""
                try:
                    text = self.prompt.prompt(default=start)
                except KeyboardInterrupt:
                    continue  # the line was cleared
                except EOFError:
                    break
                self.run_lines(text)
        finally:
            self.cache.close()
        self._say_notes()
        for line in self._background.unfinished:
            self._print([("class:warning", "still under way, to go on: "), ("", line)])
        return int(Status.OK)

    def run_lines(self, text: str) -> Status:
        """Run what was typed or pasted: one line, or several until one fails."""
        lines = [line for _, line in logical_lines(text.split("\n")) if line.strip()]
        status = Status.OK
        for number, line in enumerate(lines):
            if len(lines) > 1:
                self._print([("class:comment", f"› {line}")])
            status = self._run_line(line)
            self._usable[line] = not status
            left = len(lines) - number - 1
            if status and left:
                self._print([("class:warning", f"stopped: {left} more not run")])
            if status or self._leaving:
                break
        return status

    def _may_suggest(self, line: str) -> bool:
        """Whether the line did not fail in this session, and could be read at all."""
        if line not in self._usable:
            self._usable[line] = is_valid(line)
        return self._usable[line]

    def _run_line(self, line: str) -> Status:
        try:
            with self._paged.during():
                status = run_text(line, self.context)
        except KeyboardInterrupt:
            self.context.err.write("interrupted\n")
            status = Status.INTERRUPTED
        except Exception as error:  # a fault of ours must not end the session
            report_crash(error, self.context.paths, self.context.err)
            status = Status.FAILED
        finally:
            clear = getattr(self.context.report, "clear", None)
            if clear is not None:
                clear()
        if status is Status.OK:
            self.cache.retry()
        elif status is Status.UNREACHABLE:
            self.cache.refresh(frozenset({TOPICS}))  # so that the toolbar does not say otherwise
        return status

    def _pages(self) -> bool:
        """Whether a pager may come up: not in front of what was typed for the prompt."""
        if self.context.settings.pager == "off":
            return False
        keyboard = self.prompt.app.input
        early = get_typeahead(keyboard)
        store_typeahead(keyboard, early)
        return not early and not typed_ahead(keyboard.fileno())

    # -- what a command may ask --------------------------------------------------------------------

    def connect(self, settings: Settings) -> None:
        """Work on another cluster from now on."""
        self.context.close()
        self.cache.close()
        self.context.session.cache = None
        if settings is not self.context.settings:
            self.context.session.expected_id = ""
            self._notes += settings.warnings
        self.context.session.settings = settings
        self._said_unreachable = False
        self.cache = self._open_cache()

    def set_theme(self, name: str) -> None:
        """Draw with another theme from now on."""
        self._style = style_of(self._load_theme(name), colour=not self.plain)
        self.context.session.theme = name

    def leave(self) -> None:
        """End the session after this command."""
        self._leaving = True

    def refresh(self, parts: frozenset[str]) -> None:
        """Read these parts of the view again."""
        self.cache.refresh(parts)

    def in_background(self, work: Work, look: str) -> None:
        """Do something long beside the prompt; its last word is said there."""

        def guarded(report: Report) -> str:
            try:
                return work(report)
            except Exception as error:  # a fault of ours must not be silent
                said = StringIO()
                report_crash(error, self.context.paths, said)
                return f"{said.getvalue()}To go on: {look}"

        self._background.start(guarded, look)

    def ask(self, question: str, *, secret: bool = False) -> str:
        """Put a question; Ctrl-C and Ctrl-D are no answer, and so a no."""
        self._paged.direct()
        asking: PromptSession[str] = PromptSession(
            history=InMemoryHistory(), style=DynamicStyle(lambda: self._style)
        )
        try:
            text = FormattedText(cleaned([("class:warning", question)]))
            return asking.prompt(text, is_password=secret)
        except (KeyboardInterrupt, EOFError):
            return ""

    def _thread_died(self, how: threading.ExceptHookArgs) -> None:
        """A fault of ours on another thread is said at the prompt, and not drawn over it."""
        if how.exc_value is not None:
            said = StringIO()
            report_crash(how.exc_value, self.context.paths, said)
            self._heard(said.getvalue().rstrip())

    # -- what the keys ask -------------------------------------------------------------------------

    def help_text(self, document: Document, highlighted: str) -> Callable[[], None]:
        """What shows all about the config key at hand, else help for the command of this line."""
        subject = self.completer.subject(document, highlighted)
        if subject is not None:
            kind, resource, key = subject
            return lambda: self._show(documentation.whole(self.cache.view, kind, resource, key))
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
        """Change between emacs and vi keys."""
        mode = "emacs" if self.context.settings.editing_mode == "vi" else "vi"
        self.context.session.settings = replace(self.context.settings, editing_mode=mode)
        self.prompt.app.editing_mode = keys.editing_mode(mode)

    # -- the view ----------------------------------------------------------------------------------

    def _open_cache(self) -> Cache:
        settings = self.context.settings
        cache = Cache(
            self.context.connection,
            self.context.paths,
            self.context.clock,
            name=settings.cluster_name if settings.profile else "",
        )
        cache.on_swap(self._swapped)
        self.context.session.cache = cache
        return cache

    def _swapped(self) -> None:
        """On the cache's thread: have the prompt's look at what is new."""
        self._soon(self._redraw)

    def _heard(self, word: str) -> None:
        """On a background work's thread: its last word, said now or before the next prompt."""
        self._notes.append(word)
        self._soon(lambda: run_in_terminal(self._say_notes))

    def _soon(self, work: Callable[[], object]) -> None:
        """On another thread: have the prompt's do this, where a prompt waits."""
        app = self.prompt.app
        loop = app.loop
        if loop is not None and app.is_running and app.context is not None:
            with suppress(RuntimeError):  # it has just ended; the next one draws what is new
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
        if failure is not None and not self.cache.view.read_at and not self._said_unreachable:
            self._said_unreachable = True
            run_in_terminal(lambda: self._print(banner.unreachable(failure)))

    # -- the prompt itself -------------------------------------------------------------------------

    def _make_prompt(self) -> PromptSession[str]:
        prompt: PromptSession[str] = PromptSession(
            message=lambda: cleaned(banner.prompt(self.context.settings)),
            multiline=True,
            prompt_continuation=_continuation,
            lexer=ShellLexer(REGISTRY),
            style=DynamicStyle(lambda: self._style),
            include_default_pygments_style=False,
            history=PrivateHistory(
                self.context.paths.history, self._notes.append, lambda: self.cache.view
            ),
            auto_suggest=Suggest(usable=self._may_suggest),
            completer=self.completer,
            complete_while_typing=True,
            complete_style=CompleteStyle.COLUMN,
            enable_open_in_editor=True,
            enable_suspend=True,
            key_bindings=keys.bindings(self),
            bottom_toolbar=self._toolbar,
            color_depth=ColorDepth.DEPTH_1_BIT if self.plain else None,
            editing_mode=keys.editing_mode(self.context.settings.editing_mode),
            mouse_support=False,
        )
        # PromptSession itself never shows more than 16.
        for window in prompt.layout.find_all_windows():
            if isinstance(window.content, CompletionsMenuControl):
                window.height = lambda: Dimension(min=1, max=max(16, self._menu_rows))
        # Not through PromptSession: there it would switch off completion while typing.
        prompt.default_buffer.enable_history_search = Always()
        prompt.default_buffer.on_text_changed += lambda _: self.cache.touch()
        prompt.default_buffer.on_text_changed += lambda buffer: self._typed(buffer.text)
        prompt.app.before_render += lambda _: self._fit()
        prompt.app.after_render += lambda _: self._first_drawn()
        return prompt

    def _typed(self, text: str) -> None:
        """Spark needs seconds to start: it begins with the first word of a line that wants it."""
        if text.startswith("spark ") and start_early(self.context):
            said = "starting Spark in the background"
            run_in_terminal(lambda: self._print([("class:comment", said)]))

    def _first_drawn(self) -> None:
        """The network waits until the prompt is there."""
        if not self.cache.view.read_at and self.cache.state.failure is None:
            self.cache.touch()

    def _fit(self) -> None:
        state = self.prompt.default_buffer.complete_state
        wanted = len(state.completions) if state is not None else 0
        idle = state is None and not self.prompt.default_buffer.text
        self._menu_rows = screen.menu_rows(self.prompt.app.output.get_size().rows, wanted)
        # Rows for a menu that nobody has asked for would scroll the last answer's top away.
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
            under_way=self._background.shown,
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

    def _say_notes(self) -> None:
        self._notes += self.cache.notes()
        while self._notes:  # a background work may add to them meanwhile
            self._print([("class:warning", "note: "), ("", self._notes.pop(0))])

    def _load_theme(self, name: str) -> themes.Theme:
        return themes.load(name or themes.DEFAULT, user=self.context.paths.config / "themes")

    def _theme(self, name: str) -> themes.Theme:
        """The theme, or the default one where it cannot be had; a prompt there must be."""
        try:
            return self._load_theme(name)
        except ShellError as error:
            self._notes.append(error.message)
            self.context.session.theme = themes.DEFAULT
            return self._load_theme("")


def _continuation(width: int, line: int, wrapped: int) -> str:
    """Before the second and later lines; a line that is merely long goes on at the margin."""
    return "" if wrapped else "· ".rjust(width)
