"""Text to words that know where they stand: POSIX quoting, comments, pipes, files, `!cmd`."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

Span = tuple[int, int]

MOST_WORDS = 100_000  # more of them is a file that was mistaken for a line

_GAP = re.compile(r"(?:\s|\\\r?\n)+")  # a backslash at the end of a line joins two lines
_BARE = re.compile(r"[^\s'\"\\|>/]+")
_SAFE = re.compile(r"[A-Za-z0-9_@%+=:,./-]+")
_NEWLINE = re.compile(r"\r?\n")
_WITHIN = {  # what may change something, by the quote that is open
    "": re.compile(r"['\"\\#]"),
    "'": re.compile("'"),
    '"': re.compile(r"[\"\\]"),
}
# At the start of an item, so that /^svc-\d+/ keeps its backslashes without quotes. It must be
# closed: a path such as /tmp/my\ file is an ordinary word.
_REGEX = re.compile(r"/(?:\\[^\r\n]|[^/\\\s'\"|>])*+/(?=[\s,|>]|\Z)")


@dataclass(frozen=True, slots=True)
class Word:
    """One word. `text` is without quotes; `raw` is as typed; `span` is where, in the line's text.

    `quoted` tells that quotes or backslashes took part. `chunks` (index in `text`, index in the
    line) are the starts of the runs that stand in the line as they are.
    """

    text: str
    raw: str
    span: Span
    quoted: bool = False
    chunks: tuple[tuple[int, int], ...] = field(default=(), repr=False, compare=False)

    def at(self, start: int, end: int | None = None) -> Span:
        """Where `text[start:end]` stands in the line; quotes around the whole are left out."""
        end = len(self.text) if end is None else end
        first = self._source(start)
        last = self._source(end - 1) + 1 if end > start else first
        return first, min(max(first, last), self.span[1])

    def _source(self, index: int) -> int:
        if not self.chunks:
            return min(self.span[0] + index, self.span[1])
        found = max(bisect_right(self.chunks, (index, self.span[1])) - 1, 0)
        text_index, source = self.chunks[found]
        return min(source + index - text_index, self.span[1])


@dataclass(frozen=True, slots=True)
class Redirect:
    """`> file` or `>> file`. `span` is the operator's; `word` is the file's name."""

    path: str
    append: bool
    span: Span
    word: Word


@dataclass(frozen=True, slots=True)
class Open:
    """The text stops in the middle of something: `what` is "quote" or "backslash"."""

    what: str
    span: Span


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong with the line at the level of words. The parser raises it."""

    message: str
    span: Span
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """A line in words. `text` is what every span points into.

    `pipe` is what follows the first unquoted `|`, verbatim, for /bin/sh; `shell` what follows `!`
    at the start. `incomplete` asks for another line. `operators` are the places of `|` and `>`.
    """

    text: str
    words: tuple[Word, ...] = ()
    pipe: str | None = None
    pipe_span: Span | None = None
    redirect: Redirect | None = None
    shell: str | None = None
    comment: Span | None = None
    incomplete: Open | None = None
    problem: Problem | None = None
    operators: tuple[Span, ...] = ()

    @property
    def empty(self) -> bool:
        """Whether there is nothing to do: blanks and comments only."""
        return not (self.words or self.operators or self.shell is not None)


def tokenize(text: str) -> Line:
    """The line's words. Never raises: what is wrong is in `problem` and `incomplete`."""
    incomplete = unfinished(text)
    start = _skip(text, 0)
    if text.startswith("!", start):
        return Line(text, shell=text[start + 1 :].strip(), incomplete=incomplete,
                    operators=((start, start + 1),))  # fmt: skip
    return _Reader(text).read(start, incomplete)


class _Reader:
    """Reads one line from left to right."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.words: list[Word] = []
        self.operators: list[Span] = []
        self.redirect: Redirect | None = None
        self.comment: Span | None = None
        self.problem: Problem | None = None

    def read(self, at: int, incomplete: Open | None) -> Line:
        text, pipe, pipe_span = self.text, None, None
        while at < len(text):
            if text[at] == "#":
                at = self._comment(at)
            elif text[at] == "|":
                pipe, pipe_span = self._pipe(at)
                break
            elif text[at] == ">":
                at = self._redirect(at)
            else:
                word, at = _word(text, at)
                self.words.append(word)
                if len(self.words) > MOST_WORDS:
                    self._wrong(f"the line has more than {MOST_WORDS:,} words", word.span,
                                "Is it a file? source FILE runs its lines.")  # fmt: skip
                    break
            at = _skip(text, at)
        return Line(text, tuple(self.words), pipe, pipe_span, self.redirect, None, self.comment,
                    incomplete, self.problem, tuple(self.operators))  # fmt: skip

    def _wrong(self, message: str, span: Span, hint: str = "") -> None:
        self.problem = self.problem or Problem(message, span, hint)

    def _comment(self, at: int) -> int:
        end = self.text.find("\n", at)
        end = len(self.text) if end < 0 else end
        self.comment = (at, end)
        return end

    def _pipe(self, at: int) -> tuple[str, Span]:
        operator = (at, at + 1)
        self.operators.append(operator)
        rest = self.text[at + 1 :]
        pipe = rest.strip()
        if pipe.startswith("|"):
            self._wrong("'||' is not known here", (at, at + 2), "use | to pipe into a command")
        elif not pipe:
            self._wrong("nothing follows |", operator, "a pipe wants a command: | grep orders")
        elif not self.words:
            self._wrong("nothing stands before |", operator)
        elif self.redirect:
            self._wrong("the answer goes to a file or to a pipe, not to both", operator,
                        "pipe into tee to have both: | tee FILE")  # fmt: skip
        start = at + 1 + len(rest) - len(rest.lstrip())
        return pipe, (start, start + len(pipe))

    def _redirect(self, at: int) -> int:
        text = self.text
        append = text.startswith(">>", at)
        operator = (at, at + 2 if append else at + 1)
        self.operators.append(operator)
        before = self.words[-1] if self.words else None
        if before and before.span[1] == at and before.raw in {"1", "2", "&"}:
            self._wrong(f"'{before.raw}>' is not known here", (before.span[0], operator[1]),
                        "> FILE takes the answer; messages stay on the terminal")  # fmt: skip
        start = _skip(text, operator[1])
        if start >= len(text) or text[start] in "|>#":
            self._wrong(f"no file follows {text[operator[0] : operator[1]]}", operator,
                        "quote > where it is part of a word")  # fmt: skip
            return start
        word, end = _word(text, start)
        if self.redirect:
            self._wrong("a second file for one answer", (operator[0], word.span[1]))
        self.redirect = Redirect(word.text, append, operator, word)
        return end


def _skip(text: str, at: int) -> int:
    gap = _GAP.match(text, at)
    return gap.end() if gap else at


def _word(text: str, start: int) -> tuple[Word, int]:
    """The word that starts here, and where it ends. An unclosed quote reaches to the end."""
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
    while found := _WITHIN['"'].search(text, at):
        at = found.start()
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
    """What follows a backslash outside quotes: itself, or nothing where a line is continued."""
    for newline in ("\r\n", "\n"):
        if text.startswith(newline, at):
            return at + len(newline)
    runs.append((at, min(at + 1, len(text))))
    return min(at + 1, len(text))


def unfinished(text: str) -> Open | None:
    """The quote or trailing backslash that leaves the text open, pipes and `!cmd` included."""
    walk = _Walk()
    walk.feed(text)
    return walk.open


class _Walk:
    """Follows quotes through a text that may come in pieces. The shell's own part is read alike."""

    def __init__(self) -> None:
        self.quote = ""
        self.open: Open | None = None
        self._known_at, self._fresh = 0, True  # whether a word (a comment) may start just there

    def feed(self, text: str) -> None:
        """Walk through `text`; `open` then says what it leaves open, with places in this piece."""
        at, opened, self.open, self._known_at = 0, 0, None, 0
        while at < len(text):
            found = _WITHIN[self.quote].search(text, at)
            if not found:
                break
            place, char = found.start(), found.group()
            if char == "\\":
                at = self._backslash(text, place)
            elif char == "#":
                at = self._hash(text, place)
            else:
                self.quote, opened, at = ("" if self.quote else char), place, place + 1
        if self.quote:
            self.open = Open("quote", (opened, min(opened + 1, len(text))))

    def _backslash(self, text: str, place: int) -> int:
        fresh = self._may_start(text, place)
        newline = _NEWLINE.match(text, place + 1)
        self._fresh = fresh and (newline is not None or place + 1 == len(text))
        self._known_at = newline.end() if newline else place + 2
        if place + 1 == len(text) and not self.quote:
            self.open = Open("backslash", (place, place + 1))
        return self._known_at

    def _hash(self, text: str, place: int) -> int:
        end = text.find("\n", place) if self._may_start(text, place) else place + 1
        return len(text) if end < 0 else end

    def _may_start(self, text: str, place: int) -> bool:
        if place == self._known_at:
            return self._fresh
        before = text[place - 1]
        return before.isspace() or before in "|>"


def logical_lines(lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Physical lines joined while one is open: (number of the first, from 1; the text).

    Each physical line is looked at once, however long the joined one becomes.
    """
    held: list[str] = []
    first, walk = 1, _Walk()
    for number, physical in enumerate(lines, 1):
        if not held:
            first, walk = number, _Walk()
        held.append(physical.rstrip("\r\n"))
        walk.feed(held[-1])
        if walk.open is None:
            yield first, "\n".join(held)
            held = []
    if held:
        yield first, "\n".join(held)


def words_of(argv: Sequence[str]) -> Line:
    """The words of a command line that a shell has already read: no pipes, no comments."""
    text = join(argv)
    words: list[Word] = []
    at = 0
    for _ in argv:
        word, end = _word(text, at)
        words.append(word)
        at = end + 1
    return Line(text, tuple(words))


def quote(text: str) -> str:
    """The word as it must be typed, here and in a POSIX shell."""
    if _SAFE.fullmatch(text):
        return text
    return "'" + text.replace("'", "'\"'\"'") + "'"


def join(words: Iterable[str]) -> str:
    """The line that reads back as these words."""
    return " ".join(quote(word) for word in words)
