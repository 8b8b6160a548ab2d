"""Masking of secrets in typed text before it is shown or saved."""

from __future__ import annotations

import re

_WORD = re.compile(
    r"""(?: '[^']*(?:'|$) | "(?:\\.|[^"\\])*(?:"|$) | \\. | [^ \t\r\n'"\\] | \\$ )+""", re.VERBOSE
)
_QUOTES = "'\"\\"
# Words in the names of keys whose value is a secret, including keys of plugins.
SECRET_WORD = (
    r"(?:passw|passphrase|user\.info|(?<![a-z])pwd|secret|credential|jaas|hmac|\btoken|keystore\.key"
    r"|(?:api|access|private|encryption|account|signing)[._-]?key)"
)
# Possessive quantifiers, so that there is no backtracking in a message of a megabyte.
_NAME = re.compile(SECRET_WORD, re.IGNORECASE)
_SET = re.compile(r"(?<![\w.-])([\w.-]++)\s*+=[ \t]*+")
_BARE = re.compile(  # a password without its key, even if the mechanism is misspelled
    r"(?<![\w-])SCRAM[\w-]*+\s*+=\s*+(?!\[?(?:iterations|password)=)", re.IGNORECASE
)
_URL = re.compile(r"://[^/\s:@]*+:(?=[^/\s@]*+@)")  # with a password
_OPTION = re.compile(r"--[\w-]*(?:password|secret|hmac)", re.IGNORECASE)


def has_secret_name(key: str) -> bool:
    """Whether the value of a config key is probably a secret, by its name."""
    names = [name.end() for name in _NAME.finditer(key)]
    rest = key[names[-1] :].lower() if names else ""
    return bool(names) and not any(word in rest for word in ("file", "class", "location", "type"))


def masked(line: str, shown: str = "") -> str:
    """The line with `shown` instead of possible secrets, or one star for each character if empty,
    so that positions in the line stay the same.

    Everything after `password=` in a word is treated as a secret, and the word after `--hmac`.
    """
    pieces, at, secret = [], 0, False
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
            pieces.append(_hidden(raw, 0, shown) if secret and not raw.startswith("-") else raw)
        secret = _OPTION.fullmatch(text) is not None
    return "".join(pieces) + line[at:]


def without_quotes(line: str) -> str:
    """The line without quotes and backslashes, which may be anywhere in the name of a key."""
    return line.translate(dict.fromkeys(map(ord, _QUOTES)))


def _secret_from(text: str) -> int | None:
    """The position of the secret in `...password=secret`, or None."""
    bare = _BARE.search(text)
    starts = [bare.end()] if bare else []
    starts += [found.end() for found in _URL.finditer(text)][:1]
    for found in _SET.finditer(text):
        names = [name.end() for name in _NAME.finditer(found[1])]
        if names and "file" not in found[1][names[-1] :].lower():
            starts.append(found.end())
            break
    return min(starts, default=None)


def _hidden(raw: str, start: int, shown: str) -> str:
    """The word with a mask from `start` on. A closing quote stays if its opening quote does."""
    closing = raw[-1:] if raw[-1:] in ("'", '"') and raw[:start].count(raw[-1:]) % 2 else ""
    secret = raw[start : len(raw) - len(closing)]
    if not secret.strip("'\""):
        return raw
    return raw[:start] + (shown or "*" * len(secret)) + closing
