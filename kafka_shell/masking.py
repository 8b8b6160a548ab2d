"""Secrets in text that people typed, before it is shown or written down."""

from __future__ import annotations

import re

_WORD = re.compile(
    r"""(?: '[^']*(?:'|$) | "(?:\\.|[^"\\])*(?:"|$) | \\. | [^ \t\r\n'"\\] | \\$ )+""", re.VERBOSE
)
# Words in the names of keys whose value is a secret, also of plugins that Kafka does not know.
SECRET_WORD = (
    r"(?:passw|passphrase|(?<![a-z])pwd|secret|credential|jaas|hmac|\btoken|keystore\.key"
    r"|(?:api|access|private|encryption|account|signing)[._-]?key)"
)
# Neither a run of name characters nor one of blanks is ever given back: a message of a megabyte is
# masked in one pass.
_NAME = re.compile(SECRET_WORD, re.IGNORECASE)
_SET = re.compile(r"(?<![\w.-])([\w.-]++)\s*+=[ \t]*+")
_BARE = re.compile(  # a password without its key, also where the mechanism is misspelled
    r"(?<![\w-])SCRAM[\w-]*+\s*+=\s*+(?!\[?(?:iterations|password)=)", re.IGNORECASE
)
_OPTION = re.compile(r"--[\w-]*(?:password|secret|hmac)", re.IGNORECASE)


def masked(line: str, shown: str = "") -> str:
    """The line with `shown` for what may be a secret; without it a star a character, so that
    places in the line stay.

    All that follows `password=` in a word is taken for one, and the word after `--hmac`.
    """
    pieces, at, secret = [], 0, False
    for word in _WORD.finditer(line):
        raw = word.group()
        pieces.append(line[at : word.start()])
        at = word.end()
        start = _secret_from(raw)
        if start is not None:
            pieces.append(raw[:start] + _hidden(raw[start:], shown))
        else:
            pieces.append(_hidden(raw, shown) if secret and not raw.startswith("-") else raw)
        secret = _OPTION.fullmatch(raw) is not None
    return "".join(pieces) + line[at:]


def _secret_from(raw: str) -> int | None:
    """Where the secret of `...password=secret` begins."""
    bare = _BARE.search(raw)
    starts = [bare.end()] if bare else []
    for found in _SET.finditer(raw):
        names = [name.end() for name in _NAME.finditer(found[1])]
        if names and "file" not in found[1][names[-1] :].lower():
            starts.append(found.end())
            break
    return min(starts, default=None)


def _hidden(raw: str, shown: str) -> str:
    """What stands for all but a quote that closes."""
    body = raw.rstrip("'\"")
    return (shown if shown and body else "*" * len(body)) + raw[len(body) :]
