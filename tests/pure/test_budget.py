"""A ceiling of lines of code for the program, and one with some air for each folder. Who needs more
in one place takes it from another; whoever makes the program smaller lowers the ceilings."""

from __future__ import annotations

import ast
import io
import tokenize
from collections import Counter

from tests.support.places import PACKAGE

# Without blank lines, comments, docstrings and imports, so that nobody gains by deleting those.
SUM = 61190
LINES = {
    ".": 1360, "admin": 19060, "advice": 1150, "audit": 5660, "base": 1600, "clients": 800,
    "commands": 15000, "language": 2050, "output": 2680, "pasted": 750, "run": 1350,
    "sandbox": 2250, "shell": 1950, "view": 1000, "wire": 4900,
}  # fmt: skip
FILES = 442
LONGEST = 900  # lines of a file, with everything
_NOISE = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
    tokenize.ENDMARKER,
}  # fmt: skip


def code_lines(source: str) -> int:
    """The lines of code of a module."""
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in _NOISE:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(source)):
        docstring = (
            isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
        )
        if docstring or isinstance(node, ast.Import | ast.ImportFrom):
            lines.difference_update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return len(lines)


def test_each_folder_is_within_its_budget() -> None:
    found: Counter[str] = Counter()
    for path in PACKAGE.rglob("*.py"):
        folder = "." if path.parent == PACKAGE else path.relative_to(PACKAGE).parts[0]
        found[folder] += code_lines(path.read_text())
    over = {folder: lines for folder, lines in found.items() if lines > LINES.get(folder, 0)}
    assert not over, f"{over} lines, {LINES}"
    assert found.total() <= SUM, f"{found.total()} lines: {dict(found)}"


def test_there_are_not_more_files_and_none_is_too_long() -> None:
    files = list(PACKAGE.rglob("*.py"))
    assert len(files) <= FILES
    too_long = [str(path) for path in files if path.read_text().count("\n") > LONGEST]
    assert not too_long
