"""Parse ACL rules: `allow User:bob Read,Write from 10.0.0.1 on topic t`.

ACLs are printed in the same form. Rules to remove can be filters: `any User:bob Any on any topic`,
`any any Read`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress

from msgspec import Struct

from kafka_shell.admin.acls.model import (
    CLUSTER_NAME,
    AclBinding,
    AclFilter,
    AclOperation,
    AclPermission,
    AclResourceType,
    PatternType,
)
from kafka_shell.base.errors import UsageError, did_you_mean
from kafka_shell.commands import by_name
from kafka_shell.language.command import Parameter
from kafka_shell.language.kinds import Fragment, Kind, Words, in_view, invalid
from kafka_shell.language.tokens import Span

FORM = "allow|deny PRINCIPAL OPERATIONS [from HOSTS] [on RESOURCE]"
_PERMISSIONS = {"allow": AclPermission.ALLOW, "deny": AclPermission.DENY}
_ANY_PERMISSION = {"any": AclPermission.ANY}
OPERATIONS = {each.label: each for each in AclOperation if each > AclOperation.ANY}
RESOURCE_TYPES = {type_.kind: type_ for type_ in AclResourceType if type_ > AclResourceType.ANY}
# The options that name resources, without dashes; --user is a principal elsewhere.
RESOURCE_OPTIONS = {
    "user-principal" if kind == "user" else kind: type for kind, type in RESOURCE_TYPES.items()
}
_PATTERNS = {each.name.lower(): each for each in PatternType if each is not PatternType.UNKNOWN}
_SPECIFIC = ("literal", "prefixed")
_PIECE = re.compile(r"""'([^']*)'|"((?:\\.|[^"\\])*)"|\\(.)|([^\s'"\\]+)""", re.DOTALL)


class Target(Struct, frozen=True):
    """A resource pattern. Without a name it matches every resource of the type (in a filter)."""

    type: AclResourceType
    name: str | None
    pattern: PatternType = PatternType.LITERAL


class Rule(Struct, frozen=True):
    """A parsed rule. Without hosts or principal it matches all of them (in a filter)."""

    permission: AclPermission
    principal: str | None
    operations: tuple[AclOperation, ...]
    hosts: tuple[str, ...] = ("*",)
    target: Target | None = None

    def bindings(self, targets: Iterable[Target]) -> Iterator[AclBinding]:
        """Yield the ACLs on the resource of the rule, or on these resources."""
        for target in (self.target,) if self.target else targets:
            for operation in self.operations:
                for host in self.hosts:
                    yield AclBinding(
                        self.principal or "", host, operation, self.permission, target.type,
                        target.name or "", target.pattern,
                    )  # fmt: skip

    def filters(self, targets: Iterable[Target]) -> Iterator[AclFilter]:
        """Yield the filters that match the ACLs to remove."""
        for target in (self.target,) if self.target else targets:
            for operation in self.operations:
                for host in self.hosts or (None,):
                    yield AclFilter(
                        self.principal, host, operation, self.permission, target.type,
                        target.name, target.pattern,
                    )  # fmt: skip


def parse_rule(text: str, *, remove: bool = False) -> Rule:
    """Parse a rule. Raises UsageError with a span relative to the text."""
    return _Reader(text, split_words(text), remove).rule()


def find_operation(text: str, *, remove: bool = False) -> AclOperation | None:
    """Return the operation of a name: Read, READ, DescribeConfigs, describe-configs."""
    known = {**OPERATIONS, "Any": AclOperation.ANY} if remove else OPERATIONS
    plain = re.sub(r"[-_\s]", "", text).lower()
    return next((each for name, each in known.items() if name.lower() == plain), None)


# -- words -----------------------------------------------------------------------------------------


class Word(Struct, frozen=True):
    """A word of a rule. A `quoted` word is one name, whatever it contains."""

    text: str
    span: Span
    quoted: bool = False


def split_words(text: str) -> list[Word]:
    """Split at blanks; quotes and backslashes work as in a POSIX shell."""
    words: list[Word] = []
    at = 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        start, parts, quoted = at, [], False
        while at < len(text) and not text[at].isspace():
            piece = _PIECE.match(text, at)
            if piece is None:
                what = "an unclosed quote" if text[at] in "'\"" else "a trailing backslash"
                raise UsageError(f"the rule has {what}", code="bad-rule", span=(at, len(text)))
            single, double, escaped, bare = piece.groups()
            quoted = quoted or bare is None
            if double is not None:
                double = re.sub(r'\\(["\\$`])', r"\1", double)
            parts.append(next(p for p in (single, double, escaped, bare) if p is not None))
            at = piece.end()
        words.append(Word("".join(parts), (start, at), quoted))
    return words


def split_unfinished(text: str) -> tuple[list[Word], Word]:
    """Split a rule that is being typed: its complete words, and the last one, which may be empty or
    lack its closing quote."""
    words: list[Word] = []
    for end in ("", "'", '"', "\\"):
        with suppress(UsageError):
            words = split_words(text + end)
            break
    if not words or words[-1].span[1] < len(text):
        return words, Word("", (len(text), len(text)))
    return words[:-1], words[-1]


# -- reading ---------------------------------------------------------------------------------------


class _Reader:
    """Parses one rule."""

    def __init__(self, text: str, words: Sequence[Word], remove: bool) -> None:
        self._text = text
        self._words = list(words)
        self._remove = remove

    def rule(self) -> Rule:
        permission = self._permission()
        principal = self._principal()
        operations = self._operations()
        open_ = permission is AclPermission.ANY
        hosts: tuple[str, ...] = () if open_ else ("*",)
        if self._next("from"):
            hosts = tuple(name for name, _ in self._listed("a host such as 10.0.0.1, or *"))
        target = self._target() if self._next("on") else None
        if self._words:
            word = self._words[0]
            hint = did_you_mean(word.text, ("from", "on"))
            raise self._wrong(f"unexpected word '{word.text}' in the rule", word, hint)
        return Rule(permission, principal, operations, hosts, target)

    def _permission(self) -> AclPermission:
        known = {**_PERMISSIONS, **_ANY_PERMISSION} if self._remove else _PERMISSIONS
        word = self._take("allow or deny")
        if word.text.lower() not in known:
            hint = did_you_mean(word.text.lower(), known)
            raise self._wrong(f"a rule must start with {' or '.join(_PERMISSIONS)}", word, hint)
        return known[word.text.lower()]

    def _principal(self) -> str | None:
        word = self._take("a principal such as User:bob")
        if self._remove and word.text.lower() == "any" and not word.quoted:
            if self._words and self._words[0].text.lower() == "principal":
                self._words.pop(0)
            return None
        check_principal(word.text, word.span)
        return word.text

    def _operations(self) -> tuple[AclOperation, ...]:
        operations: list[AclOperation] = []
        for name, span in self._listed("operations such as Read,Write"):
            operation = find_operation(name, remove=self._remove)
            if operation is None:
                raise UsageError(
                    f"unknown operation '{name}'",
                    hint=did_you_mean(name, OPERATIONS, f"Use one of: {', '.join(OPERATIONS)}."),
                    code="bad-rule",
                    span=span,
                )
            operations.append(operation)
        return tuple(operations)

    def _target(self) -> Target:
        word = self._take("a resource such as topic orders")
        if self._remove and word.text.lower() == "any" and self._words:
            kind = self._words[0].text.lower()
            if kind in RESOURCE_TYPES or kind == "resource":
                self._words.pop(0)
                return Target(RESOURCE_TYPES.get(kind, AclResourceType.ANY), None, PatternType.ANY)
        pattern = PatternType.LITERAL
        names = tuple(_PATTERNS) if self._remove else _SPECIFIC
        if word.text.lower() in names:
            pattern = _PATTERNS[word.text.lower()]
            word = self._take("a resource such as topic orders")
        kind = word.text.lower()
        if kind not in RESOURCE_TYPES:
            hint = did_you_mean(
                kind, (*RESOURCE_TYPES, *names), f"Use one of: {', '.join(RESOURCE_TYPES)}."
            )
            raise self._wrong(f"unknown resource type '{word.text}'", word, hint)
        if RESOURCE_TYPES[kind] is AclResourceType.CLUSTER:
            if self._words and self._words[0].text == CLUSTER_NAME:
                self._words.pop(0)
            return Target(AclResourceType.CLUSTER, CLUSTER_NAME, pattern)
        name = self._take(f"the name of the {kind}")
        return Target(RESOURCE_TYPES[kind], name.text, pattern)

    # -- words -------------------------------------------------------------------------------------

    def _next(self, word: str) -> bool:
        """Whether this word follows; it is taken then."""
        if self._words and self._words[0].text.lower() == word and not self._words[0].quoted:
            self._words.pop(0)
            return True
        return False

    def _take(self, wanted: str) -> Word:
        if not self._words:
            end = len(self._text)
            raise UsageError(
                f"the rule is missing {wanted}",
                code="bad-rule",
                span=(0, end),
                usage=FORM,
            )
        return self._words.pop(0)

    def _listed(self, wanted: str) -> list[tuple[str, Span]]:
        """The names of a list separated by commas, with or without blanks. A quoted word is one
        name, with its commas: an ACL's host may contain some, and must not become several hosts."""
        words: list[tuple[str, Span]] = []
        more = True
        while more:
            word = self._take(wanted)
            if word.quoted:
                words.append((word.text, word.span))
            at = word.span[0]
            for part in () if word.quoted else word.text.split(","):
                if part:
                    words.append((part, (at, at + len(part))))
                at += len(part) + 1
            following = self._words[0] if self._words else Word("", (0, 0), quoted=True)
            more = not word.quoted and word.text.endswith(",")
            more = more or (not following.quoted and following.text.startswith(","))
        return words

    def _wrong(self, message: str, word: Word, hint: str) -> UsageError:
        usage = "" if hint else FORM
        return UsageError(message, hint=hint, code="bad-rule", span=word.span, usage=usage)


def check_principal(text: str, span: Span | None = None) -> None:
    """Raise UsageError unless the principal has a type and a name."""
    kind, colon, name = text.partition(":")
    if not (kind and colon and name):
        raise UsageError(
            f"'{text}' is not a valid principal (expected TYPE:NAME)",
            hint=f"Add the type, for example User:{text.strip(':')}.",
            code="bad-principal",
            span=span,
        )


# The kinds of ACL rules and operations.

_PARTS = ("permission", "principal", "operation", "from", "host")


class _Rule(Kind):
    """`allow User:bob Read,Write from 10.0.0.1` -> the text."""

    def convert(self, parameter: Parameter, text: str) -> str:
        if text:
            parse_rule(text, remove=parameter.name == "--remove")
        return text

    def last_fragment(self, text: str) -> Fragment:
        """Return the last word, or the last operation; its key is the rule so far."""
        before, last = split_unfinished(text)
        at = last.span[0]
        part = _PARTS[len(before)] if len(before) < len(_PARTS) else "done"
        if part == "operation":
            at = max(at, text.rfind(",") + 1)
        return Fragment(at, part, " ".join(word.text for word in before))

    def quoted(self, text: str, tail: str, open_quote: str) -> str:
        if tail and not open_quote:
            return f"'{text}{tail}"  # rules contain spaces
        return super().quoted(text, tail, open_quote)


class _Operations(Words):
    """Read,describe-configs -> "Read,DescribeConfigs"."""

    def convert(self, parameter: Parameter, text: str) -> str:
        rules, at = [], 0
        for part in text.split(","):
            operation = find_operation(part.strip())
            if operation is None:
                raise invalid(
                    parameter,
                    "operations such as Read,Write",
                    part or text,
                    hint=did_you_mean(part, OPERATIONS, f"Use one of: {', '.join(OPERATIONS)}."),
                    at=(at, at + len(part)),
                )
            rules.append(operation.label)
            at += len(part) + 1
        return ",".join(rules)


ACL_RULE = _Rule("acl-rule", in_view("principals", by_name("acls.complete:offer")), "RULE")
ACL_OPERATION = _Operations("operation", metavar="OPERATIONS")
