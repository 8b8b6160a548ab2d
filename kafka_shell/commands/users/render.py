"""Tables of SCRAM credentials, and the page of a user."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any

from kafka_shell.admin.acls.model import AclBinding, AclPermission
from kafka_shell.admin.client_configs.model import ClientConfig, ClientRegistration
from kafka_shell.admin.quotas.model import EffectiveQuotas, Quota
from kafka_shell.admin.tokens.model import DelegationToken
from kafka_shell.admin.users.model import GeneratedPassword, ScramCredential, UserPage
from kafka_shell.base.results import ABSENT, Failure
from kafka_shell.base.units import counted, format_quota
from kafka_shell.commands.client_configs.render import COLUMNS as CONFIGS
from kafka_shell.commands.quotas.render import COLUMNS as QUOTAS
from kafka_shell.commands.quotas.render import HEADINGS
from kafka_shell.commands.tokens.render import COLUMNS as TOKENS
from kafka_shell.output.columns import summary
from kafka_shell.output.resource_kinds import hint_of
from kafka_shell.output.tables import Column, Page, draw_table
from kafka_shell.output.text import Text, hang, text

_TITLE = 16  # cells of a section title with text next to it


COLUMNS: dict[type, tuple[Column, ...]] = {
    ScramCredential: (
        Column("USER", lambda c: c.user, role="name"),
        Column("MECHANISM", lambda c: c.mechanism.label, role="key"),
        Column("ITERATIONS", lambda c: c.iterations, "right"),
    ),
}


def user_page(page: UserPage, width: int | None) -> Iterator[Text]:
    """Credentials, quotas, effective quotas, ACLs, tokens, groups and client IDs of a user."""
    unknown = text("(super users are not visible to clients)", "dim")
    yield from summary(
        width,
        text(f"user {page.user}", "heading"),
        f"principal {page.principal}",
        text("super user: ACLs do not apply", "warning")
        if page.super_user
        else unknown
        if page.super_user is None
        else "",
    )
    if not page.known:
        yield Text()
        nothing = "no SCRAM credentials, quotas, client configs, ACLs or tokens of this user"
        yield from hang(text(f"{nothing}; --output json has the defaults"), width, 2)
        if page.unknown_groups:
            yield from _groups(page, width)
        return
    yield from _part(
        "credentials", page.credentials, _table(_CREDENTIAL), width, "no SCRAM credentials"
    )
    yield from _part("quotas", page.quotas, _table(_QUOTA), width, "none of its own")
    if any(each.value is not None for client in page.limits for each in client.resolutions):
        yield Text()
        yield text("effective quotas", "heading")
        yield from _limits(page.limits, width)
    unset = "none"
    yield from _part("client configs", page.client_configs, _table(_CONFIG), width, unset)
    if page.registrations:
        yield from _part("registrations", page.registrations, _table(_SUPPORTED), width, "")
    yield from _part("ACLs", page.acls, _acls, width, "no ACL for this user")
    yield from _part("tokens", page.tokens, _table(_TOKEN), width, "none visible to you")
    yield from _groups(page, width)
    unseen = "none found in quotas or registrations; brokers do not list client IDs"
    yield from _part("client IDs", page.client_ids, _names, width, unseen)


def _groups(page: UserPage, width: int | None) -> Iterator[Text]:
    """The groups that the user may read, and of how many this is not known."""
    unknown = ""
    if page.unknown_groups:
        count = counted(len(page.unknown_groups), "group")
        unknown = f"unknown: {count} without ACLs (allow.everyone.if.no.acl.found cannot be read)"
    yield from _part("groups", page.groups, _names, width, unknown or "none (requires READ)")
    if unknown and page.groups:
        yield from hang(text(f"{'':<{_TITLE}}{unknown}", "dim"), width, _TITLE)


def _part(name: str, part: Any, draw: Any, width: int | None, nothing: str) -> Iterator[Text]:
    """One section: its rows below the title, or next to it why there are none."""
    title = text(f"{name:<{_TITLE}}", "heading")
    yield Text()
    if isinstance(part, Failure):
        absent = part.name in ABSENT
        hint = "" if absent else hint_of(part)
        line = title + text(part.message, "dim" if absent else "bad")
        yield from hang(line + (text(f". {hint}", "hint") if hint else Text()), width, _TITLE)
    elif not part:
        yield from hang(title + text(nothing, "dim"), width, _TITLE)
    elif draw is _names:
        yield from hang(title + text(", ".join(part)), width, _TITLE)
    else:
        yield text(name, "heading")
        yield from draw(part, width)


def _names(part: Sequence[str], width: int | None) -> Iterator[Text]:
    yield from hang(text(", ".join(part)), width, 0)


def _table(columns: tuple[Column, ...]) -> Any:
    return lambda rows, width: draw_table(columns, rows, width=width)


_CREDENTIAL = COLUMNS[ScramCredential][1:]
_QUOTA = QUOTAS[Quota]
_CONFIG = CONFIGS[ClientConfig][1:]
_SUPPORTED = CONFIGS[ClientRegistration][1:]
_TOKEN = TOKENS[DelegationToken]


# -- effective quotas ------------------------------------------------------------------------------


def _limits(clients: Sequence[EffectiveQuotas], width: int | None) -> Iterator[Text]:
    """One row per client ID, one column per quota."""
    columns = [Column("CLIENT-ID", _client, role="name"), *map(_limit, range(len(HEADINGS) - 1))]
    yield from draw_table(columns, clients, width=width, keep_empty=True)


def _client(client: EffectiveQuotas) -> Text:
    return text("any other", "dim") if client.client_id is None else text(client.client_id)


def _limit(number: int) -> Column:
    def cell(client: EffectiveQuotas) -> Text | None:
        resolution = client.resolutions[number]
        if resolution.value is None or resolution.entity is None:
            return None
        own = resolution.entity.user == client.user
        value = format_quota(resolution.key, resolution.value)
        return text(value, "override" if own else "default")

    return Column(list(HEADINGS.values())[number], cell, "right")


# -- ACLs ------------------------------------------------------------------------------------------


def _acls(bindings: Sequence[AclBinding], width: int | None) -> Iterator[Text]:
    """One row per resource, principal and host: denied and allowed operations."""
    rows = [
        (target, principal, host, tuple(group))
        for (target, principal, host), group in groupby(
            sorted(bindings, key=_sort_key), lambda b: (b.target, b.principal, b.host)
        )
    ]
    return draw_table(_RULES, rows, width=width)


def _sort_key(binding: AclBinding) -> tuple[Any, ...]:
    return (binding.resource_type, binding.name, binding.pattern_type, binding.principal,
            binding.host, binding.operation)  # fmt: skip


def _operations(group: Iterable[AclBinding], permission: AclPermission) -> str:
    return ",".join(each.operation.label for each in group if each.permission is permission)


_RULES = (
    Column("RESOURCE", lambda row: row[0], role="name"),
    Column(
        "DENIED", lambda row: text(_operations(row[3], AclPermission.DENY), "bad"), overflow="wrap"
    ),
    Column("ALLOWED", lambda row: _operations(row[3], AclPermission.ALLOW), overflow="wrap"),
    Column("HOST", lambda row: None if row[2] == "*" else row[2]),
    Column("AS", lambda row: row[1] if row[1] == "User:*" else None, role="dim"),
)

# -- credentials -----------------------------------------------------------------------------------


def generated_page(made: GeneratedPassword, width: int | None) -> Iterator[Text]:
    """A generated password; it is printed nowhere else."""
    del width
    yield text(f"store the password of user {made.user}; it will not be shown again:", "hint")
    yield text("password", "key") + "  " + text(made.password.reveal(), "override")


PAGES: dict[type, Page] = {UserPage: user_page, GeneratedPassword: generated_page}
