"""Find the part of a value that is being typed: after the last comma, or after `=`."""

from __future__ import annotations

import re

from msgspec import Struct

from .command import Kind

_COMMAS = (Kind.TOPIC, Kind.BROKER, Kind.CLIENT_METRICS, Kind.HOST_PORT, Kind.CONFIG_KEYS,
           Kind.CLIENT_CONFIG_KEYS, Kind.QUOTA_KEY, Kind.ACL_OPERATION, Kind.AUDIT_TABLE,
           Kind.AUDIT_CONTROL)  # fmt: skip
_PAIRS = (Kind.CONFIG_PAIR, Kind.PROPERTY, Kind.QUOTA_PAIR, Kind.CLIENT_CONFIG_PAIR,
          Kind.FEATURE_LEVEL)  # fmt: skip
_RULE = ("permission", "principal", "operation", "from", "host")
_PAIR = re.compile(r"\s*([^=,]*)(=)?\s*")
_GROUP = re.compile(r"\[(?:\\.|[^\\\]])*+\]?", re.DOTALL)
_BLANK = re.compile(r"\s*")
_SQL_WORD = re.compile(r"\w*$")


class Fragment(Struct, frozen=True):
    """The fragment at the cursor. `start` is its position in the value.

    `part` is "key" or "value" of key=value; "partition" of topic:partition, whose `key` is the
    topic; "sql", whose `key` is the query so far; "permission",
    "principal", "operation", "from" or "host" of an ACL's rule, whose `key` is the rule so far.
    """

    start: int
    part: str = ""
    key: str = ""


def fragment_of(kind: Kind, text: str) -> Fragment:
    """Return the fragment at the end of a value of this kind."""
    if kind in _PAIRS:
        key, equals, _ = text.partition("=")
        return Fragment(len(key) + 1, "value", key) if equals else Fragment(0, "key")
    if kind is Kind.CONFIG_PAIRS:
        return _last_pair(text)
    if kind is Kind.TOPIC_PARTITIONS:
        topic, colon, listed = text.rpartition(":")
        last = max(listed.rfind(","), listed.rfind("-")) + 1
        return Fragment(len(topic) + 1 + last, "partition", topic) if colon else Fragment(0)
    if kind is Kind.ACL_RULE:
        return _last_of_rule(text)
    if kind is Kind.SQL:
        word = _SQL_WORD.search(text)
        assert word is not None  # can be empty
        return Fragment(word.start(), "sql", text[: word.start()])
    if kind is Kind.ASSIGNMENT:
        return Fragment(max(text.rfind(","), text.rfind(":")) + 1)
    if kind in _COMMAS:
        if kind is not Kind.CONFIG_KEYS and text.startswith("/"):
            return Fragment(0)
        return Fragment(_past_blanks(text, text.rfind(",") + 1))
    return Fragment(0)


def _last_of_rule(text: str) -> Fragment:
    """Return the last word of `allow User:bob Read,Write from 10.0.0.1`, or its last operation."""
    at = max(text.rfind(" "), text.rfind("\t")) + 1
    before = text[:at].split()
    part = _RULE[len(before)] if len(before) < len(_RULE) else "done"
    if part == "operation":
        at = max(at, text.rfind(",") + 1)
    return Fragment(at, part, " ".join(before))


def _past_blanks(text: str, at: int) -> int:
    blank = _BLANK.match(text, at)
    return blank.end() if blank else at


def _last_pair(text: str) -> Fragment:
    """Return the last key or value of k1=v1,k2=[v1,v2], or the last item inside [...]."""
    at = 0
    while True:
        pair = _PAIR.match(text, at)
        assert pair is not None  # every part can be empty
        if not pair[2]:
            comma = text.find(",", pair.start(1))
            if comma < 0:
                return Fragment(pair.start(1), "key")
            at = comma + 1
            continue
        key, start = pair[1].strip(), pair.end()
        group = _GROUP.match(text, start)
        if group and group.end() == len(text) and not _closed(group.group()):
            return Fragment(max(text.rfind(",", start), start) + 1, "value", key)
        comma = text.find(",", group.end() if group else start)
        if comma < 0:
            return Fragment(start, "value", key)
        at = comma + 1


def _closed(group: str) -> bool:
    body = re.sub(r"\\.", "", group, flags=re.DOTALL)
    return body.endswith("]")
