"""Split text into commands and words with their spans: POSIX quoting, comments, `;` `&&` `||`,
pipes, redirects, `!command`."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from kafka_shell.base.structs import replace
from kafka_shell.base.text import join

# Find the end of a pipeline for /bin/sh: the first `;`, `&&` or `||` that is not part of it.

# Just enough syntax to recognize separators inside compound commands of the shell.
_PIECE = re.compile(
    r"""
    (?P<blank> (?:[^\S\n] | \\\r?\n)++ )
  | (?P<newline> \n )
  | (?P<comment> \#[^\n]* )
  | (?P<operator> ;; | ; | && | \|\| | [|&()<>] )
  | (?P<word> (?: \\. | '[^']*+'? | "(?:\\.|[^"\\])*+"? | `(?:\\.|[^`\\])*+`? | \$\{[^}]*+\}?
              | [^\s;&|()<>'"`\\] | \\\Z )++ )
    """,
    re.VERBOSE | re.DOTALL,
)
_OPENS = {"if": "fi", "while": "done", "until": "done", "for": "done", "case": "esac", "{": "}"}
_BEFORE_COMMANDS = ("do", "then", "else", "elif", "!")  # a command may follow
_SEPARATORS = (";", "&&", "||", ";;")


def end_of_pipeline(text: str, at: int) -> int:
    """Return the end of the pipeline that starts at `at`, considering quotes, comments, `( )`, `{
    }`, `if`, `while`, `for` and `case`."""
    closers: list[str] = []
    command = True  # whether a reserved word is possible here
    while at < len(text):
        piece = _PIECE.match(text, at)
        if piece is None:
            return len(text)
        kind, word = piece.lastgroup, piece.group()
        if kind == "operator":
            if not closers and word in _SEPARATORS:
                return at
            if word == "(":
                closers.append(")")
            elif word == ")" and closers and closers[-1] == ")":
                closers.pop()
            command = word not in ("<", ">")
        elif kind == "newline":
            command = True
        elif kind == "word":
            command = _shell_word(word, command, closers)
        at = piece.end()
    return at


def _shell_word(word: str, command: bool, closers: list[str]) -> bool:
    """Process a word of the shell; return whether a reserved word may follow."""
    if not command:
        return False
    if closers and word == closers[-1]:
        closers.pop()
        return False
    if word in _OPENS:
        closers.append(_OPENS[word])
        return word in ("if", "while", "until", "{")
    return word in _BEFORE_COMMANDS


# Detect incomplete lines: open quotes, a trailing backslash, `&&` or `||` at the end.

Span = tuple[int, int]

_NEWLINE = re.compile(r"\r?\n")
_WITHIN = {  # special characters, by the open quote
    "": re.compile(r"['\"\\#]"),
    "'": re.compile("'"),
    '"': re.compile(r"[\"\\]"),
}
_CONTINUATIONS = ("&&", "||")


class IncompletePart(Struct, frozen=True):
    """Why the text is incomplete: `what` is "quote", "backslash" or "operator"."""

    what: str
    span: Span


def incomplete_part(text: str) -> IncompletePart | None:
    """Return the quote, backslash or operator that makes the text incomplete, or None."""
    walk = _Walk()
    walk.feed(text)
    return walk.open


def logical_lines(lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Join incomplete physical lines; yield (number of the first line, from 1; text).

    Takes linear time.
    """
    pending: list[str] = []
    first, walk = 1, _Walk()
    for number, physical in enumerate(lines, 1):
        if not pending:
            first, walk = number, _Walk()
        line = physical.removesuffix("\n")
        bare = line.removesuffix("\r")
        walk.feed(bare)
        # Remove the carriage return of CRLF line ends, except in quotes.
        inside = walk.open is not None and walk.open.what == "quote"
        pending.append(line if inside else bare)
        if walk.open is None:
            yield first, "\n".join(pending)
            pending = []
    if pending:
        yield first, "\n".join(pending)


class _Walk:
    """Follows quotes through a text that is fed in pieces."""

    def __init__(self) -> None:
        self.quote = ""
        self.open: IncompletePart | None = None
        self._known_at, self._fresh = 0, True  # whether a word or comment may start there
        self._operator: Span | None = None  # the last && or || without a following word

    def feed(self, text: str) -> None:
        """Read a piece of text and update `open`, whose span is relative to this piece."""
        at, opened, self.open, self._known_at = 0, 0, None, 0
        read = 0  # end of the text already searched for an operator
        while at < len(text):
            match = _WITHIN[self.quote].search(text, at)
            if not match:
                break
            place, char = match.start(), match.group()
            if not self.quote:
                self._outside(text, read, place)
                read = place
            if char == "\\":
                at = self._backslash(text, place)
                read = at
            elif char == "#":
                comment = self._may_start(text, place)
                at = self._end_of_line(text, place) if comment else place + 1
                read = at if comment else read
            else:
                self.quote, opened, at = ("" if self.quote else char), place, place + 1
                self._operator, read = None, at
        if self.quote:
            self.open = IncompletePart("quote", (opened, min(opened + 1, len(text))))
            return
        self._outside(text, read, len(text))
        if self.open is None and self._operator is not None:
            self.open = IncompletePart("operator", self._operator)

    def _outside(self, text: str, start: int, end: int) -> None:
        """Check whether unquoted text ends with an operator."""
        stretch = text[start:end].rstrip()
        if stretch.strip():
            last = start + len(stretch)
            self._operator = (last - 2, last) if stretch.endswith(_CONTINUATIONS) else None

    def _backslash(self, text: str, place: int) -> int:
        fresh = self._may_start(text, place)
        newline = _NEWLINE.match(text, place + 1)
        self._fresh = fresh and (newline is not None or place + 1 == len(text))
        self._known_at = newline.end() if newline else place + 2
        if place + 1 == len(text) and not self.quote:
            self.open = IncompletePart("backslash", (place, place + 1))
        elif newline is None:
            self._operator = None
        return self._known_at

    def _end_of_line(self, text: str, place: int) -> int:
        end = text.find("\n", place)
        return len(text) if end < 0 else end

    def _may_start(self, text: str, place: int) -> bool:
        if place == self._known_at:
            return self._fresh
        before = text[place - 1]
        return before.isspace() or before in "|>;&"


MAX_WORDS = 100_000  # more words are probably a file

_GAP = re.compile(r"(?:\s|\\\r?\n)+")  # a backslash at the end of a line joins two lines
_BARE = re.compile(r"[^\s'\"\\|>;&/]+")
_ESCAPED = re.compile(r"[\"\\]")  # special characters in double quotes
# At the start of an item, so that /^svc-\d+/ needs no quotes. It must have a closing /, because a
# path such as /tmp/my\ file is an ordinary word.
_REGEX = re.compile(r"/(?:\\[^\r\n]|[^/\\\s'\"|>;&])*+/(?=[\s,|>;&]|\Z)")


# Chat and word processors put them in place of -- and -.
TYPOGRAPHIC_DASHES = tuple("\u2010\u2011\u2012\u2013\u2014\u2015\u2212")


class Word(Struct, frozen=True):
    """A word. `text` is unquoted, `raw` as typed, `span` its position in the line.

    `quoted` is whether it contains quotes or backslashes. `chunks` (index in `text`, index in the
    line) are the starts of the parts that are the same in both.
    """

    text: str
    raw: str
    span: Span
    quoted: bool = False
    chunks: tuple[tuple[int, int], ...] = ()

    def at(self, start: int, end: int | None = None) -> Span:
        """Return the span of `text[start:end]` in the line, without surrounding quotes."""
        end = len(self.text) if end is None else end
        first = self._source(start)
        last = self._source(end - 1) + 1 if end > start else first
        return first, min(max(first, last), self.span[1])

    def _source(self, index: int) -> int:
        if not self.chunks:
            return min(self.span[0] + index, self.span[1])
        position = max(bisect_right(self.chunks, (index, self.span[1])) - 1, 0)
        text_index, source = self.chunks[position]
        return min(source + index - text_index, self.span[1])


class Redirect(Struct, frozen=True):
    """`> file` or `>> file`. `span` is that of the operator; `word` is the file name."""

    path: str
    append: bool
    span: Span
    word: Word


class Problem(Struct, frozen=True):
    """A syntax error of the line. The parser raises it."""

    message: str
    span: Span
    hint: str = ""


class Line(Struct, frozen=True):
    """One command in words. `text` is the whole line, with its other commands: spans point into it.

    `joint` is the operator before it (`;`, `&&`, `||`; empty for the first), at `joint_span`; the
    command itself is at `span`. `pipe` is what follows its first unquoted `|`, verbatim, for
    /bin/sh; `shell` what follows `!` at its start, to the end of the text. `incomplete` asks for
    another line. `operators` are the places of `|`, `>`, `<` and `&`.
    """

    text: str
    words: tuple[Word, ...] = ()
    pipe: str | None = None
    pipe_span: Span | None = None
    redirect: Redirect | None = None
    shell: str | None = None
    comment: Span | None = None
    incomplete: IncompletePart | None = None
    problem: Problem | None = None
    operators: tuple[Span, ...] = ()
    joint: str = ""
    joint_span: Span | None = None
    span: Span = (0, 0)

    @property
    def empty(self) -> bool:
        """Whether the line contains only blanks and comments."""
        return not (self.words or self.operators or self.problem or self.shell is not None)

    @property
    def source(self) -> str:
        """The command as it was typed."""
        return self.text[self.span[0] : self.span[1]].strip()


def commands(text: str) -> tuple[Line, ...]:
    """Return the commands of a line, at least one. Never raises: errors are in `problem` and
    `incomplete`. A `;` at the end is followed by an empty command."""
    lines: list[Line] = []
    joint: Span | None = None
    while True:
        start = joint[1] if joint else 0
        line, at = _Reader(text).read(start)
        line = replace(line, span=(start, at), joint_span=joint,
                       joint=text[slice(*joint)] if joint else "")  # fmt: skip
        if at >= len(text):
            line = replace(line, incomplete=incomplete_part(text))
            return *lines, _check_joint(line, lines, last=True)
        lines.append(_check_joint(line, lines, last=False))
        joint = (at, at + (2 if text[at : at + 2] in ("&&", "||") else 1))


def tokenize(text: str) -> Line:
    """Return the command of a text; if there are several, the first one with a problem."""
    first, *others = commands(text)
    problems = [line.problem for line in (first, *others) if line.problem]
    if not problems and any(not line.empty for line in others):
        problems = [Problem("only one command is allowed here", others[0].joint_span or (0, 0))]
    return replace(first, problem=problems[0]) if problems else first


def part_at(text: str, position: int) -> Line:
    """Return the command of the line at a position."""
    parts = commands(text)
    return next((part for part in reversed(parts) if part.span[0] <= position), parts[0])


def _check_joint(line: Line, before: Sequence[Line], *, last: bool) -> Line:
    """Add a problem if a command next to an operator is missing."""
    if not line.empty:
        return line
    if last and line.joint in ("&&", "||"):
        wrong = Problem(f"no command after {line.joint}", line.joint_span or line.span)
        return replace(line, problem=wrong)
    if not last:
        at = line.span[1]
        mark = line.text[at : at + 2]
        mark = mark if mark in ("&&", "||", ";;") else mark[:1]
        hint = "Quote it as part of a word." if not before else ""
        wrong = Problem(f"no command before {mark}", (at, at + len(mark)), hint)
        return replace(line, problem=wrong)
    return line


class _Reader:
    """Reads one command from left to right."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.words: list[Word] = []
        self.operators: list[Span] = []
        self.redirect: Redirect | None = None
        self.comment: Span | None = None
        self.problem: Problem | None = None

    def read(self, at: int) -> tuple[Line, int]:
        """Return the command that starts here, and its end."""
        text, pipe, pipe_span = self.text, None, None
        at = _skip(text, at)
        if text.startswith("!", at):
            return Line(text, shell=text[at + 1 :].strip(), operators=((at, at + 1),)), len(text)
        while at < len(text) and not _separates(text, at):
            if text[at] == "#":
                at = self._comment(at)
            elif text[at] == "|":
                pipe, pipe_span, at = self._pipe(at)
            elif text[at] == ">":
                at = self._redirect(at)
            elif text[at] == "&":
                at = self._ampersand(at)
            elif text[at] == "<":
                at = self._input(at)
            else:
                word, at = _word(text, at)
                self.words.append(word)
                if len(self.words) > MAX_WORDS:
                    self._wrong(f"the line has more than {MAX_WORDS:,} words", word.span,
                                "To run the lines of a file, use source FILE.")  # fmt: skip
                    at = len(text)
            at = _skip(text, at)
        line = Line(text, tuple(self.words), pipe, pipe_span, self.redirect, None, self.comment,
                    None, self.problem, tuple(self.operators))  # fmt: skip
        return line, at

    def _wrong(self, message: str, span: Span, hint: str = "") -> None:
        self.problem = self.problem or Problem(message, span, hint)

    def _comment(self, at: int) -> int:
        end = self.text.find("\n", at)
        end = len(self.text) if end < 0 else end
        self.comment = (at, end)
        return end

    def _pipe(self, at: int) -> tuple[str, Span, int]:
        operator = (at, at + 1)
        self.operators.append(operator)
        end = end_of_pipeline(self.text, at + 1)
        rest = self.text[at + 1 : end]
        pipe = rest.strip()
        if not pipe:
            self._wrong("no command after |", operator, "Add a program, for example: | grep orders")
        elif not self.words:
            self._wrong("no command before |", operator)
        elif self.redirect:
            self._wrong("> cannot be used with a pipe", operator,
                        "Use tee to write to a file and a pipe: | tee FILE")  # fmt: skip
        start = at + 1 + len(rest) - len(rest.lstrip())
        return pipe, (start, start + len(pipe)), end

    def _ampersand(self, at: int) -> int:
        mark = "&>" if self.text.startswith("&>", at) else "&"
        hint = "Quote & as part of a word, or use && to run commands one after another."
        if mark == "&>":
            hint = "Use > FILE to redirect the result. Messages cannot be redirected."
        self._wrong(f"'{mark}' is not supported", (at, at + len(mark)), hint)
        self.operators.append((at, at + len(mark)))
        return at + len(mark)

    def _input(self, at: int) -> int:
        self._wrong("'<' is not supported", (at, at + 1),
                    "Name the file in an option of the command, or quote < as part of a word.",
                    )  # fmt: skip
        self.operators.append((at, at + 1))
        return at + 1

    def _redirect(self, at: int) -> int:
        text = self.text
        append = text.startswith(">>", at)
        operator = (at, at + 2 if append else at + 1)
        self.operators.append(operator)
        before = self.words[-1] if self.words else None
        if before and before.span[1] == at and before.raw in {"1", "2"}:
            self._wrong(
                f"'{before.raw}>' is not supported",
                (before.span[0], operator[1]),
                "Use > FILE to redirect the result. Messages cannot be redirected.",
            )
        start = _skip(text, operator[1])
        if start >= len(text) or text[start] in "|>#;&":
            self._wrong(f"no file after {text[operator[0] : operator[1]]}", operator,
                        "Quote > as part of a word.")  # fmt: skip
            return start
        word, end = _word(text, start)
        if self.redirect:
            self._wrong("more than one redirect", (operator[0], word.span[1]))
        self.redirect = Redirect(word.text, append, operator, word)
        return end


def _separates(text: str, at: int) -> bool:
    return text[at] == ";" or text[at : at + 2] in ("&&", "||")


def _skip(text: str, at: int) -> int:
    gap = _GAP.match(text, at)
    return gap.end() if gap else at


def _word(text: str, start: int) -> tuple[Word, int]:
    """Return the word that starts here, and its end. An unclosed quote extends to the end."""
    runs: list[Span] = []
    at, quoted = start, False
    while at < len(text):
        char = text[at]
        if char in "'\"":
            quoted = True
            at = (_single if char == "'" else _double)(text, at + 1, runs)
        elif char == "\\":
            quoted = True
            at = _escape(text, at + 1, runs)
        elif char == "/":
            regex = _REGEX.match(text, at) if _starts_item(text, start, at) else None
            end = regex.end() if regex else at + 1
            runs.append((at, end))
            at = end
        elif bare := _BARE.match(text, at):
            runs.append(bare.span())
            at = bare.end()
        else:
            break
    chunks, index, parts = [], 0, []
    for first, last in runs:
        if quoted:
            chunks.append((index, first))
        parts.append(text[first:last])
        index += last - first
    span = (start, at)
    return Word("".join(parts), text[start:at], span, quoted, tuple(chunks)), at


def _starts_item(text: str, start: int, at: int) -> bool:
    before = text[at - 1] if at > start else ","
    return before == "," or (before == "=" and text[start] == "-")


def _single(text: str, at: int, runs: list[Span]) -> int:
    end = text.find("'", at)
    stop = len(text) if end < 0 else end
    runs.append((at, stop))
    return stop if end < 0 else end + 1


def _double(text: str, at: int, runs: list[Span]) -> int:
    start = at
    while match := _ESCAPED.search(text, at):
        at = match.start()
        if text[at] == '"':
            runs.append((start, at))
            return at + 1
        escaped = text[at + 1 : at + 2]
        if escaped and escaped in '$`"\\\n':
            runs.append((start, at))
            start = at + 2 if escaped == "\n" else at + 1
        at += 2
    runs.append((start, len(text)))
    return len(text)


def _escape(text: str, at: int, runs: list[Span]) -> int:
    """Read the character after a backslash outside quotes; skip a line break."""
    for newline in ("\r\n", "\n"):
        if text.startswith(newline, at):
            return at + len(newline)
    runs.append((at, min(at + 1, len(text))))
    return min(at + 1, len(text))


def words_of(argv: Sequence[str]) -> Line:
    """Return a line of words that a shell has already split, without pipes or comments."""
    text = join(argv)
    words: list[Word] = []
    at = 0
    for _ in argv:
        word, end = _word(text, at)
        # The user has probably not quoted it, unless it is a sentence.
        if word.text.startswith(TYPOGRAPHIC_DASHES) and len(word.text.split()) == 1:
            word = Word(word.text, word.raw, word.span, chunks=word.chunks)
        words.append(word)
        at = end + 1
    return Line(text, tuple(words))
