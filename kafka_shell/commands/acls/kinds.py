"""The kinds of ACL rules and operations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafka_shell.errors import did_you_mean
from kafka_shell.language.kind import CandidateSource, Fragment, Kind, invalid
from kafka_shell.language.kinds import Words

if TYPE_CHECKING:
    from kafka_shell.language.command import Parameter
    from kafka_shell.view.candidates import Candidate

_PARTS = ("permission", "principal", "operation", "from", "host")


class _Rule(Kind):
    """`allow User:bob Read,Write from 10.0.0.1` -> the text."""

    def convert(self, parameter: Parameter, text: str) -> str:
        from kafka_shell.commands.acls.rules import parse_rule

        if text:
            parse_rule(text, remove=parameter.name == "--remove")
        return text

    def last_fragment(self, text: str) -> Fragment:
        """Return the last word, or the last operation; its key is the rule so far."""
        from kafka_shell.commands.acls.rules import split_unfinished

        before, last = split_unfinished(text)
        at = last.span[0]
        part = _PARTS[len(before)] if len(before) < len(_PARTS) else "done"
        if part == "operation":
            at = max(at, text.rfind(",") + 1)
        return Fragment(at, part, " ".join(word.text for word in before))

    def quoted(self, candidate: Candidate, open_quote: str) -> str:
        if candidate.tail and not open_quote:
            return f"'{candidate.text}{candidate.tail}"  # rules contain spaces
        return super().quoted(candidate, open_quote)


class _Operations(Words):
    """Read,describe-configs -> "Read,DescribeConfigs"."""

    def convert(self, parameter: Parameter, text: str) -> str:
        from kafka_shell.commands.acls.rules import OPERATIONS, find_operation

        found, at = [], 0
        for part in text.split(","):
            operation = find_operation(part.strip())
            if operation is None:
                raise invalid(
                    parameter,
                    "operations such as Read,Write",
                    part or text,
                    hint=did_you_mean(part, OPERATIONS, f"Operations: {', '.join(OPERATIONS)}."),
                    at=(at, at + len(part)),
                )
            found.append(operation.label)
            at += len(part) + 1
        return ",".join(found)


def _rule() -> CandidateSource:
    from kafka_shell.commands.acls.complete import RULE

    return RULE


ACL_RULE = _Rule("acl-rule", _rule, "RULE")
ACL_OPERATION = _Operations("operation", metavar="OPERATIONS")
