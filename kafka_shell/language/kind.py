"""Kinds of values: each converts, prints and completes its values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from kafka_shell.common.quoting import quote, quote_rest
from kafka_shell.common.text import short
from kafka_shell.errors import UsageError
from kafka_shell.language.logical_lines import Span

if TYPE_CHECKING:
    from kafka_shell.language.command import Parameter
    from kafka_shell.language.cursor import CompletionRequest
    from kafka_shell.view.candidates import Candidate, Candidates, Catalog
    from kafka_shell.view.view import ClusterView, Key


class CandidateSource(Struct, frozen=True):
    """Where the candidates of a kind come from.

    `needs` returns the keys of the view that `offer` reads. `document` returns heading and text
    about a config key that brokers do not document.
    """

    offer: Callable[[CompletionRequest, Catalog], Candidates]
    needs: Callable[[CompletionRequest, ClusterView], Sequence[Key]] = lambda found, view: ()
    document: Callable[[CompletionRequest, str, ClusterView], tuple[str, str] | None] = (
        lambda found, key, view: None
    )


class Fragment(Struct, frozen=True):
    """The part of a value at the cursor. `start` is its position in the value.

    `part` is "key" or "value" of key=value; "partition" of topic:partition, whose `key` is the
    topic; other kinds have names and keys of their own.
    """

    start: int
    part: str = ""
    key: str = ""


class Kind:
    """What a value is. This one is any text.

    `name` is for messages, `metavar` for usage. `several`: one word contains several values, and
    `convert` returns a list of (value, span). `pattern`: globs and expressions are highlighted.
    """

    several = False
    pattern = False

    def __init__(
        self,
        name: str,
        source: CandidateSource | Callable[[], CandidateSource] | None = None,
        metavar: str = "",
    ) -> None:
        self.name, self._source, self.metavar = name, source, metavar or name.upper()

    @property
    def source(self) -> CandidateSource | None:
        """Where its candidates come from. A function is called now, as it imports the source."""
        return self._source() if callable(self._source) else self._source

    def convert(self, parameter: Parameter, text: str) -> Any:
        """Return the value of a text, or raise UsageError. Its span is relative to the text."""
        return text

    def format(self, value: Any) -> str:
        """Return the unquoted text of a value, which `convert` can read."""
        return str(value)

    def last_fragment(self, text: str) -> Fragment:
        """Return the fragment at the end of a text that is being typed."""
        return Fragment(0)

    def quoted(self, candidate: Candidate, open_quote: str) -> str:
        """Return a candidate with the quotes that it needs."""
        if open_quote:
            return quote_rest(candidate.text, open_quote) + (candidate.tail or open_quote)
        return quote(candidate.text) + candidate.tail

    def kind_at(self, words: Mapping[str, Sequence[str]], index: int) -> Kind:
        """Return the kind of the value with this index, on a line with these words by name."""
        return self


def convert(parameter: Parameter, text: str) -> tuple[Any, tuple[Span, ...]]:
    """Return the value of a text, and the span of each of its parts."""
    value = parameter.kind.convert(parameter, text)
    if parameter.kind.several:
        return tuple(each for each, _ in value), tuple(span for _, span in value)
    return value, ((0, len(text)),)


def invalid(
    parameter: Parameter, expected: str, text: str, *, hint: str = "", at: Span | None = None
) -> UsageError:
    """Return the error for a text that is not what is expected; `at` is the wrong part of it."""
    shown = quote(short(text))
    shown = shown if shown.startswith("'") else f"'{shown}'"
    message = f"{parameter.label} must be {expected}, got {shown}"
    return UsageError(message, hint=hint, code="bad-value", span=at or (0, len(text)))
