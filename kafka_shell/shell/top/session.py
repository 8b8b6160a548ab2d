"""The loop of `top`: keys and measurements change the state, and the state is drawn."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from signal import SIGTERM
from threading import Thread
from typing import Any

from prompt_toolkit.application import Application
from prompt_toolkit.filters import Condition
from prompt_toolkit.formatted_text import ANSI, StyleAndTextTuples, to_formatted_text
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.keys import Keys
from prompt_toolkit.layout import FormattedTextControl, Layout, Window
from prompt_toolkit.output.color_depth import ColorDepth

from kafka_shell.base.errors import ShellError, Status
from kafka_shell.base.processes import exiting_on
from kafka_shell.base.structs import replace
from kafka_shell.base.text import literal, positional
from kafka_shell.base.units import format_duration
from kafka_shell.commands.activity.run import Measurement, open_meter
from kafka_shell.commands.activity.spec import GROUPS, TOPICS
from kafka_shell.context import Context
from kafka_shell.output.text import Text
from kafka_shell.output.theme import load_or_default
from kafka_shell.run.watch import run_captured
from kafka_shell.shell.keys import exit_application, reduce_latency
from kafka_shell.shell.screen import cleaned, style_of_output
from kafka_shell.shell.top import state as states
from kafka_shell.shell.top.columns import key_of
from kafka_shell.shell.top.screen import KEYS, Act, Screen, body_rows, draw
from kafka_shell.shell.top.state import Page, TopState

# Measures in a thread of its own, so that a slow cluster never delays a key.

Measure = Callable[[str], Measurement]
Deliver = Callable[[str, Measurement | ShellError | BaseException], None]

_FIRST_S = 1.0
_REST = 0.5  # of the duration of a measurement, before the next one


class Sampler:
    """Calls `measure` every `interval` seconds with the current view, and `deliver` with the view
    and the result, in its thread. Nothing is measured while it is paused."""

    def __init__(self, measure: Measure, interval: float, view: str, deliver: Deliver) -> None:
        self._measure, self._deliver = measure, deliver
        self._interval = interval
        self._view = view
        self._changed = threading.Condition()
        self._paused = self._stopped = False
        self.began = 0.0
        """When the measurement in progress began (monotonic); 0 for none."""
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> None:
        """Start measuring."""
        self._thread.start()

    def stop(self) -> None:
        """Deliver nothing more. Does not wait for the measurement in progress."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()

    def follow(self, view: str, *, paused: bool) -> None:
        """Measure this view from now on, at once if it is another one; or pause."""
        with self._changed:
            if (view, paused) != (self._view, self._paused):
                self._view, self._paused = view, paused
                self._changed.notify_all()

    def _run(self) -> None:
        while (view := self._next()) is not None:
            began = self.began = time.monotonic()
            outcome: Measurement | BaseException
            try:
                outcome = self._measure(view)
            except BaseException as error:  # reported by the thread of the screen
                outcome = error
            self.began = 0.0
            if not self._stopped:
                self._deliver(view, outcome)
            ended = time.monotonic()
            rest = _REST * (ended - began)  # the more a measurement costs, the fewer there are
            self._rest(view, max(began + self._wait_after(outcome), ended + rest))

    def _wait_after(self, outcome: Measurement | BaseException) -> float:
        """The first measurement has no rates, so the second one follows soon."""
        first = isinstance(outcome, Measurement) and not outcome.seconds
        return min(_FIRST_S, self._interval) if first else self._interval

    def _next(self) -> str | None:
        """The view to measure, after a pause; None at the end."""
        with self._changed:
            while self._paused and not self._stopped:
                self._changed.wait()
            return None if self._stopped else self._view

    def _rest(self, view: str, until: float) -> None:
        with self._changed:
            while not self._stopped and not self._paused and self._view == view:
                left = until - time.monotonic()
                if left <= 0:
                    return
                self._changed.wait(left)


_TICK_S = 1.0  # seconds between two checks of the time
_ESCAPE_S = 0.05  # after Esc, for the rest of a key


def run(view: str, context: Context, *, interval: float, idle: float, plain: bool) -> Status:
    """Show the view until it is left. Leaves the terminal as it was."""
    direct = getattr(context.out, "direct", None)
    if direct is not None:
        direct()  # no pager
    if context.shell is None:  # the prompt has done it
        reduce_latency()
    return Session(view, context, interval=interval, idle=idle, plain=plain).run()


class Session:
    """One run of `top` on the terminal."""

    def __init__(
        self, view: str, context: Context, *, interval: float, idle: float, plain: bool
    ) -> None:
        self._context = context
        self._idle = idle
        self._pressed_at = time.monotonic()
        self._crash: BaseException | None = None
        self.state = TopState(view, cluster=context.settings.cluster_name, interval=interval)
        self._meter = open_meter(context, interval)
        self._sampler = Sampler(self._meter.measure, interval, view, self._deliver)
        self._app = self._make_app(plain)

    def run(self) -> Status:
        """Draw and measure until a key ends it. An internal error of a thread is raised here."""
        self._sampler.start()
        try:
            with exiting_on(SIGTERM, leave=exit_application):
                status: Status = self._app.run(pre_run=self._start_clock)
        finally:
            self._sampler.stop()
            self._meter.close()
        if self._crash is not None:
            raise self._crash
        return status

    # -- the screen --------------------------------------------------------------------------------

    def _make_app(self, plain: bool) -> Application[Status]:
        context = self._context
        plain = bool(plain or context.settings.no_color or context.environ.get("NO_COLOR"))
        theme, _ = load_or_default(context.session.theme, user=context.paths.themes)
        control = FormattedTextControl(self._fragments, focusable=True, show_cursor=False)
        app: Application[Status] = Application(
            layout=Layout(Window(control, always_hide_cursor=True, wrap_lines=False)),
            full_screen=True,
            key_bindings=self._bindings(),
            style=style_of_output(theme, color=not plain),
            include_default_pygments_style=False,
            color_depth=ColorDepth.DEPTH_1_BIT if plain else None,
            mouse_support=False,
        )
        app.ttimeoutlen = _ESCAPE_S
        return app

    def _size(self) -> tuple[int, int]:
        size = self._app.output.get_size()
        return size.columns, size.rows

    def _fragments(self) -> StyleAndTextTuples:
        width, height = self._size()
        return _fragments(draw(self.state, width, height, time.monotonic()), width)

    def _start_clock(self) -> None:
        self._app.create_background_task(self._clock())

    async def _clock(self) -> None:
        """Once a second: pause without keys, and show how long a measurement takes."""
        while True:
            await asyncio.sleep(_TICK_S)
            state = self.state
            if not state.paused and time.monotonic() - self._pressed_at > self._idle:
                idle = format_duration(round(self._idle * 1000))
                state = replace(state, paused=f"paused: no key pressed for {idle}")
            self._update(replace(state, began=self._sampler.began))
            if self.state.began:
                self._app.invalidate()  # shows for how long it has been measuring

    # -- keys --------------------------------------------------------------------------------------

    def _bindings(self) -> KeyBindings:
        typing = Condition(lambda: self.state.typing)
        bindings = KeyBindings()
        for key in KEYS:
            for name in key.keys:
                anyway = name in ("c-c", "<sigint>", "c-z")
                bindings.add(name, filter=True if anyway else ~typing, eager=True)(
                    self._handler(key.act)
                )
        filtering: dict[str, Act] = {
            "enter": lambda state, rows: replace(state, typing=False),
            "escape": lambda state, rows: states.close(state),
            "backspace": lambda state, rows: states.erase(state),
            "c-u": lambda state, rows: states.type_filter(replace(state, filter=""), ""),
        }
        for name, act in filtering.items():
            bindings.add(name, filter=typing, eager=True)(self._handler(act))
        bindings.add(Keys.Any, filter=typing)(self._type)
        bindings.add(Keys.BracketedPaste, filter=typing)(self._type)
        bindings.add(Keys.Any, filter=~typing)(self._handler(lambda state, rows: state))
        return bindings

    def _handler(self, act: Act) -> Any:
        def press(event: KeyPressEvent) -> None:
            self._press(act)

        return press

    def _type(self, event: KeyPressEvent) -> None:
        text = "".join(char for char in event.data if char.isprintable())
        self._press(lambda state, rows: states.type_filter(state, text))

    def _press(self, act: Act) -> None:
        self._pressed_at = time.monotonic()
        before = self.state
        if before.paused not in ("", "paused"):  # any key ends an automatic pause
            before = replace(before, paused="")
        state = act(before, body_rows(before, self._size()[1]))
        request = state.request
        self._update(replace(state, request=""))
        if request:
            getattr(self, f"_{request}")()

    def _quit(self) -> None:
        self._app.exit(result=Status.OK)

    def _interrupt(self) -> None:
        self._app.exit(result=Status.INTERRUPTED)

    def _suspend(self) -> None:
        self._app.suspend_to_background()

    # -- what threads deliver ----------------------------------------------------------------------

    def _deliver(self, view: str, outcome: Measurement | BaseException) -> None:
        """Take a measurement. Called in the thread of the sampler."""
        self._schedule(lambda: self._take(view, outcome))

    def _take(self, view: str, outcome: Measurement | BaseException) -> None:
        if isinstance(outcome, Measurement):
            self._update(states.measured(self.state, outcome, time.strftime("%H:%M:%S")))
        elif isinstance(outcome, ShellError):
            if view == self.state.view:
                self._update(replace(self.state, error=outcome.message))
        else:
            self._fail(outcome)

    def _fail(self, error: BaseException) -> None:
        self._crash = error
        self._app.exit(result=Status.FAILED)

    def _schedule(self, work: Any) -> None:
        """Run `work` in the thread of the screen, if it is still there."""
        loop = self._app.loop
        if loop is not None and self._app.is_running:
            with suppress(RuntimeError):  # it has just ended
                loop.call_soon_threadsafe(work)

    def _update(self, state: TopState) -> None:
        """Use and draw this state, and let the sampler follow it."""
        if state == self.state:
            return
        self.state = state
        self._sampler.follow(state.view, paused=bool(state.paused))
        self._app.invalidate()

    # -- describing a row --------------------------------------------------------------------------

    def _describe(self) -> None:
        """Show the description of the selected row as a page."""
        line = _describing(self.state)
        self._update(replace(self.state, page=Page(line, ("reading",))))
        Thread(target=self._read_description, args=(line,), daemon=True).start()

    def _read_description(self, line: str) -> None:
        """Run the command on a connection of its own. In a thread of its own."""
        own = self._context.with_settings(self._context.settings)
        try:
            _, output = run_captured(own, line)
        except BaseException as error:
            failed = error
            self._schedule(lambda: self._fail(failed))
        else:
            self._schedule(lambda: self._show(line, output))
        finally:
            own.close()

    def _show(self, line: str, output: str) -> None:
        page = self.state.page
        if page is not None and page.title == line:  # else it was closed meanwhile
            lines = tuple(output.rstrip("\n").split("\n"))
            self._update(replace(self.state, page=Page(line, lines)))


def _describing(state: TopState) -> str:
    """The command that describes the selected row."""
    name = key_of(state.row)
    if state.view == TOPICS:
        return f"describe-topic {positional('--topic', name)}"
    if state.view == GROUPS:
        return f"describe-group {literal('--group', name)}"
    return f"describe-broker {name}"


def _fragments(screen: Screen, width: int) -> StyleAndTextTuples:
    """The screen for prompt_toolkit."""
    fragments: StyleAndTextTuples = []
    for number, line in enumerate(screen.lines):
        if number:
            fragments.append(("", "\n"))
        if isinstance(line, str):
            fragments += to_formatted_text(ANSI(line))
        elif number == screen.selected:
            fragments.append(("class:selected", line.plain.ljust(width)))
        else:
            fragments += cleaned(_colored(line))
    return fragments


def _colored(line: Text) -> StyleAndTextTuples:
    return [(f"class:{role}" if role else "", part) for role, part in line.parts]
