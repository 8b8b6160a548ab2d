"""ACLs and delegation tokens."""

from __future__ import annotations

from collections.abc import Iterator

from ...nouns.access import AccessCheck, AclBinding, AclPermission, PrincipalAcl, Verdict
from ...nouns.delegation_tokens import DelegationToken, NewToken
from ..page import Page, summary
from ..people import local_time
from ..tables import Column
from ..text import Role, Text, hang, text


def _when(milliseconds: int) -> str:
    """Local time to the second."""
    return local_time(milliseconds // 1000 * 1000)


def _rule(binding: AclBinding) -> Text:
    """The ACL as it is typed; a denial stands out."""
    return text(binding.rule, _ROLES.get(binding.permission, ""))


def _whole(binding: AclBinding) -> Text:
    return text(str(binding), _ROLES.get(binding.permission, ""))


_ROLES: dict[AclPermission, Role] = {AclPermission.DENY: "bad"}

COLUMNS: dict[type, tuple[Column, ...]] = {
    AclBinding: (
        Column("RESOURCE", lambda b: b.target, role="name"),
        Column("ACL", _rule, give="wrap", least=30),
    ),
    PrincipalAcl: (
        Column("PRINCIPAL", lambda b: b.principal, role="name"),
        Column("ACL", _whole, give="wrap", least=30),
    ),
    Verdict: (
        Column("VERDICT", lambda v: _verdict(v)),
        Column("ACCESS", lambda v: str(v.access), role="name"),
        Column("BECAUSE", lambda v: _because(v), give="wrap"),
    ),
    DelegationToken: (
        Column("ID", lambda t: t.id, role="name"),
        Column("OWNER", lambda t: t.owner),
        Column("REQUESTER", lambda t: t.requester if t.requester != t.owner else None,
               give="drop"),
        Column("RENEWERS", lambda t: ",".join(t.renewers), give="cut"),
        Column("ISSUED", lambda t: _when(t.issued), give="drop"),
        Column("EXPIRES", lambda t: _expiry(t)),
        Column("MAX", lambda t: _when(t.max_time), give="drop"),
    ),
}  # fmt: skip


def _expiry(token: DelegationToken) -> Text:
    when = _when(token.expires)
    return text(f"expired {when}", "bad") if token.expired else text(when)


def new_token_page(made: NewToken, width: int | None) -> Iterator[Text]:
    """A token that was just made: the one place where an HMAC is shown."""
    token = made.token
    yield from summary(
        width,
        text(f"token {token.id}", "heading"),
        f"of {token.owner}",
        f"expires {_when(token.expires)}",
        f"at the latest {_when(token.max_time)}",
    )
    if made.file:
        yield text(f"a client logs in with it by {made.file}")
        return
    yield Text()
    yield text("A client logs in with it by these properties, which are shown this once:", "hint")
    yield text("sasl.mechanism=SCRAM-SHA-256")
    yield text(f"sasl.jaas.config={made.login()}")


_WORDS: dict[bool | None, tuple[str, Role]] = {
    True: ("allowed", "good"),
    False: ("denied", "bad"),
    None: ("unknown", "warning"),
}
_BECAUSE = {
    "super-user": "a super user",
    "nothing-allows": "no ACL allows it",
}


def _verdict(verdict: Verdict) -> Text:
    return text(*_WORDS[verdict.allowed])


def _because(verdict: Verdict) -> str:
    if verdict.by:
        return "; ".join(map(str, verdict.by))
    if verdict.because == "no-acl":
        rule = {True: "true", False: "false", None: "set, but not told"}[verdict.allowed]
        return f"no ACL on {verdict.access.target}; allow.everyone.if.no.acl.found is {rule}"
    return _BECAUSE.get(verdict.because, verdict.because)


def check_page(check: AccessCheck, width: int | None) -> Iterator[Text]:
    """Each verdict with the ACLs that decide it, then what differs by host, and what else."""
    for verdict in check.verdicts:
        yield from hang(_said(verdict), width, 2)
        for binding in verdict.by:
            yield from hang(text("  ") + _whole(binding), width, 4)
        if verdict.unless:
            yield from hang(text(f"  unless {verdict.unless}", "warning"), width, 4)
    for title, verdicts in (("elsewhere", check.elsewhere), ("besides", check.besides)):
        if verdicts:
            yield Text()
            yield text(f"{title}:", "heading")
        for verdict in verdicts:
            yield from hang(text("  ") + _said(verdict), width, 4)
            if verdict.allowed is False:
                for binding in verdict.by:
                    yield from hang(text("    ") + _whole(binding), width, 6)
    if check.notes:
        yield Text()
    for note in check.notes:
        yield from hang(text("note: ", "hint") + text(note), width, 2)


def _said(verdict: Verdict) -> Text:
    line = _verdict(verdict) + text(f": {verdict.access}")
    return line if verdict.by else line + text(f" ({_because(verdict)})", "dim")


PAGES: dict[type, Page] = {NewToken: new_token_page, AccessCheck: check_page}
ROWS = {AccessCheck: lambda check: check.verdicts}
