"""The kinds of values that all commands share.

A kind that only one family of commands uses is declared in the folder of that family.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from fnmatch import translate
from functools import lru_cache
from typing import Any, Protocol

from msgspec import Struct

from kafka_shell.base import units
from kafka_shell.base.errors import ShellError, UsageError, did_you_mean
from kafka_shell.base.plans import Secret
from kafka_shell.base.regex import compile_re2
from kafka_shell.base.text import quote, quote_rest, short
from kafka_shell.language.tokens import Span

# Kinds of values: each converts, prints and completes its values.


class CandidateSource(Struct, frozen=True):
    """Where the candidates of a kind come from: functions of what the view knows.

    `offer(request, catalog)` returns the candidates, `needs(request, view)` the keys of the view
    that it reads, and `document(request, key, view)` heading and text about a config key that
    brokers do not document.
    """

    offer: Callable[..., Any]
    needs: Callable[..., Any] = lambda found, view: ()
    document: Callable[..., Any] = lambda found, key, view: None


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
        source: CandidateSource | None = None,
        metavar: str = "",
    ) -> None:
        self.name, self.source, self.metavar = name, source, metavar or name.upper()

    def convert(self, parameter: Parameter, text: str) -> Any:
        """Return the value of a text, or raise UsageError. Its span is relative to the text."""
        return text

    def format(self, value: Any) -> str:
        """Return the unquoted text of a value, which `convert` can read."""
        return str(value)

    def last_fragment(self, text: str) -> Fragment:
        """Return the fragment at the end of a text that is being typed."""
        return Fragment(0)

    def quoted(self, text: str, tail: str, open_quote: str) -> str:
        """Return a candidate with the quotes that it needs, and what follows it."""
        if open_quote:
            return quote_rest(text, open_quote) + (tail or open_quote)
        return quote(text) + tail

    def kind_at(self, words: Mapping[str, Sequence[str]], index: int) -> Kind:
        """Return the kind of the value with this index, on a line with these words by name."""
        return self


class Argument(Struct, frozen=True):
    """A positional argument. With `option` it can also be given as an option (`--topic t`).

    With `many` it takes one or more words and its value is a tuple; otherwise its value is one
    word, or None if it is optional and absent. It takes no word if one of the options in `unless`
    is given.
    """

    name: str
    kind: Kind
    help: str
    many: bool = False
    required: bool = True
    option: str = ""
    choices: tuple[str, ...] = ()
    unless: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """Its name in messages: TOPIC."""
        return self.name.upper()


class Option(Struct, frozen=True):
    """An option. With `many` it can be repeated, and its value is a tuple.

    `value_optional` takes a value only as `--name=value` (`--yes`, `--yes=CLUSTER`); without a
    value it is True. A `bare` option takes the next word unless it starts with a dash; without a
    word its value is the empty string. `excludes` cannot be used with it; without one of `requires`
    it has no effect and is refused. `least` and `most` limit numbers, durations and rates (default:
    64 bits). A FLAG may be an empty value of another option, `empty_of`, whose values have an
    order. The value of an absent option is None, () with `many`, or False for a FLAG.
    """

    name: str
    kind: Kind
    help: str
    many: bool = False
    required: bool = False
    aliases: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()
    metavar: str = ""
    excludes: tuple[str, ...] = ()
    requires: tuple[str, ...] = ()
    value_optional: bool = False
    bare: bool = False
    hidden: bool = False
    empty_of: str = ""
    least: int | None = None
    most: int | None = None

    @property
    def label(self) -> str:
        """Its name in messages: --partitions."""
        return self.name


Parameter = Argument | Option


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


# Select existing names: `a,b`, the glob `svc-*`, the regular expression `/^svc-\d+/`.

_GLOB = re.compile(r"[*?]|\[[^\]]+\]")
_ITEM = re.compile(r"/(?:\\.|[^/\\])*+/(?=,|\Z)|[^,\[]+|\[[^\]]*\]|\[", re.DOTALL)


class Pattern(Protocol):
    """A compiled regular expression of re or re2."""

    def fullmatch(self, text: str) -> object:
        """Return a match of the whole text, or None."""


class Selection(Struct, frozen=True):
    """The selected names in their original order; `unmatched` are (index, word)."""

    names: tuple[str, ...]
    unmatched: tuple[tuple[int, str], ...] = ()


def select(words: Sequence[str], names: Sequence[str]) -> Selection:
    """Return the names that the words select. An exact name is never a pattern."""
    known = set(names)
    chosen: set[str] = set()
    unmatched: list[tuple[int, str]] = []
    for index, word in enumerate(words):
        for item in (word,) if word in known else split(word):
            matches = _matches(item, names, known)
            chosen.update(matches)
            if not matches:
                unmatched.append((index, item))
    return Selection(tuple(dict.fromkeys(n for n in names if n in chosen)), tuple(unmatched))


def select_whole(words: Sequence[str], names: Sequence[str]) -> frozenset[str]:
    """Return the names that the words select. Each word is a /regex/, a glob or a name, whatever
    names exist; commas are part of names."""
    known = frozenset(names)
    matches = (_matches(word, names, set()) or known & {word} for word in words)
    return frozenset(name for group in matches for name in group)


def split(word: str) -> tuple[str, ...]:
    """Split `a,b` at commas, except inside /.../ and [...]. Commas alone are a word."""
    items, current, at = [], "", 0
    while at < len(word):
        if word[at] == ",":
            items.append(current)
            current, at = "", at + 1
            continue
        match = _ITEM.match(word, at)
        # only a whole item is a regular expression
        text = match.group() if match and not (current and word[at] == "/") else word[at]
        current, at = current + text, at + len(text)
    return tuple(item for item in (*items, current) if item) or (word,)


def is_pattern(word: str) -> bool:
    """Whether the word could select names other than itself: a list, a glob or an expression."""
    return "," in word or any(map(is_glob_or_regex, split(word)))


def is_glob_or_regex(text: str) -> bool:
    """Whether a single name is written as a glob or an expression."""
    return _is_regex(text) or _GLOB.search(text) is not None


def check(word: str) -> None:
    """Raise UsageError for an invalid regular expression."""
    for item in split(word):
        if item.startswith("/"):
            _compiled(item)


def _matches(item: str, names: Sequence[str], known: set[str]) -> set[str]:
    if item in known:
        return {item}
    if item.startswith("/"):
        expression: Pattern = _compiled(item)
    elif _GLOB.search(item):
        expression = re.compile(translate(item))  # atomic groups: no backtracking
    else:
        return set()
    return {name for name in names if expression.fullmatch(name)}


def _is_regex(item: str) -> bool:
    return len(item) > 1 and item.startswith("/") and item.endswith("/")


def _compiled(item: str) -> Pattern:
    if not _is_regex(item):
        raise UsageError(
            f"the regular expression {short(item)} has no closing /",
            hint="Quote it if it contains blanks, quotes, > or |: '/a|b/'",
            code="bad-pattern",
        )
    if item == "//":
        raise UsageError("the regular expression // is empty", hint="Use '*' to select all names.",
                         code="bad-pattern")  # fmt: skip
    return _engine(item[1:-1])


@lru_cache
def _engine(expression: str) -> Pattern:
    pattern: Pattern = compile_re2(expression, f"/{expression}/")
    return pattern


_INT64 = 2**63 - 1


# -- numbers ---------------------------------------------------------------------------------------


class Number(Kind):
    """A number or an amount with a unit, within `least` and `most` of its option."""

    def __init__(
        self,
        name: str,
        expected: str,
        read: Callable[[str], int],
        format: Callable[[int], str] = str,
        metavar: str = "",
    ) -> None:
        super().__init__(name, metavar=metavar)
        self._expected, self._read, self._spell = expected, read, format

    def convert(self, parameter: Parameter, text: str) -> int:
        try:
            value = self._read(text)
        except ShellError as error:
            raise invalid(parameter, self._expected, text, hint=error.hint) from None
        least, most = getattr(parameter, "least", None), getattr(parameter, "most", None)
        if least is not None and value < least:
            positive = least == 1 and self is INTEGER
            expected = "a positive integer" if positive else f"at least {self.format(least)}"
            raise invalid(parameter, expected, text)
        if value > (most := _INT64 if most is None else most):
            raise invalid(parameter, f"at most {self.format(most)}", text)
        return value

    def format(self, value: int) -> str:
        return self._spell(value)


def _read_interval(text: str) -> int:
    try:
        return units.parse_duration(text if text[-1:].isalpha() else f"{text}s")
    except ShellError as error:
        error.hint = "Use a unit: ms, s, m, h, d, w. A number without a unit is in seconds."
        raise


_INTEGER = re.compile(r"[+-]?[0-9]{1,18}")


def _read_integer(text: str) -> int:
    if not _INTEGER.fullmatch(text):
        raise ShellError("not an integer")
    return int(text)


# -- names -----------------------------------------------------------------------------------------


def _refuse_empty(parameter: Parameter, text: str, blanks: str = "") -> None:
    """Raise UsageError for an empty text, so that it never selects everything."""
    if not text.strip(blanks):
        raise UsageError(f"{parameter.label} must not be empty", code="empty", span=(0, len(text)))


def _after_comma(text: str) -> Fragment:
    start = text.rfind(",") + 1
    return Fragment(len(text) - len(text[start:].lstrip()))


class Name(Kind):
    """A name, which may contain any characters."""

    def convert(self, parameter: Parameter, text: str) -> str:
        _refuse_empty(parameter, text)
        return text


class Words(Kind):
    """Words between commas. The command splits them."""

    def last_fragment(self, text: str) -> Fragment:
        # a regular expression may contain commas
        return Fragment(0) if text.startswith("/") else _after_comma(text)


class GroupWords(Words):
    """Names, globs and /regular expressions/ of groups between commas. A group may have any name,
    also an empty one, so that a word is checked only where it is no name."""

    pattern = True


class Names(Words):
    """Names between commas, at least one."""

    def convert(self, parameter: Parameter, text: str) -> str:
        _refuse_empty(parameter, text, ", ")
        return text


class Selector(Names):
    """Names, globs and /regular expressions/ between commas."""

    pattern = True

    def convert(self, parameter: Parameter, text: str) -> str:
        super().convert(parameter, text)
        check(text)
        return text


class Keys(Kind):
    """k1,k2 -> each key."""

    several = True

    def convert(self, parameter: Parameter, text: str) -> list[tuple[str, Span]]:
        parts, at = [], 0
        for part in text.split(","):
            key = part.strip()
            start = at + len(part) - len(part.lstrip())
            if not key or "=" in key:
                hint = "Give the key without a value to delete it." if "=" in key else ""
                place = (at, at + len(part))
                raise invalid(parameter, "keys such as k1,k2", part or text, hint=hint, at=place)
            parts.append((key, (start, start + len(key))))
            at += len(part) + 1
        return parts

    def format(self, value: Sequence[str]) -> str:
        return ",".join(value)

    def last_fragment(self, text: str) -> Fragment:
        return _after_comma(text)


class Pair(Kind):
    """key=value -> (key, value)."""

    def convert(self, parameter: Parameter, text: str) -> tuple[str, str]:
        key, equals, value = text.partition("=")
        if not equals or not key.strip():
            raise invalid(parameter, "key=value", text)
        return key, value

    def format(self, value: tuple[str, str]) -> str:
        return "=".join(value)

    def last_fragment(self, text: str) -> Fragment:
        key, equals, _ = text.partition("=")
        return Fragment(len(key) + 1, "value", key) if equals else Fragment(0, "key")


_PARTITIONS = re.compile(r"[0-9]{1,9}(?:-[0-9]{1,9})?(?:,[0-9]{1,9}(?:-[0-9]{1,9})?)*")
_MOST_PARTITIONS = 1_000_000


class Partitions(Kind):
    """`orders:0,3-5` -> (orders, (0, 3, 4, 5)), and `orders` -> (orders, None)."""

    def convert(self, parameter: Parameter, text: str) -> tuple[str, tuple[int, ...] | None]:
        _refuse_empty(parameter, text, ", ")
        topic, colon, listed = text.rpartition(":")
        if not colon or (text.startswith("/") and text.endswith("/")):
            check(text)
            return text, None
        check(topic)
        if ":" in topic and not topic.startswith("/"):
            hint = "Name each topic separately: orders:0 and invoices:1"
            raise invalid(parameter, "a single topic such as orders:0,3-5", text, hint=hint)
        if not topic or not _PARTITIONS.fullmatch(listed):
            raise invalid(parameter, "a topic and partitions such as orders:0,3-5", text)
        numbers: dict[int, None] = {}
        for part in listed.split(","):
            first, _, last = part.partition("-")
            begin, end = int(first), int(last or first)
            if end < begin or end - begin > _MOST_PARTITIONS:
                raise invalid(parameter, "a range of partitions such as 3-5", part)
            numbers.update(dict.fromkeys(range(begin, end + 1)))
        return topic, tuple(numbers)

    def format(self, value: tuple[str, Sequence[int] | None]) -> str:
        topic, partitions = value
        return topic if partitions is None else f"{topic}:{units.ranges(partitions)}"

    def last_fragment(self, text: str) -> Fragment:
        topic, colon, listed = text.rpartition(":")
        last = max(listed.rfind(","), listed.rfind("-")) + 1
        return Fragment(len(topic) + 1 + last, "partition", topic) if colon else Fragment(0)


# -- others ----------------------------------------------------------------------------------------


def _choice(parameter: Parameter, text: str) -> str | None:
    """Return the choice that is meant; case is ignored, as in Kafka's tools."""
    return next((choice for choice in parameter.choices if choice.lower() == text.lower()), None)


class Choice(Kind):
    """One of the `choices` of its parameter."""

    def convert(self, parameter: Parameter, text: str) -> str:
        choice = _choice(parameter, text)
        if choice is None:
            expected = "one of " + ", ".join(parameter.choices)
            raise invalid(parameter, expected, text, hint=did_you_mean(text, parameter.choices))
        return choice


_SPECIAL_TIMESTAMP = re.compile("-[1-6]")  # ListOffsets: -1 is latest, -2 earliest ...


class Time(Kind):
    """2026-01-31T10:00, -1h, epoch ms, or a choice -> the text.

    Relative times are evaluated when the command runs.
    """

    def convert(self, parameter: Parameter, text: str) -> str:
        choice = _choice(parameter, text)
        if choice is not None or (parameter.choices and _SPECIAL_TIMESTAMP.fullmatch(text)):
            return choice or text
        try:
            units.parse_time(text, now=0)
        except ShellError as error:
            others = f", or one of {', '.join(parameter.choices)}" if parameter.choices else ""
            expected = f"a time such as 2026-01-31T10:00 or -1h{others}"
            raise invalid(parameter, expected, text, hint=error.hint) from None
        return text


class SecretText(Kind):
    """A Secret, which is printed as ***."""

    def convert(self, parameter: Parameter, text: str) -> Secret:
        return Secret(text)

    def format(self, value: Secret) -> str:
        return "***"


# -- sources ---------------------------------------------------------------------------------------


def in_view(part: str, offer: Callable[..., Any] | None = None) -> CandidateSource:
    """Return the source that offers the names in a part of the view, or what `offer` returns."""
    return CandidateSource(
        offer or (lambda request, known: known.names(part, request.prefix)),
        lambda request, view: (part,),
    )


def _partitions(request: Any, known: Any) -> Any:
    if request.part == "partition":
        return known.partitions(request.key, request.prefix)
    return known.topics(request.prefix)


# -- the kinds -------------------------------------------------------------------------------------

FLAG = Kind("flag")  # an option without a value
LINE = Kind("line")  # the rest of the line, verbatim (watch, help)
TEXT = Kind("text")
CHOICE = Choice("choice")
INTEGER = Number("integer", "an integer", _read_integer, metavar="N")
DURATION = Number(  # -> milliseconds, also for a bare number
    "duration", "a duration such as 30s or 7d", units.parse_duration, units.format_duration
)
INTERVAL = Number(  # -> milliseconds; a bare number is seconds, as in watch(1)
    "interval", "a number of seconds or a duration such as 500ms", _read_interval,
    units.format_duration, metavar="SECONDS",
)  # fmt: skip
# -> bytes, and bytes a second
SIZE = Number("size", "a size such as 500GiB", units.parse_size, units.format_bytes)
RATE = Number("rate", "a rate such as 50MB/s", units.parse_size, units.format_rate)
TIME = Time("time", CandidateSource(lambda found, known: known.times(found.prefix)))
SECRET = SecretText("secret")
ADDRESS_PAIR = Pair("address-pair", metavar="HOST:PORT=HOST:PORT")
VIA = Kind("via", metavar="URL")
PROPERTY = Pair("property", metavar="KEY=VALUE")  # of a client .properties file
FILE = Name("file", CandidateSource(lambda found, known: known.files(found.prefix)))
PROFILE = Kind(
    "profile", CandidateSource(lambda found, known: known.profiles(found.prefix)), "NAME"
)
COMMAND = Kind("command", CandidateSource(lambda found, known: known.commands(found.prefix)))
TOPIC = Selector("topic", in_view("topics", lambda found, known: known.topics(found.prefix)))
TOPIC_PARTITIONS = Partitions("topic-partitions", in_view("topics", _partitions), "TOPIC")
BROKER = Selector(
    "broker", in_view("topics", lambda found, known: known.brokers(found.prefix)), "ID"
)
HOST_PORT = Words(
    "host:port", in_view("topics", lambda found, known: known.addresses(found.prefix))
)
GROUP = Name("group", in_view("groups"))
GROUP_ID = Kind("group", in_view("groups"))  # as GROUP, or empty
GROUPS = GroupWords("group", in_view("groups"))
USER = Kind("user", in_view("users"))
CLIENT_ID = Kind("client-id", in_view("client_ids"))
IP = Kind("ip", in_view("quotas", lambda found, known: known.ips(found.prefix)))
PRINCIPAL = Kind("principal", in_view("principals"))
TRANSACTIONAL_ID = Name("transactional-id", in_view("transactional_ids"), "ID")
TOKEN = Kind("token", in_view("tokens"), "ID")  # the ID of a delegation token
