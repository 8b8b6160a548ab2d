"""What is wanted at the cursor -> candidates of the current view. Never waits for the network."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from prompt_toolkit.buffer import CompletionState
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.formatted_text import FormattedText

from kafka_shell.admin.configs.model import ConfigResource, ResourceType
from kafka_shell.characters import escape
from kafka_shell.context import Context
from kafka_shell.language.command import Kind
from kafka_shell.language.cursor import LONGEST, Want, Wanted, wanted
from kafka_shell.language.logical_lines import logical_lines
from kafka_shell.language.registry import Registry
from kafka_shell.language.scan import find_command
from kafka_shell.language.selectors import is_pattern, select
from kafka_shell.language.tokens import part_at
from kafka_shell.plan.look import hint_of
from kafka_shell.quoting import quote
from kafka_shell.view.cache import FRESH_S, Cache
from kafka_shell.view.candidates import Candidate
from kafka_shell.view.view import ClusterView

from .offers import CONFIGS, documented, is_about_quotas, offers, part_of
from .places import Places
from .subject import group_of, subject_of

PREVIEWED = 5_000  # among more names a glob is not tried while it is being typed
_NAMES = (Kind.TOPIC, Kind.TOPIC_PARTITIONS, Kind.BROKER, Kind.HOST_PORT)
Subject = tuple[ResourceType, ConfigResource | None, str]


class Offer(Completion):
    """A candidate in the menu. `name` is the candidate itself, before quotes."""

    def __init__(self, candidate: Candidate, text: str, start: int) -> None:
        self.name = candidate.text
        self.goes_on = bool(candidate.tail)
        style = f"class:{candidate.role}" if candidate.role else ""
        about = escape(candidate.about)
        super().__init__(
            text,
            start_position=start,
            display=escape(candidate.text + candidate.tail),
            display_meta=FormattedText([(style, about)]) if about else None,
        )


class ShellCompleter(Completer):
    """Candidates for one prompt. `cache` is asked each time: the shell may have moved elsewhere."""

    def __init__(self, cache: Callable[[], Cache], registry: Registry, context: Context) -> None:
        self._cache = cache
        self._registry = registry
        self._places = Places(context)
        self._waiting: tuple[str, int] | None = None

    # -- for prompt_toolkit ------------------------------------------------------------------------

    def get_completions(
        self, document: Document, complete_event: CompleteEvent
    ) -> Iterable[Completion]:
        """The menu, and what else there would be."""
        found = self._wanted(document)
        view = self._cache().view
        self._wish(found, view, document)
        if not found.prefix and not complete_event.completion_requested and _unasked(found):
            return
        offered = offers(found, view, self._registry, self._places)
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

    def renew(self, state: CompletionState) -> None:
        """Put what is known now into an open menu; what is highlighted stays so."""
        asked = CompleteEvent(completion_requested=True)
        found = list(self.get_completions(state.original_document, asked))
        chosen = state.current_completion
        places = [n for n, each in enumerate(found) if chosen and each.text == chosen.text]
        if places or (found and chosen is None):
            state.completions = found
            state.complete_index = places[0] if places else None

    def subject(self, document: Document, highlighted: str) -> Subject | None:
        """The config key at hand: the highlighted one, else the one that is typed."""
        found = self._wanted(document)
        if found.want is not Want.VALUE or found.kind not in CONFIGS:
            return None
        if is_about_quotas(found):
            return None
        view = self._cache().view
        kind, resource = subject_of(found, view)
        known = view.docs(kind)
        for key in (found.key, highlighted, found.prefix):
            if key in known:
                return kind, resource, key
        return None

    def known(self, document: Document, highlighted: str) -> tuple[str, str, str] | None:
        """Key, heading and text of a quota or a client's config at hand: no broker documents it."""
        found = self._wanted(document)
        if found.want is not Want.VALUE:
            return None
        for key in (found.key, highlighted, found.prefix):
            about = documented(found, key, self._cache().view)
            if about is not None:
                return (key, *about)
        return None

    def preview(self, document: Document) -> str:
        """What the glob under the cursor selects, so that nobody is surprised: `3 topics: a, b, c`;
        or why there are no names to offer.

        Regular expressions are left out: one can take longer than a keystroke may.
        """
        found = self._wanted(document)
        part = part_of(found) if found.want is Want.VALUE else ""
        if part:
            return _lacking(part, self._cache().view)
        names = self._cache().view.topics.value.names
        glob = found.prefix
        if found.kind is not Kind.TOPIC or not is_pattern(glob) or "/" in glob:
            return ""
        if len(names) > PREVIEWED:
            return ""
        chosen = select([glob], names).names
        some = ", ".join(chosen[:20])
        return f"{len(chosen):,} topic{'' if len(chosen) == 1 else 's'}: {some}".rstrip(": ")

    def command_at(self, text: str, position: int) -> str:
        """The name of the command that is being typed, or empty."""
        start, line = line_at(text, position)
        command = wanted(line, position - start, self._registry).command
        if command is None:
            command = find_command(part_at(line, position - start).words, self._registry).command
        return command.name if command is not None else ""

    # -- what the view lacks ---------------------------------------------------------------------

    def _wish(self, found: Wanted, view: ClusterView, document: Document) -> None:
        """Ask the cache for what would be offered here, and remember who waits for it."""
        self._waiting = None
        of_configs = found.kind in CONFIGS and not is_about_quotas(found)
        if found.want is Want.VALUE and of_configs:
            self._wish_configs(*subject_of(found, view), view, document)
            return
        self._wish_early(found, view)
        if found.want is not Want.VALUE:
            return
        if found.kind in _NAMES and not view.read_at:
            self._wait(document)
        group = group_of(found) if found.kind is Kind.TOPIC_PARTITIONS else None
        if group is not None and group not in view.group_topics:
            self._wait(document)
        part = part_of(found)
        if part:
            held = view.part(part)
            if not held.read_at or held.older_than(FRESH_S, view.read_at):
                self._wait(document)
            self._cache().wish(part)

    def _wish_early(self, found: Wanted, view: ClusterView) -> None:
        """The configs that the next words are likely to be about, as soon as a topic is named; the
        topics of a group likewise."""
        if (group := group_of(found)) is not None:
            self._cache().wish(group)
        if found.command is None or not view.read_at:
            return
        if any(option.kind in CONFIGS for option in found.options):
            _, resource = subject_of(found, view)
            if resource is not None:
                self._cache().wish(resource)

    def _wish_configs(
        self,
        kind: ResourceType,
        resource: ConfigResource | None,
        view: ClusterView,
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


def _lacking(part: str, view: ClusterView) -> str:
    """Why nothing can be offered of a part that could not be read."""
    held = view.part(part)
    if held.error is None or held.value:
        return ""
    why = " ".join(filter(None, (held.error.message, hint_of(held.error))))
    return f"{part.replace('_', ' ')} could not be read: {why}"


def line_at(text: str, position: int) -> tuple[int, str]:
    """Where the line that the position is in begins, and the line: several may be pasted."""
    if "\n" not in text or len(text) > LONGEST:
        return 0, text
    rows = text.split("\n")
    starts = [0]
    for row in rows:
        starts.append(starts[-1] + len(row) + 1)
    found = 0, text
    for number, line in logical_lines(rows):
        if starts[number - 1] > position:
            break
        found = starts[number - 1], line
    return found


def _wanted_at(text: str, position: int, registry: Registry) -> Wanted:
    start, line = line_at(text, position)
    found = wanted(line, position - start, registry)
    return replace(found, span=(found.span[0] + start, found.span[1] + start))


def _unasked(found: Wanted) -> bool:
    """What nobody wants to see before a letter of it is typed, or Tab."""
    return found.want in (Want.COMMAND, Want.OPTION) or found.kind is Kind.FILE


def _spelled(candidate: Candidate, found: Wanted) -> str:
    """The candidate as it must be typed here: in the quotes that are open, or in its own."""
    if found.want is not Want.VALUE:
        return candidate.text
    if found.kind is Kind.SQL:  # a query has blanks, and strings in single quotes
        return candidate.text if found.quote else f'"{candidate.text}'
    if found.quote:
        return candidate.text + (candidate.tail or found.quote)
    if found.kind is Kind.ACL_RULE and candidate.tail:
        return f"'{candidate.text}{candidate.tail}"  # a rule has blanks: its words go on in quotes
    return quote(candidate.text) + candidate.tail
