"""Completion in bash, zsh and fish, with the candidates of the prompt from the cache on disk.

At each Tab the completion scripts run kafka.sh with KAFKA_SH_COMPLETE set. It reads the words so
far and prints one candidate per line, with a description after a tab. It never uses the network.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from kafka_shell.base.errors import ShellError
from kafka_shell.base.structs import replace
from kafka_shell.base.text import is_printable, join, quote
from kafka_shell.commands import REGISTRY
from kafka_shell.context import Paths
from kafka_shell.language.argv import split
from kafka_shell.language.command import CONNECTION, PROGRAM
from kafka_shell.language.cursor import CompletionRequest, WordKind, completion_request
from kafka_shell.language.tokens import commands, incomplete_part
from kafka_shell.view.candidates import Candidate, Catalog, offers, options
from kafka_shell.view.disk import view_on_disk

VARIABLE = "KAFKA_SH_COMPLETE"

_QUOTES = re.compile(r"['\"\\$`!]")  # characters with a special meaning in quotes of bash


def candidate_lines(argv: Sequence[str], environ: Mapping[str, str]) -> str:
    """Return the candidates as lines of `word<TAB>description`."""
    shell = environ[VARIABLE]
    if shell == "bash":
        words, current, trim = _of_bash(environ)
        if _open_quote(environ) and (trim or _QUOTES.search(current)):
            return ""
    else:
        words, current, trim = list(argv[:-1]), argv[-1] if argv else "", 0
    try:
        candidates = candidates_for(words, current, environ)
    except ShellError:
        return ""
    if shell != "fish":  # bash and zsh insert the common prefix of all candidates
        candidates = [candidate for candidate in candidates if candidate.text.startswith(current)]
    if shell == "bash" and _open_quote(environ):
        candidates = [candidate for candidate in candidates if not _QUOTES.search(candidate.text)]
    if shell == "bash":
        candidates = [_for_bash(candidate, environ, trim) for candidate in candidates]
    return "".join(f"{each.text}{each.tail}\t{_one_line(each.about)}\n" for each in candidates)


def _for_bash(candidate: Candidate, environ: Mapping[str, str], trim: int) -> Candidate:
    """Return the text that bash inserts after its last word break, quoted."""
    rest = candidate.text[trim:]
    return replace(candidate, text=rest if _open_quote(environ) else quote(rest) if rest else "")


def _open_quote(environ: Mapping[str, str]) -> bool:
    return incomplete_part(_typed(environ)) is not None


def _one_line(about: str) -> str:
    return "".join(char for char in " ".join(about.split()) if is_printable(char))


def candidates_for(
    words: Sequence[str], current: str, environ: Mapping[str, str]
) -> list[Candidate]:
    """Return candidates that replace the word `current` after `words`."""
    from kafka_shell import settings

    paths = Paths.of(environ)
    line = split([*words, _PLACEHOLDER], REGISTRY)
    if _PLACEHOLDER not in line.command:
        return []  # the value of an option of the program: the shell completes files
    command = [word for word in line.command if word != _PLACEHOLDER]
    loaded = settings.load(line.connection, environ, paths.config_file)
    text = "".join(f"{join([word])} " for word in command) + quote(current) * bool(current)
    place = completion_request(
        text, len(text.rstrip("'")) if text.endswith("'") else len(text), REGISTRY
    )
    view = view_on_disk(paths.cache, ",".join(map(str, loaded.connection.bootstrap)))
    catalog = Catalog(view, REGISTRY, paths.config, paths.journal)
    offered = list(offers(place, catalog).offered)
    offered += _program_options(place, current, bool(command))
    # Line breaks and tabs would be read as separators.
    offered = [candidate for candidate in offered if is_printable(candidate.text)]
    head = current[: len(current) - len(place.prefix)] if place.word_kind is WordKind.VALUE else ""
    return [Candidate(head + each.text, each.about, tail=each.tail) for each in offered]


_PLACEHOLDER = "\0"


def _program_options(place: CompletionRequest, current: str, has_command: bool) -> list[Candidate]:
    """Return `--broker`, `--sandbox` ..., which come before the command."""
    if not current.startswith("-") or has_command:
        return []
    return list(options(CONNECTION + PROGRAM, current).offered)


def _of_bash(environ: Mapping[str, str]) -> tuple[list[str], str, int]:
    """Return (words before, word at the cursor, number of its characters that bash keeps).

    Bash splits words at `=` and `:`, and replaces only the text after them.
    """
    typed = _typed(environ)
    words = [word.text for word in commands(typed)[-1].words]
    current = "" if not typed or typed[-1].isspace() else words.pop()
    breaks = set(environ.get("COMP_WORDBREAKS", "=:")) & {"=", ":"}
    trim = max((current.rfind(mark) + 1 for mark in breaks), default=0)
    return words[1:], current, trim


def _typed(environ: Mapping[str, str]) -> str:
    """Return the line up to the cursor."""
    line = environ.get("COMP_LINE", "")
    return line[: int(environ.get("COMP_POINT") or len(line))]
