"""Tables of ACLs, and the page of an access check."""

from __future__ import annotations

from collections.abc import Iterator

from kafka_shell.admin.acls.model import (
    AccessCheck,
    AclBinding,
    AclPermission,
    PrincipalAcl,
    Verdict,
)
from kafka_shell.output.tables import Column, Page
from kafka_shell.output.text import Role, Text, hang, text


def _rule(binding: AclBinding) -> Text:
    """The ACL as a rule; denials are highlighted."""
    return text(binding.rule, _ROLES.get(binding.permission, ""))


def _rule_on_resource(binding: AclBinding) -> Text:
    return text(str(binding), _ROLES.get(binding.permission, ""))


_ROLES: dict[AclPermission, Role] = {AclPermission.DENY: "bad"}

COLUMNS: dict[type, tuple[Column, ...]] = {
    AclBinding: (
        Column("RESOURCE", lambda b: b.target, role="name"),
        Column("ACL", _rule, overflow="wrap", least=30),
    ),
    PrincipalAcl: (
        Column("PRINCIPAL", lambda b: b.principal, role="name"),
        Column("ACL", _rule_on_resource, overflow="wrap", least=30),
    ),
}  # fmt: skip


_WORDS: dict[bool | None, tuple[str, Role]] = {
    True: ("allowed", "good"),
    False: ("denied", "bad"),
    None: ("unknown", "warning"),
}
_BECAUSE = {
    "super-user": "super user",
    "nothing-allows": "no ACL allows it",
}


def _verdict(verdict: Verdict) -> Text:
    return text(*_WORDS[verdict.allowed])


def _because(verdict: Verdict) -> str:
    if verdict.by:
        return "; ".join(map(str, verdict.by))
    if verdict.because == "no-acl":
        rule = {True: "true", False: "false", None: "not known"}[verdict.allowed]
        return f"no ACL on {verdict.access.target}; allow.everyone.if.no.acl.found is {rule}"
    return _BECAUSE.get(verdict.because, verdict.because)


def check_page(check: AccessCheck, width: int | None) -> Iterator[Text]:
    """Each verdict with the ACLs behind it, then other hosts and related operations."""
    for verdict in check.verdicts:
        yield from hang(_verdict_line(verdict), width, 2)
        for binding in verdict.by:
            yield from hang(text("  ") + _rule_on_resource(binding), width, 4)
        if verdict.unless:
            yield from hang(text(f"  unless {verdict.unless}", "warning"), width, 4)
    for title, verdicts in (
        ("from other hosts", check.elsewhere),
        ("also required", check.besides),
    ):
        if verdicts:
            yield Text()
            yield text(f"{title}:", "heading")
        for verdict in verdicts:
            yield from hang(text("  ") + _verdict_line(verdict), width, 4)
            if verdict.allowed is False:
                for binding in verdict.by:
                    yield from hang(text("    ") + _rule_on_resource(binding), width, 6)
    if check.notes:
        yield Text()
    for note in check.notes:
        yield from hang(text("note: ", "hint") + text(note), width, 2)


def _verdict_line(verdict: Verdict) -> Text:
    line = _verdict(verdict) + text(f": {verdict.access}")
    return line if verdict.by else line + text(f" ({_because(verdict)})", "dim")


PAGES: dict[type, Page] = {AccessCheck: check_page}
ROWS = {AccessCheck: lambda check: (*check.verdicts, *check.elsewhere, *check.besides)}
