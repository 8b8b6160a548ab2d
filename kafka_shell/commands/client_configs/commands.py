"""Commands that describe and alter dynamic client configs (KIP-649)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafka_shell.base.command_results import NoRows
from kafka_shell.base.errors import ShellError, UsageError
from kafka_shell.base.plans import Effect, Plan, merge_plans
from kafka_shell.base.results import Rows, with_failures
from kafka_shell.commands.client_configs.complete import CLIENT_CONFIGS
from kafka_shell.commands.configs.config_dynamic import SUPPORTED, with_acl_commands
from kafka_shell.language import kinds
from kafka_shell.language.command import Argument, Command, Example, Invocation, Option

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kafka_shell.admin.client_configs.model import (
        ClientConfig,
        ClientConfigFilter,
        ClientEntity,
        ClientRegistration,
    )
    from kafka_shell.context import Context


CLIENT_CONFIG_PAIR = kinds.Pair("client-config-pair", CLIENT_CONFIGS)
CLIENT_CONFIG_KEYS = kinds.Keys("client-config-keys", CLIENT_CONFIGS, "KEYS")
_CLIENT_ID = Option("--client-id", kinds.CLIENT_ID, "A client ID of the user.", metavar="ID")
_DEFAULT = Option(
    "--client-id-default", kinds.FLAG, "The default of all client IDs of the user.",
    excludes=("--client-id",),
)  # fmt: skip


# -- describe --------------------------------------------------------------------------------------


def describe_client_configs(
    invocation: Invocation, context: Context
) -> Rows[ClientConfig] | Rows[ClientRegistration] | NoRows:
    """Dynamic client configs, the effective ones of a client, or those that clients support."""
    from kafka_shell.admin.client_configs import read as client_configs

    if invocation["resolve"]:
        return _resolved(invocation, context)
    which = _filter(invocation)
    if invocation["supported"]:
        now = int(context.clock() * 1000)
        registrations = client_configs.registrations(context.cluster, which, now=now)
        none = NoRows("no client has registered support for dynamic configs")
        return with_failures(registrations, registrations.failures) or none
    found = client_configs.describe(context.cluster, which)
    return with_failures(found, found.failures) or NoRows(
        f"no dynamic client configs{_for_user(invocation)}"
    )


def _for_user(invocation: Invocation) -> str:
    return f" for user {invocation['user']}" if invocation["user"] is not None else ""


def _resolved(invocation: Invocation, context: Context) -> Rows[ClientConfig] | NoRows:
    from kafka_shell.admin.client_configs import read as client_configs

    user, client_id = invocation["user"], invocation["client-id"]
    if user is None:
        raise UsageError(
            "--resolve requires a user",
            hint="Use describe-client-configs USER --client-id ID --resolve.",
        )
    found = client_configs.resolved(context.cluster, user, client_id or "")
    return with_failures(found, found.failures) or NoRows(
        f"no dynamic configs apply to this client{_for_user(invocation)}"
    )


def _filter(invocation: Invocation) -> ClientConfigFilter:
    from kafka_shell.admin.client_configs.model import ClientConfigFilter
    from kafka_shell.admin.quotas.model import ANY_NAME, DEFAULT

    return ClientConfigFilter(
        ANY_NAME if invocation["user"] is None else invocation["user"],
        DEFAULT if invocation["client-id-default"] else invocation["client-id"],
        strict=invocation["strict"],
    )


# -- alter -----------------------------------------------------------------------------------------


def alter_client_configs(invocation: Invocation, context: Context) -> Plan:
    """Set and delete dynamic configs of users or their client IDs."""
    from kafka_shell.admin.client_configs import change as client_config_changes
    from kafka_shell.admin.client_configs.model import ClientConfigAlteration, ClientEntity

    for option, hint in (
        ("user", "Name the user: dynamic client configs always belong to a user (KIP-649)."),
        ("client-id", "Leave --client-id out for the default of all client IDs of the user."),
    ):
        if "" in invocation[option]:
            raise UsageError(
                f"--{option} must not be empty",
                hint=hint,
                span=invocation.span(option, invocation[option].index("")),
                text=invocation.text,
            )
    entities = [
        ClientEntity(user, client_id)
        for user in dict.fromkeys(invocation["user"])
        for client_id in dict.fromkeys(invocation["client-id"]) or (None,)
    ]
    set_, deleted = invocation["config"], invocation["delete-config"]
    plans = []
    alterations = [
        ClientConfigAlteration(entity, key, value)
        for entity in entities
        for key, value in [
            *((key, _raw(key, text)) for key, text in set_),
            *((key, None) for key in deleted if key != SUPPORTED),
        ]
    ]
    if alterations:
        plan = client_config_changes.plan_alter(context.cluster, alterations)
        plans.append(with_acl_commands(plan))
    if SUPPORTED in deleted:
        plans.append(_forget(entities, context))
    return merge_plans(plans)


def _forget(entities: Sequence[ClientEntity], context: Context) -> Plan:
    from kafka_shell.admin.client_configs import change as client_config_changes

    now = int(context.clock() * 1000)
    return client_config_changes.plan_forget(context.cluster, entities, now=now)


def _raw(key: str, text: str) -> str:
    """The value in the unit of the key: `11s` is `11000`. An invalid one is left to the plan, which
    reports all."""
    from kafka_shell.admin.client_configs.keys import KEYS
    from kafka_shell.base.units import parse_config_value

    known = KEYS.get(key)
    try:
        return text if known is None else parse_config_value(key, known.type, text)
    except ShellError:
        return text


COMMANDS = (
    Command(
        name="describe-client-configs",
        rare=True,
        summary="Show dynamic client configs by user and client ID (KIP-649).",
        family="clients",
        run=describe_client_configs,
        arguments=(
            Argument("user", kinds.USER, "A user (default: all users).", required=False,
                     option="--user"),
        ),
        options=(
            _CLIENT_ID,
            _DEFAULT,
            Option("--strict", kinds.FLAG, "Without --client-id: exclude configs of client IDs."),
            Option("--resolve", kinds.FLAG,
                   "Show the effective configs of a client and their sources.",
                   excludes=("--client-id-default", "--strict", "--supported")),
            Option("--supported", kinds.FLAG, "Show the configs that running clients support."),
        ),
        search=("dynamic", "kip-649", "acks", "session"),
        apis=(1, 2),
        examples=(
            Example("describe-client-configs", "show all dynamic client configs"),
            Example("describe-client-configs svc-payments --client-id checkout --resolve",
                    "show the effective configs of a client"),
            Example("describe-client-configs --supported",
                    "show which clients support dynamic configs"),
        ),
    ),
    Command(
        name="alter-client-configs",
        rare=True,
        summary="Set and delete dynamic client configs by user and client ID (KIP-649).",
        family="clients",
        run=alter_client_configs,
        effect=Effect.CHANGE,
        arguments=(
            Argument("config", CLIENT_CONFIG_PAIR, "Configs to set: acks=all.", many=True,
                     required=False, option="--add-config"),
        ),
        options=(
            Option("--user", kinds.USER, "The user; may be repeated.", many=True,
                   required=True, metavar="NAME"),
            Option("--client-id", kinds.CLIENT_ID, "Only this client ID; may be repeated.",
                   many=True, metavar="ID"),
            Option("--delete-config", CLIENT_CONFIG_KEYS,
                   f"Delete configs: k1,k2. {SUPPORTED} deletes the registrations of clients.",
                   many=True),
        ),
        at_least_one=(("config", "delete-config"),),
        search=("dynamic", "kip-649", "acks", "session"),
        apis=(0, 1, 2, 19, 22, 32),
        description=(
            "Programs built on kafka_shell.clients apply these configs while they run. The configs"
            " are stored in two compacted topics, which the first change creates."
        ),
        examples=(
            Example("alter-client-configs --user svc-payments session.timeout.ms=20s --dry-run",
                    "preview a longer session timeout for a user's consumers"),
            Example("alter-client-configs --user svc-payments --client-id checkout acks=1"
                    " linger.ms=20 --yes", "set configs of one client ID"),
        ),
    ),
)  # fmt: skip
