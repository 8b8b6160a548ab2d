"""Keys: Enter, Tab and the arrows as in fish; F1 help, F4 vi; the rest is prompt_toolkit's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from prompt_toolkit.application import get_app, run_in_terminal
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document
from prompt_toolkit.enums import DEFAULT_BUFFER, EditingMode
from prompt_toolkit.filters import Condition, completion_is_selected, has_focus, vi_insert_mode
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.key_binding.bindings.search import start_reverse_incremental_search

from kafka_shell.language.logical_lines import unfinished
from kafka_shell.view.match import common_prefix

from .completer import Offer

_at_prompt = has_focus(DEFAULT_BUFFER)


@Condition
def _menu_is_open() -> bool:
    state = get_app().current_buffer.complete_state
    return state is not None and bool(state.completions)


class Host(Protocol):
    """What the keys need of the session."""

    def help_text(self, document: Document, highlighted: str) -> Callable[[], None]:
        """What shows help for this place of the line; `highlighted` is so in the menu."""

    def toggle_vi(self) -> None:
        """Change between emacs and vi keys."""


def bindings(host: Host) -> KeyBindings:
    """The keys that are ours."""
    keys = KeyBindings()
    keys.add("enter", filter=_at_prompt)(_enter)
    keys.add("tab", filter=_at_prompt)(_tab)
    keys.add("escape", filter=_at_prompt & _menu_is_open, eager=True)(_close_menu)
    keys.add("up", filter=_at_prompt & _menu_is_open & ~completion_is_selected)(_older)
    keys.add("c-r", filter=_at_prompt & vi_insert_mode)(start_reverse_incremental_search)
    keys.add("f4", filter=_at_prompt)(lambda event: host.toggle_vi())

    @keys.add("f1", filter=_at_prompt)
    def _help(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        chosen = buffer.complete_state.current_completion if buffer.complete_state else None
        highlighted = chosen.name if isinstance(chosen, Offer) else ""
        show = host.help_text(buffer.document, highlighted)
        buffer.cancel_completion()
        run_in_terminal(show)

    return keys


def editing_mode(name: str) -> EditingMode:
    """The mode by its name in the settings."""
    return EditingMode.VI if name == "vi" else EditingMode.EMACS


def _enter(event: KeyPressEvent) -> None:
    """Take the highlighted candidate; else run the line, or go on where it is not complete."""
    buffer = event.current_buffer
    state = buffer.complete_state
    if state is not None and state.current_completion is not None:
        _take(buffer)
    elif unfinished(buffer.text) is not None:
        buffer.insert_text("\n")
    else:
        buffer.validate_and_handle()


def _tab(event: KeyPressEvent) -> None:
    """The only candidate; else what all share first, then one candidate after the other."""
    buffer = event.current_buffer
    state = buffer.complete_state
    if state is None:
        asked = CompleteEvent(completion_requested=True)
        found = list(buffer.completer.get_completions(buffer.document, asked))
        if len(found) == 1 and isinstance(found[0], Offer) and found[0].text:
            _complete(buffer, found[0])
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
    """Put the candidate in; what it repeats of the word behind the cursor goes."""
    rest = buffer.document.text_after_cursor.partition(" ")[0]
    buffer.apply_completion(offer)
    if rest and offer.text.endswith(rest):
        buffer.delete(len(rest))
    _after(buffer, offer)


def _shared(buffer: Buffer, offers: list[Offer]) -> str:
    """What the candidates that begin as typed have in common beyond that."""
    before = buffer.document.text_before_cursor
    typed = before[len(before) + offers[0].start_position :]
    begun = [offer.text for offer in offers if offer.text.startswith(typed)]
    return common_prefix(begun)[len(typed) :] if typed else ""


def _take(buffer: Buffer) -> None:
    state = buffer.complete_state
    taken = state.current_completion if state else None
    buffer.complete_state = None
    if isinstance(taken, Offer):
        _after(buffer, taken)


def _after(buffer: Buffer, offer: Offer) -> None:
    """A blank after a word that is complete; more candidates after one that goes on."""
    if offer.goes_on:
        buffer.start_completion(insert_common_part=False)
    elif not buffer.document.text_after_cursor:
        buffer.insert_text(" ")


def _close_menu(event: KeyPressEvent) -> None:
    event.current_buffer.cancel_completion()


def _older(event: KeyPressEvent) -> None:
    """Up is history until one has moved into the menu."""
    buffer = event.current_buffer
    buffer.cancel_completion()
    buffer.auto_up(count=event.arg)
