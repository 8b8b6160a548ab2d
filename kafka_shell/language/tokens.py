"""Text to commands, and those to words that know where they stand: POSIX quoting, comments,
`;` `&&` `||`, pipes, files, `!cmd`."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from kafka_shell.quoting import join

from .logical_lines import Open, Span, unfinished

MOST_WORDS = 100_000  # more of them is a file that was mistaken for a line

_GAP = re.compile(r"(?:\s|\\\r?\n)+")  # a backslash at the end of a line joins two lines
_BARE = re.compile(r"[^\s'\"\\|>;&/]+")
_ESCAPED = re.compile(r"[\"\\]")  # what may change something between double quotes
# At the start of an item, so that /^svc-\d+/ keeps its backslashes without quotes. It must be
# closed: a path such as /tmp/my\ file is an ordinary word.
_REGEX = re.compile(r"/(?:\\[^\r\n]|[^/\\\s'\"|>;&])*+/(?=[\s,|>;&]|\Z)")


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
class Problem:
    """What is wrong with the line at the level of words. The parser raises it."""

    message: str
    span: Span
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """One command in words. `text` is the whole line, with its other commands: spans point into it.

    `joint` is the operator before it (`;`, `&&`, `||`; empty for the first), at `joint_span`; the
    command itself is at `span`. `pipe` is what follows its first unquoted `|`, verbatim, for
    /bin/sh; `shell` what follows `!` at its start, to the end of the text. `incomplete` asks for
    another line. `operators` are the places of `|` and `>`.
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
    joint: str = ""
    joint_span: Span | None = None
    span: Span = (0, 0)

    @property
    def empty(self) -> bool:
        """Whether there is nothing to do: blanks and comments only."""
        return not (self.words or self.operators or self.problem or self.shell is not None)

    @property
    def source(self) -> str:
        """The command as it was typed."""
        return self.text[self.span[0] : self.span[1]].strip()


def commands(text: str) -> tuple[Line, ...]:
    """The commands of a line, at least one. Never raises: what is wrong is in `problem` and
    `incomplete`. After a `;` at the end there is one more, which is empty."""
    found: list[Line] = []
    joint: Span | None = None
    while True:
        start = joint[1] if joint else 0
        line, at = _Reader(text).read(start)
        line = replace(line, span=(start, at), joint_span=joint,
                       joint=text[slice(*joint)] if joint else "")  # fmt: skip
        if at >= len(text):
            line = replace(line, incomplete=unfinished(text))
            return *found, _lacking(line, found, last=True)
        found.append(_lacking(line, found, last=False))
        joint = (at, at + (2 if text[at : at + 2] in ("&&", "||") else 1))


def tokenize(text: str) -> Line:
    """The only command of a text; where there are several, the first, with a problem."""
    first, *others = commands(text)
    problems = [each.problem for each in (first, *others) if each.problem]
    if not problems and any(not each.empty for each in others):
        problems = [Problem("only one command may stand here", others[0].joint_span or (0, 0))]
    return replace(first, problem=problems[0]) if problems else first


def part_at(text: str, position: int) -> Line:
    """The command of the line that the position is in."""
    parts = commands(text)
    return next((each for each in reversed(parts) if each.span[0] <= position), parts[0])


def _lacking(line: Line, before: Sequence[Line], *, last: bool) -> Line:
    """The command, with a problem where an operator beside it has nothing to join."""
    if not line.empty:
        return line
    if last and line.joint in ("&&", "||"):
        wrong = Problem(f"nothing follows {line.joint}", line.joint_span or line.span)
        return replace(line, problem=wrong)
    if not last:
        at = line.span[1]
        mark = line.text[at : at + 2]
        mark = mark if mark in ("&&", "||", ";;") else mark[:1]
        hint = "Quote it where it is part of a word." if not before else ""
        wrong = Problem(f"nothing stands before {mark}", (at, at + len(mark)), hint)
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
        """The command that starts here, and where it ends: at an operator or the text's end."""
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
            else:
                word, at = _word(text, at)
                self.words.append(word)
                if len(self.words) > MOST_WORDS:
                    self._wrong(f"the line has more than {MOST_WORDS:,} words", word.span,
                                "Is it a file? source FILE runs its lines.")  # fmt: skip
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
        from .shell_text import end_of_pipeline

        operator = (at, at + 1)
        self.operators.append(operator)
        end = end_of_pipeline(self.text, at + 1)
        rest = self.text[at + 1 : end]
        pipe = rest.strip()
        if not pipe:
            self._wrong("nothing follows |", operator, "a pipe wants a command: | grep orders")
        elif not self.words:
            self._wrong("nothing stands before |", operator)
        elif self.redirect:
            self._wrong("the answer goes to a file or to a pipe, not to both", operator,
                        "pipe into tee to have both: | tee FILE")  # fmt: skip
        start = at + 1 + len(rest) - len(rest.lstrip())
        return pipe, (start, start + len(pipe)), end

    def _ampersand(self, at: int) -> int:
        mark = "&>" if self.text.startswith("&>", at) else "&"
        hint = "Quote & where it is part of a word; && runs one command after another."
        if mark == "&>":
            hint = "> FILE takes the answer; messages stay on the terminal"
        self._wrong(f"'{mark}' is not known here", (at, at + len(mark)), hint)
        self.operators.append((at, at + len(mark)))
        return at + len(mark)

    def _redirect(self, at: int) -> int:
        text = self.text
        append = text.startswith(">>", at)
        operator = (at, at + 2 if append else at + 1)
        self.operators.append(operator)
        before = self.words[-1] if self.words else None
        if before and before.span[1] == at and before.raw in {"1", "2"}:
            self._wrong(f"'{before.raw}>' is not known here", (before.span[0], operator[1]),
                        "> FILE takes the answer; messages stay on the terminal")  # fmt: skip
        start = _skip(text, operator[1])
        if start >= len(text) or text[start] in "|>#;&":
            self._wrong(f"no file follows {text[operator[0] : operator[1]]}", operator,
                        "quote > where it is part of a word")  # fmt: skip
            return start
        word, end = _word(text, start)
        if self.redirect:
            self._wrong("a second file for one answer", (operator[0], word.span[1]))
        self.redirect = Redirect(word.text, append, operator, word)
        return end


def _separates(text: str, at: int) -> bool:
    return text[at] == ";" or text[at : at + 2] in ("&&", "||")


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
    while found := _ESCAPED.search(text, at):
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
