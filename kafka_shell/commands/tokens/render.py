"""How delegation tokens are shown."""

from __future__ import annotations

from collections.abc import Iterator

from kafka_shell.admin.tokens.model import DelegationToken, NewToken
from kafka_shell.output.humanize import local_time
from kafka_shell.output.page import Page, summary
from kafka_shell.output.tables import Column
from kafka_shell.output.text import Text, text

COLUMNS: dict[type, tuple[Column, ...]] = {
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


def _when(milliseconds: int) -> str:
    """Local time to the second."""
    return local_time(milliseconds // 1000 * 1000)


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


PAGES: dict[type, Page] = {NewToken: new_token_page}
