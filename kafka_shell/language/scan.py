"""The role of each word on a command's line. Never raises: the parser explains what is wrong.

The parser, the completer and the highlighter all use this, so that they interpret a line alike.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from enum import Enum

from msgspec import Struct, field

from kafka_shell.language import kinds
from kafka_shell.language.command import (
    Argument,
    Command,
    Option,
    Parameter,
    Registry,
    common_options,
)
from kafka_shell.language.tokens import TYPOGRAPHIC_DASHES, Word, tokenize

_BARE_ID = re.compile(r"[0-9]+")
_AMOUNT = re.compile(r"[0-9]")


class Role(Enum):
    """The role of a word on the line."""

    OPTION = "option"
    VALUE = "value"  # of the option before it, or after = in the same word
    ARGUMENT = "argument"
    LINE = "line"
    DASHES = "dashes"  # -- ends the options
    WRONG = "wrong"


class Use(Struct, frozen=True):
    """One word, or the value part of `--option=value`, in its role.

    `name` is the key of the invocation's values; `start` is where the value begins in the word.
    """

    role: Role
    word: Word
    parameter: Parameter | None = None
    name: str = ""
    start: int = 0

    @property
    def value(self) -> str:
        """The value's text."""
        return self.word.text[self.start :]


class WordProblem(Struct, frozen=True):
    """What is wrong with a word: `code` says what, `name` which option or command."""

    code: str
    word: Word
    name: str = ""


class Known(Struct, frozen=True):
    """A parameter, the name of its value, and the spelling that is never ambiguous."""

    parameter: Parameter
    name: str
    spelling: str


class FoundCommand(Struct):
    """The command of a line; `rest` are the words without its name."""

    command: Command | None
    name: tuple[Word, ...] = ()
    rest: tuple[Word, ...] = ()
    problem: WordProblem | None = None


class Scan(Struct):
    """A line's words in their roles."""

    scope: Scope
    uses: list[Use] = field(default_factory=list)
    problems: list[WordProblem] = field(default_factory=list)
    used: dict[str, list[Use]] = field(default_factory=dict)

    def use(self, role: Role, word: Word, known: Known | None = None, start: int = 0) -> Use:
        """Record a use. A word that gives a parameter a value, or is a flag, counts as given."""
        use = (
            Use(role, word, known.parameter, known.name, start)
            if known
            else Use(role, word, start=start)
        )
        self.uses.append(use)
        if known:
            self.used.setdefault(known.name, []).append(use)
        return use

    def values(self, name: str) -> list[Use]:
        """The uses that give `name` a value."""
        return [use for use in self.used.get(name, ()) if use.role is not Role.OPTION]


class Scope:
    """The parameters of a command's line: its own arguments and options, then the common ones.

    A command's own option takes precedence over a common one of the same spelling, except that one
    of kind BROKER takes a bare number only: `--broker 1` is the entity, `--broker h:9092` the
    connection.
    """

    def __init__(self, command: Command, extra: Sequence[Option] = ()) -> None:
        self.command = command
        self.known: list[Known] = []
        self._spelled: dict[str, list[Known]] = {}
        for argument in command.arguments:
            known = Known(argument, argument.name, argument.option)
            self._add(known, (argument.option,) if argument.option else ())
        for option in command.options:
            known = Known(option, bare(option.name), option.name)
            self._add(known, (option.name, *option.aliases))
        taken = {known.name for known in self.known}
        for option in (*common_options(command), *extra):
            self._add_common(option, taken)
        self.by_name = {known.name: known for known in self.known}

    def _add(self, known: Known, spellings: Iterable[str]) -> None:
        self.known.append(known)
        for spelling in spellings:
            self._spelled.setdefault(spelling, []).append(known)

    def _add_common(self, option: Option, taken: set[str]) -> None:
        every = (option.name, *option.aliases)
        free = [each for each in every if each not in self._spelled and bare(each) not in taken]
        if not free:
            return
        name = bare(option.name if bare(option.name) not in taken else free[0])
        open_ = [
            each for each in every
            if all(k.parameter.kind is kinds.BROKER for k in self._spelled.get(each, ()))
        ]  # fmt: skip
        self._add(Known(option, name, free[0]), open_)

    @property
    def spellings(self) -> list[str]:
        """Every spelling of an option, hidden ones left out."""
        return [
            spelling
            for spelling, known in self._spelled.items()
            if not getattr(known[0].parameter, "hidden", False)
        ]

    def find(self, spelling: str, value: str = "") -> Known | None:
        """The parameter that this spelling means before this value."""
        known = self._spelled.get(spelling, ())
        if len(known) > 1 and not _BARE_ID.fullmatch(value):
            return known[1]
        return known[0] if known else None

    def both(self, spelling: str) -> Sequence[Known]:
        """All the parameters that this spelling can mean."""
        return self._spelled.get(spelling, ())

    def is_option(self, text: str) -> bool:
        """Whether the word is a known option, alone or as --option=value, or `--`."""
        return text == "--" or text in self._spelled or text.partition("=")[0] in self._spelled

    def key(self, name: str) -> str:
        """The name under which the value of an option or argument is stored."""
        known = self._spelled.get(name) or self._spelled.get(f"--{name}")
        return known[0].name if known else bare(name)


def bare(name: str) -> str:
    """The option's name without dashes."""
    return name.lstrip("-")


# -- which command ---------------------------------------------------------------------------------


def find_command(words: Sequence[Word], registry: Registry) -> FoundCommand:
    """The command that the words name: by name, by flag, or by short form."""
    if not words:
        return FoundCommand(None)
    first = words[0]
    if first.text.startswith("-"):
        return _by_flag(words, registry)
    for count in range(min(registry.most_words, len(words)), 0, -1):
        command = registry.named(" ".join(word.text for word in words[:count]))
        if command:
            return FoundCommand(command, tuple(words[:count]), tuple(words[count:]))
    line = registry.line_of_short(first.text)
    if line is not None:
        return _by_short(line, words, registry)
    return FoundCommand(None, (first,), tuple(words[1:]), WordProblem("unknown-command", first))


def _by_flag(words: Sequence[Word], registry: Registry) -> FoundCommand:
    ends = next((i for i, word in enumerate(words) if word.text == "--"), len(words))
    flags = [(i, flagged) for i, word in enumerate(words[:ends])
             if (flagged := registry.with_flag(word.text)) is not None]  # fmt: skip
    if not flags:
        return FoundCommand(None, (), tuple(words), WordProblem("no-command", words[0]))
    place, command = flags[0]
    rest = (*words[:place], *words[place + 1 :])
    again = (
        WordProblem("two-commands", words[flags[1][0]], words[place].text) if flags[1:] else None
    )
    return FoundCommand(command, (words[place],), rest, again)


def _by_short(line: str, words: Sequence[Word], registry: Registry) -> FoundCommand:
    """The command of a short form. Its words all have the position of the typed word."""
    typed = words[0]
    expanded = [Word(word.text, typed.raw, typed.span) for word in tokenize(line).words]
    for count in range(len(expanded), 0, -1):
        command = registry.named(" ".join(word.text for word in expanded[:count]))
        if command:
            return FoundCommand(command, (typed,), (*expanded[count:], *words[1:]))
    return FoundCommand(None, (typed,), tuple(words[1:]), WordProblem("unknown-command", typed))


# -- which word is what ----------------------------------------------------------------------------


def scan(words: Sequence[Word], scope: Scope) -> Scan:
    """The role of each word after the command's name."""
    scanned = Scan(scope)
    line = scope.command.arguments and scope.command.arguments[-1].kind is kinds.LINE
    before = list(scope.command.arguments[:-1]) if line else []
    plain: list[Word] = []
    at, options_end, line_taken = 0, False, False
    while at < len(words):
        word = words[at]
        at += 1
        if not options_end and word.text == "--":
            scanned.use(Role.DASHES, word)
            options_end = True
        elif not options_end and len(word.text) > 1 and word.text.startswith("-"):
            at = _option(scanned, word, words, at)
        elif not options_end and not word.quoted and word.text.startswith(TYPOGRAPHIC_DASHES):
            scanned.use(Role.WRONG, word)
            scanned.problems.append(WordProblem("typographic-dash", word))
        elif not line:
            plain.append(word)
        elif line_taken:  # it was one word, and options followed
            scanned.use(Role.WRONG, word)
            scanned.problems.append(WordProblem("extra-word", word))
        elif argument := _before_line(before, word, scanned):
            scanned.use(Role.ARGUMENT, word, scope.by_name[argument.name])
        else:
            last = scope.by_name[scope.command.arguments[-1].name]
            end = at if _is_whole(word) and _is_option(words[at : at + 1]) else len(words)
            for each in words[at - 1 : end]:
                scanned.use(Role.LINE, each, last)
            at, line_taken = end, True
    _place(scanned, plain)
    for uses in (scanned.uses, *scanned.used.values()):
        uses.sort(key=lambda use: (use.word.span, use.start))
    return scanned


def _is_whole(word: Word) -> bool:
    """Whether a word is not a command but a file, standard input, or a line in quotes: options may
    follow it."""
    return word.text == "-" or any(char in word.text for char in "./ ")


def _is_option(words: Sequence[Word]) -> bool:
    return any(len(word.text) > 1 and word.text.startswith("-") for word in words)


def _before_line(before: list[Argument], word: Word, scanned: Scan) -> Argument | None:
    """The argument before the line's own text that takes this one word; None: the text begins."""
    while before:
        argument = before.pop(0)
        amount = not argument.required and isinstance(argument.kind, kinds.Number)
        if argument.name not in scanned.used and (not amount or _AMOUNT.match(word.text)):
            return argument
    return None


def _option(scanned: Scan, word: Word, words: Sequence[Word], at: int) -> int:
    """Record one option and its value; return the index of the next word."""
    scope = scanned.scope
    spelling, equals, inline = word.text.partition("=")
    following = words[at] if at < len(words) else None
    value = inline if equals else following.text if following else ""
    known = scope.find(spelling, value)
    if known is None:
        scanned.use(Role.WRONG, word)
        scanned.problems.append(WordProblem("unknown-option", word, spelling))
        return at
    option = known.parameter
    scanned.use(Role.OPTION, word, known)
    optional = isinstance(option, Option) and option.value_optional
    if equals:
        if option.kind is kinds.FLAG and not optional:
            scanned.problems.append(WordProblem("flag-value", word, spelling))
        else:
            scanned.use(Role.VALUE, word, known, len(spelling) + 1)
    elif option.kind is not kinds.FLAG and not optional:
        if _alone(option, following):
            scanned.use(Role.VALUE, word, known, len(word.text))
        elif following is None or scope.is_option(following.text):
            scanned.problems.append(WordProblem("missing-value", word, spelling))
        else:
            scanned.use(Role.VALUE, following, known)
            return at + 1
    return at


def _alone(option: Parameter, following: Word | None) -> bool:
    """Whether this use of an option that may be bare has no value."""
    may = isinstance(option, Option) and option.bare
    return may and (following is None or following.text.startswith("-"))


def _place(scanned: Scan, plain: Sequence[Word]) -> None:
    """Assign the words without dashes to the arguments."""
    scope = scanned.scope
    given = set(scanned.used)
    for argument, word in distribute([word.text for word in plain], scope.command, given):
        if argument is None:
            scanned.use(Role.WRONG, plain[word])
            scanned.problems.append(WordProblem("extra-word", plain[word]))
        else:
            scanned.use(Role.ARGUMENT, plain[word], scope.by_name[argument.name])


def distribute(
    words: Sequence[str], command: Command, given: set[str]
) -> list[tuple[Argument | None, int]]:
    """Assign the words to the arguments. `given` are the names that options have already set.

    An argument gets no words if its option sets it, or if another parameter excludes it (`unless`,
    or another member of an `exactly_one` group). Of two arguments that take several words, the
    first gets one (`a,b` selects more), or all the words before the first key=value.
    """
    open_ = [
        a for a in command.arguments if a.kind is not kinds.LINE and is_open(a, command, given)
    ]
    placed: list[tuple[Argument | None, int]] = []
    at = 0
    for index, argument in enumerate(open_):
        later = open_[index + 1 :]
        count = _share(argument, later, words[at:])
        placed += [(argument, at + i) for i in range(count)]
        at += count
    # The rest extends a list that an option began, or is an error: mutually exclusive.
    shut = [a for a in command.arguments if a.kind is not kinds.LINE and a not in open_]
    spare = next((a for a in shut if a.many or a.name not in given), None)
    return placed + [(spare, i) for i in range(at, len(words))]


def is_open(argument: Argument, command: Command, given: set[str]) -> bool:
    """Whether the argument may still take words without dashes."""
    if argument.name in given or any(bare(option) in given for option in argument.unless):
        return False
    groups = [{bare(name) for name in group} for group in command.exactly_one]
    own = {argument.name, bare(argument.option)}
    return not any(own & group and (group - own) & given for group in groups)


def _share(argument: Argument, later: Sequence[Argument], words: Sequence[str]) -> int:
    """How many of the next words the argument takes."""
    free = len(words) - sum(1 for word in later if word.required)
    pairs = any(isinstance(word.kind, kinds.Pair) for word in later)
    if pairs and not isinstance(argument.kind, kinds.Pair):
        keyed = next((i for i, word in enumerate(words) if "=" in word), len(words))
        free = keyed
    if not argument.many or (not pairs and any(word.many for word in later)):
        free = min(free, 1)
    needed = 1 if argument.required and words and not pairs else 0
    return max(min(free, len(words)), needed)
