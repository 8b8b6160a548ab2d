"""Declarations of the client_configs commands."""

from __future__ import annotations

from kafka_shell.admin.quotas.model import QuotaEntity
from kafka_shell.base.plans import Effect
from kafka_shell.commands import by_name
from kafka_shell.language import kinds
from kafka_shell.language.command import Argument, Command, Example, Option
from kafka_shell.language.kinds import CandidateSource

_KEYS = CandidateSource(
    by_name("configs.complete:offer_client_configs"),
    document=by_name("configs.complete:document_client_config"),
)
CLIENT_CONFIG_PAIR = kinds.Pair("client-config-pair", _KEYS)
CLIENT_CONFIG_KEYS = kinds.Keys("client-config-keys", _KEYS, "KEYS")
_CLIENT_ID = Option("--client-id", kinds.CLIENT_ID, "A client ID of the user.", metavar="ID")
_DEFAULT = Option(
    "--client-id-default", kinds.FLAG, "The default of all client IDs of the user.",
    excludes=("--client-id",),
)  # fmt: skip
SUPPORTED = "supported.configs"  # KIP-649's name for what clients registered


def has_dynamic(entity: QuotaEntity) -> bool:
    """Whether dynamic configs apply to the entity: a named user, or a client ID of one."""
    return (
        isinstance(entity.user, str)
        and entity.ip is None
        and (entity.client_id is None or isinstance(entity.client_id, str))
    )


COMMANDS: tuple[Command, ...] = (
    Command(
        name="describe-client-configs",
        rare=True,
        summary="Show dynamic client configs by user and client ID (KIP-649).",
        family="clients",
        run="client_configs.run:describe_client_configs",
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
        run="client_configs.run:alter_client_configs",
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
