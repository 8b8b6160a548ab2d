"""Where text that is meant for /bin/sh ends: at the `;`, `&&` or `||` that is not its own."""

from __future__ import annotations

import re

# Only what tells a separator of this line from one inside a compound command of the shell's.
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
_GOES_ON = ("do", "then", "else", "elif", "!")  # a command may follow
_SEPARATORS = (";", "&&", "||", ";;")


def end_of_pipeline(text: str, at: int) -> int:
    """Where the pipeline that starts at `at` ends: quotes, comments, `( )`, `{ }`, `if`, `while`,
    `for` and `case` are looked through."""
    closers: list[str] = []
    command = True  # whether a reserved word may stand here
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
            command = _word(word, command, closers)
        at = piece.end()
    return at


def _word(word: str, command: bool, closers: list[str]) -> bool:
    """Note a word of the shell's; whether a reserved word may follow it."""
    if not command:
        return False
    if closers and word == closers[-1]:
        closers.pop()
        return False
    if word in _OPENS:
        closers.append(_OPENS[word])
        return word in ("if", "while", "until", "{")
    return word in _GOES_ON
