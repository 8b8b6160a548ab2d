"""What is being typed at a position of a text: a command, an option, or a value of some kind."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from enum import Enum

from msgspec import Struct, field

from kafka_shell.base.errors import ShellError
from kafka_shell.base.structs import replace
from kafka_shell.language import kinds
from kafka_shell.language.command import Argument, Command, Option, Parameter, Registry
from kafka_shell.language.kinds import Kind, convert, is_pattern
from kafka_shell.language.scan import (
    FoundCommand,
    Known,
    Role,
    Scan,
    Scope,
    Use,
    bare,
    find_command,
    is_open,
    scan,
)
from kafka_shell.language.tokens import Line, Span, Word, commands

LONGEST = 100_000  # characters; longer lines are not completed
DEEPEST = 8  # watch 5 watch 5 watch 5 ...


class WordKind(Enum):
    """What is being typed."""

    NOTHING = "nothing"
    COMMAND = "command"
    OPTION = "option"
    VALUE = "value"


def _never(text: str) -> bool:
    return False


def _is_no_item(text: str) -> bool:
    return not text or "," in text


class CompletionRequest(Struct, frozen=True):
    """What is being typed, and what a completer needs to offer candidates.

    `prefix` is the text so far without quotes: of the word, or of its part after the last comma
    or `=`. A candidate replaces `span`, which ends at the cursor and starts after `quote`, the open
    quote, if there is one. `prefix` has both words of a command of two words.

    For VALUE: its `kind` on this line, the `parameter` it belongs to, `choices`,
    and for key=value the `part` ("key" or "value") and the `key`. `alternatives` are kinds that
    would fit as well. `options` are those that may still be given; `words` are the values of the
    rest of the line by name, flags with none. `is_option` returns whether a value would be read as
    an option here, or as several items of a list.
    """

    word_kind: WordKind
    prefix: str = ""
    span: Span = (0, 0)
    quote: str = ""
    command: Command | None = None
    kind: Kind | None = None
    parameter: Parameter | None = None
    choices: tuple[str, ...] = ()
    part: str = ""
    key: str = ""
    alternatives: tuple[Kind, ...] = ()
    options: tuple[Option, ...] = ()
    words: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    is_option: Callable[[str], bool] = _never

    @property
    def name(self) -> str:
        """The name of the argument or option, without dashes."""
        return bare(self.parameter.name) if self.parameter else ""

    @property
    def taken(self) -> set[str]:
        """The keys that the line gives the same argument or option already."""
        return {word.partition("=")[0] for word in self.words.get(self.name, ())}

    @property
    def tail(self) -> str:
        """What follows a candidate: `=` after the key of a pair."""
        return "=" if self.part == "key" else ""


def completion_request(
    text: str, position: int, registry: Registry, *, depth: int = 0
) -> CompletionRequest:
    """What is being typed at `position`. Never raises, whatever the text."""
    position = max(0, min(position, len(text)))
    nothing = CompletionRequest(WordKind.NOTHING, span=(position, position))
    if len(text) > LONGEST or depth > DEEPEST:
        return nothing
    heads = commands(text[:position])
    head = heads[-1]
    if head.shell is not None or head.pipe is not None:
        return nothing
    if head.comment and head.comment[1] == position:
        return nothing
    quote = ""
    if head.incomplete and head.incomplete.what == "quote":
        quote = text[head.incomplete.span[0]]
    file = _file(head, position)
    if file:
        return _at(file, CompletionRequest(WordKind.VALUE, quote=quote, kind=kinds.FILE), position)
    before = list(head.words)
    current = Word("", "", (position, position))
    if before and before[-1].span[1] == position:
        current = before.pop()
    whole = commands(text)[: len(heads)][-1]
    after = [word for word in whole.words if word.span[0] >= position]
    return _Typing(text, position, registry, quote, depth).read(before, current, after)


def _file(head: Line, position: int) -> Word | None:
    """The name that is being typed after `>`."""
    if head.redirect:
        word = head.redirect.word
        return word if word.span[1] == position else None
    return Word("", "", (position, position)) if head.operators else None


def _at(word: Word, request: CompletionRequest, position: int, start: int = 0) -> CompletionRequest:
    """`request` for the part of the word's text from `start` on."""
    first = word.at(start)[0]
    typed = word.raw[first - word.span[0] :]
    # Inside the only quote of the word, a candidate is the rest of the quoted text.
    if (request.quote and request.quote in typed) or (not request.quote and word.quoted):
        if start == 0:
            first, request = word.span[0], replace(request, quote="")
        elif any(mark in typed for mark in "'\""):
            # a candidate put here would unbalance the quotes
            return CompletionRequest(WordKind.NOTHING, span=(position, position))
    return replace(request, prefix=word.text[start:], span=(min(first, position), position))


class _Typing(Struct, frozen=True):
    """Finds what is being typed in one text."""

    text: str
    position: int
    registry: Registry
    quote: str
    depth: int

    def read(self, before: list[Word], current: Word, after: list[Word]) -> CompletionRequest:
        if not before and not current.text.startswith("-"):
            return self._command(current)
        begun = " ".join(word.text for word in before) + " "
        if self.registry.continues(begun):
            start = before[0].span[0]
            request = self._command(current)
            span = start, self.position
            return replace(request, prefix=begun + current.text, span=span, quote="")
        named = find_command(before, self.registry)
        words = [*named.rest, current, *after]
        if named.command is None and (before or [current])[0].text.startswith("-"):
            named = find_command([*before, *after], self.registry)  # the flag may follow
            words = sorted([*named.rest, current], key=lambda word: word.span)
        if named.command is None:
            return self._without_command(before, current)
        return self._within(named.command, words, current)

    def _command(self, current: Word) -> CompletionRequest:
        return _at(current, CompletionRequest(WordKind.COMMAND, quote=self.quote), self.position)

    def _without_command(self, before: list[Word], current: Word) -> CompletionRequest:
        """Only options so far: their values, or the command as a flag (`--list-topics`)."""
        if not (before or [current])[0].text.startswith("-"):
            return CompletionRequest(WordKind.NOTHING, span=(self.position, self.position))
        no_command = Command("", "", "")
        request = self._within(no_command, [*before, current], current)
        request = replace(request, command=None)
        return (
            replace(request, word_kind=WordKind.COMMAND)
            if request.word_kind is WordKind.OPTION
            else request
        )

    def _within(self, command: Command, words: Sequence[Word], current: Word) -> CompletionRequest:
        scope = Scope(command)
        scanned = scan(words, scope)
        line = [use for use in scanned.uses if use.role is Role.LINE]
        if any(use.word is current for use in line):
            return self._nested(line[0].word.span[0])
        given = _given(scanned, current)
        rest = CompletionRequest(
            WordKind.OPTION, quote=self.quote, command=command, words=given,
            options=_allowed_options(scope, given),
        )  # fmt: skip
        use = next((use for use in reversed(scanned.uses) if use.word is current), None)
        ended = any(
            u.role is Role.DASHES and u.word is not current and u.word.span < current.span
            for u in scanned.uses
        )
        dashed = current.text.startswith("-") and not ended
        if use is None or (dashed and use.role is not Role.VALUE):
            return self._option(current, rest)
        if use.role is Role.VALUE:
            reserved = scope.is_option if use.start == 0 else _never
            return self._value(use, replace(rest, is_option=reserved), _own_option(use, scanned))
        return self._argument(
            use, scanned, replace(rest, is_option=_never if ended else _starts_with_dash)
        )

    def _nested(self, start: int) -> CompletionRequest:
        """What is being typed in the line that this command takes as its last argument."""
        inner = completion_request(
            self.text[start:], self.position - start, self.registry, depth=self.depth + 1
        )
        return replace(inner, span=(inner.span[0] + start, inner.span[1] + start))

    def _option(self, current: Word, rest: CompletionRequest) -> CompletionRequest:
        if "=" in current.text:  # the value of an unknown option
            return replace(rest, word_kind=WordKind.NOTHING, span=(self.position, self.position))
        return _at(current, rest, self.position)

    def _argument(self, use: Use, scanned: Scan, rest: CompletionRequest) -> CompletionRequest:
        """The argument that a word without dashes is for; the parser's choice, corrected.

        A word without `=` may be the beginning of key=value.
        """
        command, argument = scanned.scope.command, use.parameter
        taken = set(rest.words)
        arguments = [a for a in command.arguments if a.kind is not kinds.LINE]
        open_ = [a for a in arguments if a.name in taken or is_open(a, command, taken)]
        open_ = [a for a in open_ if a.many or a.name not in taken]
        if not isinstance(argument, Argument) or argument not in open_:
            argument = open_[0] if open_ else None
        pairs = next((a for a in open_ if isinstance(a.kind, kinds.Pair)), None)
        alternatives: tuple[Kind, ...] = ()
        if argument and pairs and argument is not pairs and argument.name in taken:
            argument, alternatives = pairs, (argument.kind,)
        if argument is None:
            return self._option(use.word, rest)
        used = replace(use, parameter=argument)
        return replace(self._value(used, rest), alternatives=alternatives)

    def _value(
        self, use: Use, rest: CompletionRequest, rival: Option | None = None
    ) -> CompletionRequest:
        parameter = rival or use.parameter
        if parameter is None or parameter.kind is kinds.FLAG:
            return replace(rest, word_kind=WordKind.NOTHING, span=(self.position, self.position))
        given = len(rest.words.get(bare(parameter.name), ()))
        kind = parameter.kind.kind_at(rest.words, given)
        fragment = kind.last_fragment(use.value)
        within = _is_no_item if isinstance(kind, kinds.Words) else _never
        request = replace(
            rest,
            word_kind=WordKind.VALUE,
            kind=kind,
            parameter=parameter,
            choices=parameter.choices,
            part=fragment.part,
            key=fragment.key,
            alternatives=(kinds.HOST_PORT,) if rival else (),
            is_option=within if fragment.start else rest.is_option,
        )
        return _at(use.word, request, self.position, use.start + fragment.start)


def _starts_with_dash(text: str) -> bool:
    return len(text) > 1 and text.startswith("-")


def _own_option(use: Use, scanned: Scan) -> Option | None:
    """The command's own option of the same spelling, while the value is empty: `--broker `."""
    opener = [u for u in scanned.uses if u.role is Role.OPTION and u.word.span <= use.word.span][-1]
    known = scanned.scope.both(opener.word.text.partition("=")[0])
    own = known[0].parameter
    return own if len(known) > 1 and isinstance(own, Option) and not use.value else None


def _given(scanned: Scan, current: Word) -> dict[str, tuple[str, ...]]:
    """Values by name, without the word under the cursor."""
    given: dict[str, tuple[str, ...]] = {}
    for name, uses in scanned.used.items():
        others = [use for use in uses if use.word is not current]
        if others:
            given[name] = tuple(use.value for use in others if use.role is not Role.OPTION)
    return given


def _allowed_options(scope: Scope, given: Mapping[str, object]) -> tuple[Option, ...]:
    """The options that may still be given: own, arguments' spellings, then common ones."""
    barred = {
        scope.key(o) for known in scope.known if known.name in given for o in _excluded_names(known)
    }
    for group in scope.command.exactly_one:
        keys = {scope.key(each) for each in group}
        if keys & set(given):
            barred |= keys - set(given)
    free: list[Option] = []
    for known in scope.known:
        option = _as_option(known)
        again = known.parameter.many or known.name not in given
        away = any(scope.key(other) in given for other in _excluded_names(known))
        if option and again and not away and known.name not in barred:
            free.append(option)
    return tuple(free)


def _excluded_names(known: Known) -> tuple[str, ...]:
    parameter = known.parameter
    return parameter.excludes if isinstance(parameter, Option) else parameter.unless


def _as_option(known: Known) -> Option | None:
    parameter = known.parameter
    if isinstance(parameter, Option):
        return None if parameter.hidden else replace(parameter, name=known.spelling)
    if not parameter.option:
        return None
    return Option(parameter.option, parameter.kind, parameter.help, many=parameter.many,
                  choices=parameter.choices)  # fmt: skip


# The class of each part of a line, for colors. Words and roles are those of the parser.

Classified = list[tuple[Span, str]]

LONGEST_COLORED = 20_000

_NUMBER = re.compile(r"[+-]?[0-9][0-9.]*(?:[A-Za-z]{1,3}(?:/s)?)?")


def classify(text: str, registry: Registry, *, depth: int = 0) -> Classified:
    """Return (span, class) of each part, in order and without overlaps. Never raises.

    Classes: command, unknown-command, option, unknown-option, value, number, string, pattern,
    operator, comment, shell, sql, error.
    """
    if len(text) > LONGEST_COLORED or depth > DEEPEST:
        return []
    return _without_overlaps(
        [item for line in commands(text) for item in _command(line, registry, depth)]
    )


def _command(line: Line, registry: Registry, depth: int) -> Classified:
    classes: Classified = [(span, "operator") for span in line.operators]
    if line.joint_span:
        classes.append((line.joint_span, "operator"))
    if line.shell is not None:
        return [*classes, ((line.operators[0][1], len(line.text)), "shell")]
    if line.pipe_span:
        classes.append((line.pipe_span, "shell"))
    if line.comment:
        classes.append((line.comment, "comment"))
    if line.redirect:
        classes.append((line.redirect.word.span, "value"))
    if line.problem:
        classes = [*(item for item in classes if not _overlaps(item[0], line.problem.span)),
                 (line.problem.span, "error")]  # fmt: skip
    return classes + _words(line, registry, depth)


def _overlaps(one: Span, other: Span) -> bool:
    return one[0] < other[1] and other[0] < one[1]


def _without_overlaps(classes: Classified) -> Classified:
    """Sort the parts, without those that overlap an earlier one."""
    kept: Classified = []
    for span, name in sorted(classes):
        if span[0] < span[1] and (not kept or span[0] >= kept[-1][0][1]):
            kept.append((span, name))
    return kept


def _words(line: Line, registry: Registry, depth: int) -> Classified:
    named = find_command(line.words, registry)
    if named.command is None:
        return _no_command(named, registry)
    classified: Classified = [(word.span, "command") for word in named.name]
    for use in scan(named.rest, Scope(named.command)).uses:
        if use.role is Role.LINE:
            return classified + _nested(line, use.word, registry, depth)
        classified += _use(use)
    return classified


def _no_command(named: FoundCommand, registry: Registry) -> Classified:
    if not named.name:
        return [(word.span, "option") for word in named.rest if word.text.startswith("-")]
    word = named.name[0]
    begun = registry.continues(f"{word.text} ")
    return [(word.span, "command" if begun else "unknown-command")]


def _nested(line: Line, first: Word, registry: Registry, depth: int) -> Classified:
    """The classes of a line within the line, or of a text if it does not start with a command."""
    start, end = first.span[0], line.words[-1].span[1]
    words = [word for word in line.words if word.span[0] >= start]
    if find_command(words, registry).command is None:
        return [((start, end), "string" if first.quoted else "value")]
    inner = classify(line.text[start:end], registry, depth=depth + 1)
    return [((a + start, b + start), name) for (a, b), name in inner]


def _use(use: Use) -> Classified:
    word = use.word
    if use.role is Role.WRONG:
        return [(word.span, "unknown-option" if word.text.startswith("-") else "error")]
    if use.role is Role.DASHES:
        return [(word.span, "operator")]
    if use.role is Role.OPTION:
        name, equals, _ = word.text.partition("=")
        if not equals or word.quoted:
            return [(word.span, "option")] if not equals else []
        return [(word.at(0, len(name)), "option"), (word.at(len(name), len(name) + 1), "operator")]
    return _value(use)


def _value(use: Use) -> Classified:
    """The classes of one value, which may be incomplete: `error` if it is invalid."""
    word, parameter = use.word, use.parameter
    span = (word.at(use.start)[0], word.span[1]) if use.start and not word.quoted else word.span
    if parameter is None or not _is_valid(use):
        return [(span, "error")]
    if isinstance(parameter.kind, kinds.Pair) and not word.quoted:
        key, _, value = use.value.partition("=")
        at = use.start + len(key)
        return [
            (word.at(use.start, at), "value"),
            (word.at(at, at + 1), "operator"),
            (word.at(at + 1), _plain(value)),
        ]
    if parameter.kind.pattern and is_pattern(use.value):
        return [(span, "pattern")]
    quoted = "sql" if parameter.kind.name == "sql" else "string"
    return [(span, quoted if word.quoted else _plain(use.value))]


def _is_valid(use: Use) -> bool:
    try:
        if use.parameter is not None:
            convert(use.parameter, use.value)
    except ShellError:
        return False
    return True


def _plain(text: str) -> str:
    return "number" if _NUMBER.fullmatch(text) else "value"
