"""Key bindings: Enter, Tab and arrows as in fish, F1 for help, F4 for vi mode."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable

from prompt_toolkit.application import get_app, run_in_terminal
from prompt_toolkit.application.current import get_app_or_none
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document
from prompt_toolkit.enums import DEFAULT_BUFFER, EditingMode
from prompt_toolkit.filters import Condition, completion_is_selected, has_focus, vi_insert_mode
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.key_binding.bindings.search import start_reverse_incremental_search

from kafka_shell.base.text import common_prefix
from kafka_shell.language.tokens import incomplete_part
from kafka_shell.shell.completer import Offer

_at_prompt = has_focus(DEFAULT_BUFFER)


@Condition
def _menu_is_open() -> bool:
    state = get_app().current_buffer.complete_state
    return state is not None and bool(state.completions)


def bindings(
    help_text: Callable[[Document, str], Callable[[], None]], toggle_vi: Callable[[], None]
) -> KeyBindings:
    """Return the key bindings of kafka.sh. `help_text` returns a function that shows help for the
    cursor position or the highlighted candidate."""
    keys = KeyBindings()
    keys.add("enter", filter=_at_prompt)(_enter)
    keys.add("tab", filter=_at_prompt)(_tab)
    keys.add("escape", filter=_at_prompt & _menu_is_open, eager=True)(_close_menu)
    keys.add("up", filter=_at_prompt & _menu_is_open & ~completion_is_selected)(_older)
    keys.add("c-r", filter=_at_prompt & vi_insert_mode)(start_reverse_incremental_search)
    keys.add("f4", filter=_at_prompt)(lambda event: toggle_vi())

    @keys.add("f1", filter=_at_prompt)
    def _help(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        chosen = buffer.complete_state.current_completion if buffer.complete_state else None
        highlighted = chosen.name if isinstance(chosen, Offer) else ""
        show = help_text(buffer.document, highlighted)
        buffer.cancel_completion()
        run_in_terminal(show)

    return keys


def editing_mode(name: str) -> EditingMode:
    """Return the editing mode of a setting."""
    return EditingMode.VI if name == "vi" else EditingMode.EMACS


def _enter(event: KeyPressEvent) -> None:
    """Accept the highlighted candidate, run the line or the offered one, or continue an incomplete
    line."""
    buffer = event.current_buffer
    state = buffer.complete_state
    if not buffer.text and buffer.suggestion:
        buffer.insert_text(buffer.suggestion.text)
    if state is not None and state.current_completion is not None:
        _accept(buffer)
    elif incomplete_part(buffer.text) is not None:
        buffer.insert_text("\n")
    else:
        buffer.validate_and_handle()


def _tab(event: KeyPressEvent) -> None:
    """Insert the only candidate or the common prefix, then cycle through the candidates."""
    buffer = event.current_buffer
    state = buffer.complete_state
    if state is None:
        tab = CompleteEvent(completion_requested=True)
        completions = list(buffer.completer.get_completions(buffer.document, tab))
        if len(completions) == 1 and isinstance(completions[0], Offer) and completions[0].text:
            _complete(buffer, completions[0])
        else:
            buffer.start_completion(insert_common_part=False)
        return
    offers = [offer for offer in state.completions if isinstance(offer, Offer) and offer.text]
    if state.complete_index is not None or not offers:
        buffer.complete_next()
    elif len(offers) == 1:
        _complete(buffer, offers[0])
    elif shared := _shared(buffer, offers):
        buffer.insert_text(shared)
        buffer.start_completion(insert_common_part=False)
    else:
        buffer.complete_next()


def _complete(buffer: Buffer, offer: Offer) -> None:
    """Insert the candidate."""
    buffer.cancel_completion()
    buffer.delete_before_cursor(-offer.start_position)
    # As if not typed: a menu of further words would cover the screen of a line that is complete.
    buffer.insert_text(offer.text, fire_event=False)
    _after(buffer, offer)


def _shared(buffer: Buffer, offers: list[Offer]) -> str:
    """Return the common prefix of the candidates after the typed text."""
    before = buffer.document.text_before_cursor
    typed = before[len(before) + offers[0].start_position :]
    begun = [offer.text for offer in offers if offer.text.startswith(typed)]
    return common_prefix(begun)[len(typed) :] if typed else ""


def _accept(buffer: Buffer) -> None:
    state = buffer.complete_state
    taken = state.current_completion if state else None
    buffer.complete_state = None
    if isinstance(taken, Offer):
        _after(buffer, taken)


def _after(buffer: Buffer, offer: Offer) -> None:
    """Do not repeat the rest of the word after the cursor. Add a space after a complete word, or
    show the candidates that continue it."""
    buffer.delete(_repeated(offer.text, buffer.document.text_after_cursor))
    if offer.continues:
        buffer.start_completion(insert_common_part=False)
    elif not buffer.document.text_after_cursor:
        buffer.insert_text(" ", fire_event=False)


def _repeated(inserted: str, after: str) -> int:
    """Return the length of the rest of a word that is also the end of the inserted text."""
    lengths = range(min(len(inserted), len(after)), 0, -1)
    return next(
        (n for n in lengths if inserted.endswith(after[:n]) and not after[n : n + 1].strip()), 0
    )


def _close_menu(event: KeyPressEvent) -> None:
    event.current_buffer.cancel_completion()


def _older(event: KeyPressEvent) -> None:
    """Browse the history unless a candidate is selected."""
    buffer = event.current_buffer
    buffer.cancel_completion()
    buffer.auto_up(count=event.arg)


# End the program while prompt_toolkit has the terminal.


def exit_application(status: int) -> None:
    """Raise SystemExit in what is running: the prompt, a question or `top`, or else here."""
    app = get_app_or_none()
    if app is None or app.loop is None or not app.is_running:
        sys.exit(status)
    error = SystemExit(status)
    app.loop.call_soon_threadsafe(lambda: app.exit(exception=error))


# Keep the prompt responsive while another thread reads the cluster.

_SWITCH_S = 0.001
_GC_THRESHOLD = 20_000  # collections of a few milliseconds


def reduce_latency() -> None:
    """Set the thread switch interval to 1 ms, and keep garbage collections short: imported modules
    are excluded from them."""
    sys.setswitchinterval(_SWITCH_S)
    gc.set_threshold(_GC_THRESHOLD)
    gc.freeze()
