"""Text: parts of it, escaping of what comes from clusters and files, quoting of words, and masking
of secrets."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile

# Parts of texts: the beginning of a long one, and what several begin with.


def short(text: str) -> str:
    """At most 60 characters of a text, for a message."""
    return text if len(text) <= 60 else text[:57] + "..."


def common_prefix(words: Sequence[str]) -> str:
    """What all the words begin with. (Python 3.15 deprecates os.path.commonprefix.)"""
    pairs = zip(min(words, default=""), max(words, default=""), strict=False)
    return "".join(one for one, other in takewhile(lambda pair: pair[0] == pair[1], pairs))


# Escaping of text from clusters and files: characters that control a terminal (C0, C1, DEL), are
# invisible (zero width, blank) or change the direction (bidi) are written as escapes.

_MAX_QUOTE = 1_000  # characters


# Letters, marks and symbols that are not drawn: what Unicode calls default-ignorable, besides the
# characters that Python does not call printable, the blank of Braille, a filler of Khitan, and the
# null notehead.
_INVISIBLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u2800\u3164\ufe00-\ufe0f\uffa0"
    "\U00016fe4\U0001d159\U000e0100-\U000e01ef]"
)


def is_printable(text: str) -> bool:
    """Return whether all characters of the text are visible, or blanks."""
    return text.isprintable() and (text.isascii() or _INVISIBLE.search(text) is None)


def escape(value: str) -> str:
    r"""The text with characters that are not printable as escapes: `\x1b`, `\n`, `\u202e`."""
    return value if is_printable(value) else value.translate(_ESCAPES)


def printable(value: str) -> str:
    """Like `escape`, but line breaks and tabs are kept."""
    return value if is_printable(value) else value.translate(_ESCAPES_IN_LINES)


def quoted(value: str) -> str:
    """Text of another program in quotes and on one line, shortened if very long, so that it cannot
    be mistaken for an `error:` or `hint:` of this program."""
    short = value if len(value) <= _MAX_QUOTE else value[:_MAX_QUOTE] + "…"
    return '"' + escape(short).replace('"', "'") + '"'


class _Escapes(dict[int, int | str]):
    """Maps a character to its escape, or to itself. Only ASCII is kept: a text may have all."""

    def __missing__(self, code: int) -> int | str:
        if is_printable(chr(code)):
            return code
        if code <= 0xFF:
            return f"\\x{code:02x}"
        return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


_ESCAPES = _Escapes({code: _Escapes()[code] for code in range(0x80)})
_ESCAPES.update({ord("\n"): r"\n", ord("\t"): r"\t", ord("\r"): r"\r"})
_ESCAPES_IN_LINES = _Escapes(_ESCAPES | {ord("\n"): "\n", ord("\t"): "\t"})


# Quoting of words in command lines that this program generates: undo lines, hints, completion.
#
# Names from a cluster are quoted for POSIX shells, whose rules this shell shares, and placed so
# that a name that starts with `-` is not parsed as an option.

# A comma at the end of a word may be read as punctuation, as in `user alice, client-id app`.
_SAFE = re.compile(r"[A-Za-z0-9_@%+=:,./-]*[A-Za-z0-9_@%+=:./-]")


def quote(text: str) -> str:
    """The text as one word. Use `with_option` or `positional` if it may start with `-`."""
    if _SAFE.fullmatch(text):
        return text
    return "'" + quote_rest(text, "'") + "'"


def quote_rest(text: str, open_quote: str) -> str:
    """The text as the rest of a word after an open quote, without the closing one."""
    if open_quote == "'":
        return text.replace("'", "'\"'\"'")
    return re.sub(r'[\\"$`]', r"\\\g<0>", text)


def join(words: Iterable[str]) -> str:
    """The command line that is parsed to these words."""
    return " ".join(quote(word) for word in words)


def with_option(option: str, value: str) -> str:
    """`--group orders`, or `--group=--yes` if the value would be parsed as an option."""
    return f"{option}{'=' if value.startswith('-') else ' '}{quote(value)}"


def entity_parts(entity: str) -> Iterator[tuple[str, str | None]]:
    """The types and names of `user alice client-id-default`; None for a default."""
    words = iter(shlex.split(entity))
    return ((kind, None if kind.endswith("-default") else next(words)) for kind in words)


def positional(option: str, value: str) -> str:
    """The value, or the equivalent option with the value if it would be parsed as an option.

    Use "--" for commands without such an option: all words after it are positional.
    """
    if not value.startswith("-"):
        return quote(value)
    return f"-- {quote(value)}" if option == "--" else with_option(option, value)


_PATTERN = re.compile(r"[,*?\[]|^[/-]")


def naming(option: str, name: str) -> str:
    """The word that names a resource of any name in a command whose words select: the name, or the
    option with it if the name would be parsed as a pattern or as an option."""
    return f"{option}={name}" if _PATTERN.search(name) else name


def literal(option: str, name: str) -> str:
    """As `naming`, quoted."""
    return with_option(option, name) if _PATTERN.search(name) else quote(name)


def named(name: str) -> str:
    """The name of a group in a message or table; `''` for the empty one."""
    return name or "''"


# Masking of secrets in typed text before it is shown or saved.

_WORD = re.compile(
    r"""(?: '[^']*(?:'|$) | "(?:\\.|[^"\\])*(?:"|$) | \\. | [^ \t\r\n'"\\] | \\$ )+""", re.VERBOSE
)
_QUOTES = "'\"\\"
# Words in the names of keys whose value is a secret, including keys of plugins.
SECRET_WORD = (
    r"(?:passw|passphrase|user\.info|(?<![a-z])pwd|secret|credential|jaas|hmac|webhook|\btoken|keystore\.key"
    r"|(?:api|access|private|encryption|account|signing)[._-]?key)"
)
# Possessive quantifiers, so that there is no backtracking in a message of a megabyte.
_NAME = re.compile(SECRET_WORD, re.IGNORECASE)
_SET = re.compile(r"(?<![\w.-])([\w.-]++)\s*+=[ \t]*+")
_BARE = re.compile(  # a password without its key, even if the mechanism is misspelled
    r"(?<![\w-])SCRAM[\w-]*+\s*+=\s*+(?!\[?(?:iterations|password)=)", re.IGNORECASE
)
_URL = re.compile(r"://[^/\s:@]*+:(?=[^/\s@]*+@)")  # with a password
_OPTION = re.compile(r"--[\w-]*(?:password|secret|hmac|(webhook))", re.IGNORECASE)


def has_secret_name(key: str) -> bool:
    """Whether the value of a config key is probably a secret, by its name."""
    names = [name.end() for name in _NAME.finditer(key)]
    rest = key[names[-1] :].lower() if names else ""
    return bool(names) and not any(word in rest for word in ("file", "class", "location", "type"))


def masked(line: str, shown: str = "") -> str:
    """The line with `shown` instead of possible secrets, or one star for each character if empty,
    so that positions in the line stay the same.

    Everything after `password=` in a word is treated as a secret, and the word after `--hmac`,
    or the URL after `--webhook`.
    """
    pieces, at = [], 0
    option: re.Match[str] | None = None
    for word in _WORD.finditer(line):
        raw = word.group()
        pieces.append(line[at : word.start()])
        at = word.end()
        kept = [index for index, char in enumerate(raw) if char not in _QUOTES]
        text = "".join([raw[index] for index in kept])
        start = _secret_from(text)
        if start is not None:
            pieces.append(_hidden(raw, kept[start - 1] + 1, shown))
        else:
            secret = option and not raw.startswith("-") and (not option[1] or "://" in text)
            pieces.append(_hidden(raw, 0, shown) if secret else raw)
        option = _OPTION.fullmatch(text)
    return "".join(pieces) + line[at:]


def without_quotes(line: str) -> str:
    """The line without quotes and backslashes, which may be anywhere in the name of a key."""
    return line.translate(dict.fromkeys(map(ord, _QUOTES)))


def _secret_from(text: str) -> int | None:
    """The position of the secret in `...password=secret`, or None."""
    bare = _BARE.search(text)
    starts = [bare.end()] if bare else []
    starts += [match.end() for match in _URL.finditer(text)][:1]
    for match in _SET.finditer(text):
        names = [name.end() for name in _NAME.finditer(match[1])]
        if names and "file" not in match[1][names[-1] :].lower():
            starts.append(match.end())
            break
    return min(starts, default=None)


def _hidden(raw: str, start: int, shown: str) -> str:
    """The word with a mask from `start` on. A closing quote stays if its opening quote does."""
    closing = raw[-1:] if raw[-1:] in ("'", '"') and raw[:start].count(raw[-1:]) % 2 else ""
    secret = raw[start : len(raw) - len(closing)]
    if not secret.strip("'\""):
        return raw
    return raw[:start] + (shown or "*" * len(secret)) + closing


_ITEM = re.compile(r"<\s*(?:li|dt|dd|tr)\b[^>]*>", re.IGNORECASE)
_BREAK = re.compile(r"<\s*(?:br|/?p|/?ul|/?ol|/?dl|/?table|/tr|/?div)\b[^>]*>", re.IGNORECASE)
_BLANKS = re.compile(r"[^\S\n]+")
_TAG = re.compile(r"</?[a-zA-Z][^<>]*>")
_LINE_BREAKS = re.compile(r"\s*\n\s*")


def text_of_html(html: str) -> str:
    """Return the text without tags: a line per paragraph, a dash per item. `a < b` is kept."""
    from html import unescape

    text = html.replace("\n", " ")
    text = _ITEM.sub("\n- ", _BREAK.sub("\n", text))
    text = _BLANKS.sub(" ", unescape(_TAG.sub("", text)))
    text = "".join(char for char in text if char == "\n" or is_printable(char))
    return _LINE_BREAKS.sub("\n", text).strip()
