"""The kinds of audits: controls, tables, and queries of tables."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kafka_shell.language.kind import CandidateSource, Fragment, Kind
from kafka_shell.language.kinds import Words

if TYPE_CHECKING:
    from kafka_shell.view.candidates import Candidate

_WORD = re.compile(r"\w*$")


class _Sql(Kind):
    """A query on audit tables."""

    def last_fragment(self, text: str) -> Fragment:
        """Return the last word; its key is the query so far."""
        word = _WORD.search(text)
        assert word is not None  # can be empty
        return Fragment(word.start(), "sql", text[: word.start()])

    def quoted(self, candidate: Candidate, open_quote: str) -> str:
        # queries contain spaces and single quotes, and may continue after every word
        return candidate.text if open_quote else f'"{candidate.text}'


def _tables() -> CandidateSource:
    from kafka_shell.commands.spark.complete import TABLES

    return TABLES


def _controls() -> CandidateSource:
    from kafka_shell.commands.spark.complete import CONTROLS

    return CONTROLS


def _query() -> CandidateSource:
    from kafka_shell.commands.spark.complete import QUERY

    return QUERY


SQL = _Sql("sql", _query)
AUDIT_TABLE = Words("audit-table", _tables)  # a,b
AUDIT_CONTROL = Words("audit-control", _controls, "NAMES")  # IDs, families and tags: T03,security
