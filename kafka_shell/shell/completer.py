"""What is wanted at the cursor -> candidates of the current view. Never waits for the network."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.formatted_text import FormattedText

from kafka_shell.context import Context
from kafka_shell.language.command import Command, Kind
from kafka_shell.language.cursor import Want, Wanted, wanted
from kafka_shell.language.scan import find_command
from kafka_shell.language.tokens import logical_lines, quote, tokenize
from kafka_shell.metadata.cache import FRESH_S, Cache
from kafka_shell.metadata.view import ClusterView
from kafka_shell.nouns import ConfigResource, ResourceType

from . import candidates, places
from .candidates import NONE, Candidate, Candidates
from .subject import subject_of

_CONFIGS = (Kind.CONFIG_KEY, Kind.CONFIG_KEYS, Kind.CONFIG_PAIR, Kind.CONFIG_PAIRS)
_PAIRS = (Kind.CONFIG_PAIR, Kind.CONFIG_PAIRS)
Subject = tuple[ResourceType, ConfigResource | None, str]


class Offer(Completion):
    """A candidate in the menu. `name` is the candidate itself, before quotes."""

    def __init__(self, candidate: Candidate, text: str, start: int) -> None:
        self.name = candidate.text
        self.goes_on = bool(candidate.tail)
        style = f"class:{candidate.role}" if candidate.role else ""
        super().__init__(
            text,
            start_position=start,
            display=candidate.text + candidate.tail,
            display_meta=FormattedText([(style, candidate.about)]) if candidate.about else None,
        )


class ShellCompleter(Completer):
    """Candidates for one prompt. `cache` is asked each time: the shell may have moved elsewhere."""

    def __init__(
        self, cache: Callable[[], Cache], registry: Sequence[Command], context: Context
    ) -> None:
        self._cache = cache
        self._registry = registry
        self._places = places.Places(context)
        self._waiting: tuple[str, int] | None = None

    # -- for prompt_toolkit ------------------------------------------------------------------------

    def get_completions(
        self, document: Document, complete_event: CompleteEvent
    ) -> Iterable[Completion]:
        """The menu, and what else there would be."""
        found = self._wanted(document)
        if not found.prefix and not complete_event.completion_requested and _unasked(found):
            return
        offered = self.candidates(found, document)
        start = found.span[0] - document.cursor_position
        for candidate in offered.offered:
            yield Offer(candidate, _spelled(candidate, found), start)
        if offered.more:
            typed = document.text_before_cursor[len(document.text_before_cursor) + start :]
            yield Completion(typed, start, display=f"… {offered.more:,} more",
                             display_meta="type on")  # fmt: skip

    def waits_for(self, document: Document) -> bool:
        """Whether what was lacking for this very text may have arrived."""
        waiting, self._waiting = self._waiting, None
        return waiting == (document.text, document.cursor_position)

    def subject(self, document: Document, highlighted: str) -> Subject | None:
        """The config key at hand: the highlighted one, else the one that is typed."""
        found = self._wanted(document)
        if found.want is not Want.VALUE or found.kind not in _CONFIGS:
            return None
        view = self._cache().view
        kind, resource = subject_of(found, view)
        known = view.docs(kind)
        for key in (found.key, highlighted, found.prefix):
            if key in known:
                return kind, resource, key
        return None

    def command_at(self, text: str, position: int) -> str:
        """The name of the command that is being typed, or empty."""
        start, line = line_at(text, position)
        command = wanted(line, position - start, self._registry).command
        if command is None:
            command = find_command(tokenize(line).words, self._registry).command
        return command.name if command is not None else ""

    # -- from what is wanted to candidates ---------------------------------------------------------

    def candidates(self, found: Wanted, document: Document) -> Candidates:
        """What the view has for this; a wish for what it lacks."""
        self._waiting = None
        if found.want is Want.COMMAND:
            flags = found.prefix.startswith("-")
            return candidates.commands(self._registry, found.prefix, flags=flags)
        if found.want is Want.OPTION:
            return candidates.options(found.options, found.prefix)
        if found.want is not Want.VALUE or found.kind is None:
            return NONE
        offered = self._of_kind(found, found.kind, document)
        for kind in found.alternatives:
            also = self._of_kind(replace(found, part="", key=""), kind, document)
            offered = Candidates(offered.offered + also.offered, offered.more + also.more)
        return offered

    def _of_kind(self, found: Wanted, kind: Kind, document: Document) -> Candidates:
        view, typed = self._cache().view, found.prefix
        if found.choices:
            return candidates.said(found.choices, typed)
        if kind in _CONFIGS:
            return self._configs(found, view, document)
        if kind in (Kind.TOPIC, Kind.BROKER, Kind.HOST_PORT) and not view.read_at:
            self._wait(document)
        if kind is Kind.TOPIC:
            return candidates.topics(view, typed)
        if kind is Kind.BROKER:
            return candidates.brokers(view, typed)
        if kind is Kind.HOST_PORT:
            return candidates.addresses(view, typed)
        if kind is Kind.COMMAND:
            return candidates.commands(self._registry, typed)
        if kind in candidates.INDEXES:
            return candidates.said(candidates.INDEXES[kind](view), typed)
        return self._places.of_kind(kind, typed)

    def _configs(self, found: Wanted, view: ClusterView, document: Document) -> Candidates:
        kind, resource = subject_of(found, view)
        self._wish(view, kind, resource, document)
        if found.part == "value":
            return candidates.config_values(view, kind, resource, found.key, found.prefix,
                                            grouped=found.kind is Kind.CONFIG_PAIRS)  # fmt: skip
        name = found.argument.name if found.argument else _bare(found)
        return candidates.config_keys(
            view,
            kind,
            resource,
            found.prefix,
            pairs=found.kind in _PAIRS,
            taken=[word.partition("=")[0] for word in found.words.get(name, ())],
            only_overridden=name == "delete-config",
            only_lists=name in ("append", "subtract"),
        )

    def _wish(
        self,
        view: ClusterView,
        kind: ResourceType,
        resource: ConfigResource | None,
        document: Document,
    ) -> None:
        cache = self._cache()
        docs = view.documentation.get(kind)
        if docs is None or not docs.read_at:
            cache.wish(kind)
            self._wait(document)
        if resource is None:
            return
        held = view.configs.get(resource)
        if held is None or held.older_than(FRESH_S, view.read_at):
            self._wait(document)
        cache.wish(resource)

    def _wait(self, document: Document) -> None:
        self._waiting = (document.text, document.cursor_position)

    def _wanted(self, document: Document) -> Wanted:
        return _wanted_at(document.text, document.cursor_position, self._registry)


def line_at(text: str, position: int) -> tuple[int, str]:
    """Where the line that the position is in begins, and the line: several may be pasted."""
    rows = text.split("\n")
    if len(rows) == 1:
        return 0, text
    starts = [0]
    for row in rows:
        starts.append(starts[-1] + len(row) + 1)
    found = 0, text
    for number, line in logical_lines(rows):
        if starts[number - 1] > position:
            break
        found = starts[number - 1], line
    return found


def _wanted_at(text: str, position: int, registry: Sequence[Command]) -> Wanted:
    start, line = line_at(text, position)
    found = wanted(line, position - start, registry)
    return replace(found, span=(found.span[0] + start, found.span[1] + start))


def _unasked(found: Wanted) -> bool:
    """What nobody wants to see before a letter of it is typed, or Tab."""
    return found.want in (Want.COMMAND, Want.OPTION) or found.kind is Kind.FILE


def _bare(found: Wanted) -> str:
    return found.option.name.lstrip("-") if found.option else ""


def _spelled(candidate: Candidate, found: Wanted) -> str:
    """The candidate as it must be typed here: in the quotes that are open, or in its own."""
    if found.want is not Want.VALUE:
        return candidate.text
    if found.quote:
        return candidate.text + (candidate.tail or found.quote)
    return quote(candidate.text) + candidate.tail
