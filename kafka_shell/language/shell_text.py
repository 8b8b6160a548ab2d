"""Find the end of a pipeline for /bin/sh: the first `;`, `&&` or `||` that is not part of it."""

from __future__ import annotations

import re

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
            command = _word(word, command, closers)
        at = piece.end()
    return at


def _word(word: str, command: bool, closers: list[str]) -> bool:
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
