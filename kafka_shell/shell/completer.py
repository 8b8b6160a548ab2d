"""Completion at the prompt, from the cached view. Never waits for the network."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache, partial

from prompt_toolkit.buffer import CompletionState
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.formatted_text import FormattedText, StyleAndTextTuples

from kafka_shell.admin.configs.model import ConfigEntry, ConfigResource, ResourceType
from kafka_shell.base.structs import replace
from kafka_shell.base.text import escape
from kafka_shell.base.units import ConfigType, counted, format_config_value
from kafka_shell.commands.configs.complete import is_about_quotas, subject_of
from kafka_shell.commands.configs.kinds import CONFIGS
from kafka_shell.context import Context
from kafka_shell.language import kinds
from kafka_shell.language.command import Registry
from kafka_shell.language.cursor import LONGEST, CompletionRequest, WordKind, completion_request
from kafka_shell.language.kinds import CandidateSource, is_pattern, select
from kafka_shell.language.scan import find_command
from kafka_shell.language.tokens import logical_lines, part_at
from kafka_shell.output.text import Text, cut, text, width, wrap
from kafka_shell.view.cache import TOPICS, Cache, label
from kafka_shell.view.candidates import Candidate, Catalog, offers
from kafka_shell.view.view import ClusterView, ConfigDoc, Key, TopicsOf

PREVIEWED = 5_000  # with more names, globs are not previewed while typing
Subject = tuple[ResourceType, ConfigResource | None, str]


class Offer(Completion):
    """A candidate in the menu. `name` is the unquoted candidate."""

    def __init__(self, candidate: Candidate, text: str, start: int) -> None:
        self.name = candidate.text
        self.continues = bool(candidate.tail)
        style = f"class:{candidate.role}" if candidate.role else ""
        about = escape(candidate.about)
        super().__init__(
            text,
            start_position=start,
            display=escape(candidate.text + candidate.tail),
            display_meta=FormattedText([(style, about)]) if about else None,
        )


class ShellCompleter(Completer):
    """Completes for one prompt. `cache` is called each time because `connect` replaces it."""

    def __init__(self, cache: Callable[[], Cache], registry: Registry, context: Context) -> None:
        self._cache = cache
        self._registry = registry
        self._paths = context.paths
        self._waiting: tuple[str, int] | None = None
        # The menu and several parts of the toolbar are drawn for the same text.
        self._requested = lru_cache(4)(partial(_completion_request_at, registry))

    # -- for prompt_toolkit ------------------------------------------------------------------------

    def get_completions(
        self, document: Document, complete_event: CompleteEvent
    ) -> Iterable[Completion]:
        """Yield the candidates, and the number of further ones."""
        request = self._completion_request(document)
        view = self._cache().view
        self._request(request, view, document)
        if not request.prefix and not complete_event.completion_requested and _only_on_tab(request):
            return
        paths = self._paths
        catalog = Catalog(view, self._registry, paths.config, paths.journal)
        offered = offers(request, catalog)
        start = request.span[0] - document.cursor_position
        for candidate in offered.offered:
            kind = request.kind
            if kind is None:  # a command or an option, which needs no quotes
                text = candidate.text + request.quote
            else:
                text = kind.quoted(candidate.text, candidate.tail, request.quote)
            yield Offer(candidate, text, start)
        if offered.more:
            typed = document.text_before_cursor[len(document.text_before_cursor) + start :]
            yield Completion(typed, start, display=f"… {offered.more:,} more",
                             display_meta="type more")  # fmt: skip

    def waits_for(self, document: Document) -> bool:
        """Return whether the menu of this text is waiting for data of the cluster."""
        waiting, self._waiting = self._waiting, None
        return waiting == (document.text, document.cursor_position)

    def renew(self, state: CompletionState) -> None:
        """Update an open menu; keep the highlighted candidate."""
        event = CompleteEvent(completion_requested=True)
        completions = list(self.get_completions(state.original_document, event))
        chosen = state.current_completion
        places = [n for n, each in enumerate(completions) if chosen and each.text == chosen.text]
        if places or (completions and chosen is None):
            state.completions = completions
            state.complete_index = places[0] if places else None

    def subject(self, document: Document, highlighted: str) -> Subject | None:
        """Return the config key to document: the highlighted one, else the one being typed."""
        request = self._completion_request(document)
        if _source(request) is not CONFIGS or is_about_quotas(request):
            return None
        view = self._cache().view
        kind, resource = subject_of(request, view)
        known = view.docs(kind)
        for key in (request.key, highlighted, request.prefix):
            if key in known:
                return kind, resource, key
        return None

    def known(self, document: Document, highlighted: str) -> tuple[str, str, str] | None:
        """Return key, heading and text of a quota or client config, which brokers do not
        document."""
        request = self._completion_request(document)
        if (source := _source(request)) is None:
            return None
        for key in (request.key, highlighted, request.prefix):
            about = source.document(request, key, self._cache().view)
            if about is not None:
                return (key, *about)
        return None

    def unread(self, document: Document) -> str:
        """Return why candidates are missing, or an empty string. The toolbar does so for topics."""
        view = self._cache().view
        needed = (key for key in _needs(self._completion_request(document), view) if key != TOPICS)
        return next(filter(None, (_read_error(key, view) for key in needed)), "")

    def preview(self, document: Document) -> str:
        """Return the topics or groups that match the glob at the cursor: `3 topics: a, b, c`.

        Regular expressions are not evaluated because they can take too long.
        """
        request = self._completion_request(document)
        view, glob = self._cache().view, request.prefix
        noun = request.kind.name if request.kind and request.kind.pattern else ""
        names = {"topic": view.topics.value.names, "group": view.groups.value.names}.get(noun)
        if names is None or not is_pattern(glob) or "/" in glob:
            return ""
        if len(names) > PREVIEWED:
            return ""
        chosen = select([glob], names).names
        some = ", ".join(chosen[:20])
        return f"{counted(len(chosen), noun)}: {some}".rstrip(": ")

    def command_at(self, text: str, position: int) -> str:
        """Return the name of the command at the cursor, or an empty string."""
        start, line = line_at(text, position)
        command = completion_request(line, position - start, self._registry).command
        if command is None:
            command = find_command(part_at(line, position - start).words, self._registry).command
        return command.name if command is not None else ""

    # -- data the view lacks ---------------------------------------------------------------------

    def _request(self, wanted: CompletionRequest, view: ClusterView, document: Document) -> None:
        """Request the data for candidates that the view lacks, and remember the waiting text."""
        self._waiting = None
        request = self._cache().request
        needed = dict.fromkeys(_needs(wanted, view))
        if [key for key in needed if request(key)]:  # not any(): it would request only the first
            self._waiting = (document.text, document.cursor_position)
        # the configs of a topic or the topics of a group, as soon as it is named
        sources = {option.kind.source for option in wanted.options} if view.read_at else set()
        later = {key: None for source in sources if source for key in source.needs(wanted, view)}
        for key in later:
            if isinstance(key, ConfigResource | TopicsOf) and key not in needed:
                request(key)

    def _completion_request(self, document: Document) -> CompletionRequest:
        return self._requested(document.text, document.cursor_position)


def _source(request: CompletionRequest) -> CandidateSource | None:
    return request.kind.source if request.kind is not None else None


def _needs(request: CompletionRequest, view: ClusterView) -> Sequence[Key]:
    source = _source(request)
    return source.needs(request, view) if source is not None and not request.choices else ()


def _read_error(key: Key, view: ClusterView) -> str:
    """Return why a part of the view could not be read, or not completely."""
    current = view.lookup(key)
    if current is None or current.error is None:
        return ""
    why = ". ".join(filter(None, (current.error.message, current.error.hint)))
    known = f"some {label(key)} may be missing" if current.value else ""
    return f"{known or f'{label(key)} could not be read'}: {why}"


def line_at(text: str, position: int) -> tuple[int, str]:
    """Return the start and the text of the line at a position of a multi-line text."""
    if "\n" not in text or len(text) > LONGEST:
        return 0, text
    rows = text.split("\n")
    starts = [0]
    for row in rows:
        starts.append(starts[-1] + len(row) + 1)
    start = 0, text
    for number, line in logical_lines(rows):
        if starts[number - 1] > position:
            break
        start = starts[number - 1], line
    return start


def _completion_request_at(registry: Registry, text: str, position: int) -> CompletionRequest:
    start, line = line_at(text, position)
    request = completion_request(line, position - start, registry)
    return replace(request, span=(request.span[0] + start, request.span[1] + start))


def _only_on_tab(request: CompletionRequest) -> bool:
    """Return whether candidates are shown only after Tab or a first letter."""
    return request.word_kind in (WordKind.COMMAND, WordKind.OPTION) or request.kind is kinds.FILE


# The documentation of a config key below the menu: type, values, and the text of the broker.

STYLE = "class:documentation"
HEADING = "class:documentation class:key"
_LINES = ((24, 5), (16, 3), (10, 1))  # rows of the terminal -> lines of documentation


def lines_for(rows: int) -> int:
    """Return the number of documentation lines for a terminal height."""
    return next((lines for least, lines in _LINES if rows >= least), 0)


def documentation_pane(
    view: ClusterView,
    kind: ResourceType,
    resource: ConfigResource | None,
    key: str,
    columns: int,
    lines: int,
) -> StyleAndTextTuples:
    """Return exactly `lines` lines about a key, so that the height of the menu stays the same."""
    doc = view.docs(kind).get(key)
    entry = view.entries(resource).get(key) if resource else None
    body = list(_body(doc, max(2, columns - 2))) if doc else []
    return _drawn(key, _heading(key, doc, entry), body, columns, lines)


def described(key: str, heading: str, about: str, columns: int, lines: int) -> StyleAndTextTuples:
    """Return the same for a key without documentation of a broker: a quota or client config."""
    body = list(wrap(text(about), max(2, columns - 2)))
    return _drawn(key, heading, body, columns, lines)


def _drawn(
    key: str, heading: str, body: list[Text], columns: int, lines: int
) -> StyleAndTextTuples:
    room = max(2, columns - 2)
    kept = body[: lines - 1]
    if len(body) > len(kept) and kept:
        kept[-1] = cut(kept[-1] + " …" if kept[-1].width < room - 1 else kept[-1] + "……", room)
    pieces: StyleAndTextTuples = []
    head = cut(text(f"{key}  {heading}".rstrip()), room).plain
    name, rest = head[: len(key)], head[len(key) :]
    pieces += [(HEADING, f" {name}"), (STYLE, _filled(rest, columns - 1 - width(name)))]
    for number in range(lines - 1):
        line = kept[number].plain if number < len(kept) else ""
        pieces += [("", "\n"), (STYLE, _filled(f" {line}", columns))]
    return pieces


def full_text(
    view: ClusterView, kind: ResourceType, resource: ConfigResource | None, key: str
) -> Callable[[int], Iterator[str]]:
    """Return a function from columns to the lines of the full documentation."""
    doc = view.docs(kind).get(key)
    entry = view.entries(resource).get(key) if resource else None

    def lines(columns: int) -> Iterator[str]:
        room = max(2, columns - 2)
        for line in wrap(text(f"{key}  {_heading(key, doc, entry)}".rstrip()), room):
            yield line.plain
        for body in _body(doc, room) if doc else ():
            yield f"  {body.plain}".rstrip()

    return lines


def note(words: str, columns: int) -> StyleAndTextTuples:
    """Return a line in the same style."""
    return [(STYLE, _filled(f" {cut(text(words), max(2, columns - 2)).plain}", columns))]


def _filled(line: str, columns: int) -> str:
    return line + " " * max(0, columns - width(line))


def _heading(key: str, doc: ConfigDoc | None, entry: ConfigEntry | None) -> str:
    """`long · now 7d (dynamic topic) · default 7d · read-only`."""
    config = entry or doc
    if config is None:
        return ""
    return " · ".join(filter(None, [
        config.type.name.lower() if config.type is not ConfigType.UNKNOWN else "",
        _now(entry) if entry else "",
        f"default {value_with_units(key, doc.type, doc.default)}"
        if doc and doc.default is not None
        else "",
        "sensitive" if config.sensitive else "",
        "read-only" if config.read_only else "",
    ]))  # fmt: skip


def _now(entry: ConfigEntry) -> str:
    if entry.sensitive or entry.value is None:
        return ""
    value = f"now {value_with_units(entry.name, entry.type, entry.value)}"
    return f"{value}, overridden" if entry.overridden else f"{value} ({entry.source.words})"


def value_with_units(key: str, kind: ConfigType, raw: str) -> str:
    """Return a value with units, and the raw value if different; `""` for the empty string."""
    if not raw:
        return '""'
    friendly = format_config_value(key, kind, raw)
    return raw if friendly == raw else f"{friendly} ({raw})"


def _body(doc: ConfigDoc, room: int) -> Iterator[Text]:
    if not doc.text:
        yield text("No documentation available.")
    for line in doc.text.splitlines():
        yield from wrap(text(line), room)
