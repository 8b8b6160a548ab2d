"""Commands that describe and alter dynamic client configs (KIP-649)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from kafka_shell.admin.client_configs import change as client_config_changes
from kafka_shell.admin.client_configs import read as client_configs
from kafka_shell.admin.client_configs.change import plan_alter
from kafka_shell.admin.client_configs.keys import KEYS
from kafka_shell.admin.client_configs.model import (
    ClientConfig,
    ClientConfigAlteration,
    ClientConfigFilter,
    ClientEntity,
    ClientRegistration,
)
from kafka_shell.admin.client_configs.store import ACLS
from kafka_shell.admin.quotas.model import ANY_NAME, DEFAULT
from kafka_shell.base.command_results import NoRows
from kafka_shell.base.errors import ShellError, UsageError
from kafka_shell.base.plans import Advice, Change, Plan, merge_plans
from kafka_shell.base.results import Rows, with_failures
from kafka_shell.base.text import entity_parts, with_option
from kafka_shell.base.units import parse_config_value
from kafka_shell.commands.client_configs.spec import SUPPORTED
from kafka_shell.context import Context
from kafka_shell.language.command import Invocation

# -- describe --------------------------------------------------------------------------------------


def describe_client_configs(
    invocation: Invocation, context: Context
) -> Rows[ClientConfig] | Rows[ClientRegistration] | NoRows:
    """Dynamic client configs, the effective ones of a client, or those that clients support."""
    if invocation["resolve"]:
        return _resolved(invocation, context)
    which = _filter(invocation)
    if invocation["supported"]:
        now = int(context.clock() * 1000)
        registrations = client_configs.registrations(context.cluster, which, now=now)
        none = NoRows("no client has registered support for dynamic configs")
        return with_failures(registrations, registrations.failures) or none
    configs = client_configs.describe(context.cluster, which)
    return with_failures(configs, configs.failures) or NoRows(
        f"no dynamic client configs{_for_user(invocation)}"
    )


def _for_user(invocation: Invocation) -> str:
    return f" for user {invocation['user']}" if invocation["user"] is not None else ""


def _resolved(invocation: Invocation, context: Context) -> Rows[ClientConfig] | NoRows:
    user, client_id = invocation["user"], invocation["client-id"]
    if user is None:
        raise UsageError(
            "--resolve requires a user",
            hint="Use describe-client-configs USER --client-id ID --resolve.",
        )
    configs = client_configs.resolved(context.cluster, user, client_id or "")
    return with_failures(configs, configs.failures) or NoRows(
        f"no dynamic configs apply to this client{_for_user(invocation)}"
    )


def _filter(invocation: Invocation) -> ClientConfigFilter:
    return ClientConfigFilter(
        ANY_NAME if invocation["user"] is None else invocation["user"],
        DEFAULT if invocation["client-id-default"] else invocation["client-id"],
        strict=invocation["strict"],
    )


# -- alter -----------------------------------------------------------------------------------------


def alter_client_configs(invocation: Invocation, context: Context) -> Plan:
    """Set and delete dynamic configs of users or their client IDs."""
    for option, hint in (
        ("user", "Name the user: dynamic client configs always belong to a user (KIP-649)."),
        ("client-id", "Omit --client-id for the default of all client IDs of the user."),
    ):
        if "" in invocation[option]:
            raise UsageError(
                f"--{option} must not be empty",
                hint=hint,
                span=invocation.span(option, invocation[option].index("")),
            )
    entities = [
        ClientEntity(user, client_id)
        for user in dict.fromkeys(invocation["user"])
        for client_id in dict.fromkeys(invocation["client-id"]) or (None,)
    ]
    pairs = [(key, _raw(key, text)) for key, text in invocation["config"]]
    return plan_configs(context, entities, pairs, invocation["delete-config"])


def plan_configs(
    context: Context,
    entities: Sequence[ClientEntity],
    pairs: Iterable[tuple[str, str]],
    deleted: Sequence[str],
) -> Plan:
    """The plan that sets and deletes dynamic configs of these entities (KIP-649).

    Deleting `supported.configs` deletes the registrations of their clients.
    """
    values: list[tuple[str, str | None]] = [
        *pairs, *((key, None) for key in deleted if key != SUPPORTED)
    ]  # fmt: skip
    plans = []
    if values:
        alterations = [ClientConfigAlteration(of, key, v) for of in entities for key, v in values]
        plan = client_config_changes.plan_alter(context.cluster, alterations)
        plans.append(with_acl_commands(plan))
    if SUPPORTED in deleted:
        now = int(context.clock() * 1000)
        plans.append(client_config_changes.plan_forget(context.cluster, entities, now=now))
    return merge_plans(plans)


def _raw(key: str, text: str) -> str:
    """The value in the unit of the key: `11s` is `11000`. An invalid one is left to the plan, which
    reports all."""
    known = KEYS.get(key)
    try:
        return text if known is None else parse_config_value(key, known.type, text)
    except ShellError:
        return text


def with_acl_commands(plan: Plan) -> Plan:
    """The plan; if it creates the two topics, with a warning that gives the ACLs clients need."""
    if not plan.advice.confirm:
        return plan

    rules = [with_option("--add", binding.resource.name) for binding in ACLS]
    command = " ".join(["alter-acls", *rules])
    warning = f"with an authorizer, clients need ACLs: {command}"
    return plan.advised(Advice(warnings=(warning,)))


def plan_changes(context: Context, changes: Sequence[Change], _: dict[str, Any]) -> Plan:
    """The plan that makes these changes."""
    alterations = []
    for change in changes:
        named = dict(entity_parts(change.resource.name))
        entity = ClientEntity(named["user"] or "", named.get("client-id"))
        value = None if change.after is None else str(change.after)
        alterations.append(ClientConfigAlteration(entity, change.field, value))
    return with_acl_commands(plan_alter(context.cluster, alterations))
