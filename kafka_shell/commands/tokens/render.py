"""Tables and pages of delegation tokens."""

from __future__ import annotations

from collections.abc import Iterator

from kafka_shell.admin.tokens.model import DelegationToken, NewToken
from kafka_shell.output.columns import summary
from kafka_shell.output.humanize import local_time
from kafka_shell.output.tables import Column, Page
from kafka_shell.output.text import Text, text

COLUMNS: dict[type, tuple[Column, ...]] = {
    DelegationToken: (
        Column("ID", lambda t: t.id, role="name"),
        Column("OWNER", lambda t: t.owner),
        Column("REQUESTER", lambda t: t.requester if t.requester != t.owner else None,
               overflow="drop"),
        Column("RENEWERS", lambda t: ",".join(t.renewers), overflow="cut"),
        Column("ISSUED", lambda t: _local_seconds(t.issued), overflow="drop"),
        Column("EXPIRES", lambda t: _expiry(t)),
        Column("MAX", lambda t: _local_seconds(t.max_time), overflow="drop"),
    ),
}  # fmt: skip


def _local_seconds(milliseconds: int) -> str:
    """Local time to the second."""
    return local_time(milliseconds // 1000 * 1000)


def _expiry(token: DelegationToken) -> Text:
    when = _local_seconds(token.expires)
    return text(f"expired {when}", "bad") if token.expired else text(when)


def new_token_page(new: NewToken, width: int | None) -> Iterator[Text]:
    """A new token; its HMAC is shown nowhere else."""
    token = new.token
    yield from summary(
        width,
        text(f"token {token.id}", "heading"),
        f"owner {token.owner}",
        f"expires {_local_seconds(token.expires)}",
        f"maximum {_local_seconds(token.max_time)}",
    )
    if new.file:
        yield text(f"client properties written to {new.file}")
        return
    yield Text()
    yield text(
        "Client properties for this token; store them now, they will not be shown again:", "hint"
    )
    yield text("sasl.mechanism=SCRAM-SHA-256", "properties")
    yield text(f"sasl.jaas.config={new.login()}", "properties")


PAGES: dict[type, Page] = {NewToken: new_token_page}
