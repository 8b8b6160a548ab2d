"""Declarations of the quotas commands."""

from __future__ import annotations

from kafka_shell.base.plans import Effect
from kafka_shell.commands import by_name
from kafka_shell.language import kinds
from kafka_shell.language.command import Argument, Command, Example, Option, Short
from kafka_shell.language.kinds import CandidateSource

QUOTAS = CandidateSource(
    by_name("configs.complete:offer_quotas"),
    lambda found, view: ("quotas",),
    by_name("configs.complete:document_quota"),
)
QUOTA_PAIR = kinds.Pair("quota-pair", QUOTAS)  # producer_byte_rate=5MB/s -> (key, text)
QUOTA_KEY = kinds.Words("quota-key", QUOTAS, "KEYS")
_IPS = ("--ip", "--ip-default")
_USER = Option("--user", kinds.USER, "A user; may be repeated.", many=True, excludes=_IPS)
_USER_DEFAULT = Option("--user-default", kinds.FLAG, "The default of all users.", excludes=_IPS)
_CLIENT = Option(
    "--client-id", kinds.CLIENT_ID, "A client ID; may be repeated.", many=True, excludes=_IPS
)
_CLIENT_DEFAULT = Option("--client-id-default", kinds.FLAG, "The default of all client IDs.",
                         excludes=_IPS)  # fmt: skip
_IP = Option("--ip", kinds.IP, "An IP address; may be repeated.", many=True)
_IP_DEFAULT = Option("--ip-default", kinds.FLAG, "The default of all IP addresses.")
ENTITY = (_USER, _USER_DEFAULT, _CLIENT, _CLIENT_DEFAULT, _IP, _IP_DEFAULT)
_KEYS = Argument("key", QUOTA_KEY, "Only these quotas.", many=True, required=False)


COMMANDS: tuple[Command, ...] = (
    Command(
        name="list-quotas",
        summary="List the users, client IDs and IP addresses with quotas.",
        family="clients",
        run="quotas.run:list_quotas",
        arguments=(
            Argument("kind", kinds.CHOICE, "Only one type of entity.", required=False,
                     choices=("users", "clients", "ips"),
                     unless=("--user", "--user-default", "--client-id", "--client-id-default")),
        ),
        options=(
            Option("--user", kinds.USER, "The client IDs of this user.", many=True),
            Option("--user-default", kinds.FLAG, "The client IDs of the default user."),
            Option("--client-id", kinds.CLIENT_ID, "The users with this client ID.", many=True),
            Option("--client-id-default", kinds.FLAG, "The users with a default client ID."),
            Option("--long", kinds.FLAG, "Also show the quotas and the number of nested entities."),
        ),
        search=("limits", "throttle", "rate"),
        apis=(48,),
        examples=(
            Example("list-quotas", "list all entities with quotas"),
            Example("list-quotas users --long", "list users with their quotas and child counts"),
            Example("list-quotas --user svc-payments", "list the client IDs of a user"),
        ),
    ),
    Command(
        name="describe-quotas",
        summary="Show the quotas that are set.",
        family="clients",
        run="quotas.run:describe_quotas",
        arguments=(_KEYS,),
        options=(
            *ENTITY,
            Option("--strict", kinds.FLAG, "Only exact matches, without the client IDs of a user."),
        ),
        shorts=(Short("quotas", "describe-quotas"),),
        search=("limits", "throttle", "rate"),
        apis=(48,),
        description=(
            "A user is shown with its client IDs, a client ID with its users. To see the effective"
            " quotas of a client, use resolve-quota."
        ),
        examples=(
            Example("describe-quotas", "show all quotas"),
            Example("describe-quotas --user alice", "show the quotas of a user and its client IDs"),
            Example("describe-quotas --user svc-payments --client-id checkout --output json",
                    "show one client ID of a user as JSON"),
            Example("describe-quotas --user-default", "show the default of all users"),
        ),
    ),
    Command(
        name="alter-quotas",
        summary="Set and remove quotas of users, client IDs and IP addresses.",
        family="clients",
        run="quotas.run:alter_quotas",
        effect=Effect.CHANGE,
        arguments=(
            Argument("quota", QUOTA_PAIR, "Quotas to set: producer_byte_rate=5MB/s.",
                     many=True,
                     required=False, option="--add-config"),
        ),
        options=(
            *ENTITY,
            Option("--delete-config", QUOTA_KEY, "Remove quotas: k1,k2; may be repeated.",
                   many=True, aliases=("--delete",)),
        ),
        at_least_one=(
            ("user", "user-default", "client-id", "client-id-default", "ip", "ip-default"),
            ("quota", "delete-config"),
        ),
        search=("limit", "throttle", "rate"),
        apis=(48, 49),
        description=(
            "With a user and a client ID, the quota applies to that client ID of that user."
            " Quotas apply per broker and may have units: 5MB/s, 50%, 10/s. A plan does not compare"
            " them with current rates, which brokers report only as metrics."
        ),
        examples=(
            Example("alter-quotas --user alice producer_byte_rate=5MB/s",
                    "limit the produce rate of a user"),
            Example("alter-quotas --user alice --client-id reports consumer_byte_rate=1MiB/s"
                    " request_percentage=25%", "limit one application of a user"),
            Example("alter-quotas --user-default --delete-config request_percentage --dry-run",
                    "preview removing a quota"),
            Example("alter-quotas --ip 10.1.2.3 connection_creation_rate=20/s",
                    "limit new connections from an address"),
        ),
    ),
    Command(
        name="resolve-quota",
        summary="Show the effective quotas of a client and the level each comes from.",
        family="clients",
        run="quotas.run:resolve_quota",
        options=(
            Option("--user", kinds.USER, "The user (default: any user without quotas of its own)."),
            Option("--client-id", kinds.CLIENT_ID,
                   "The client ID (default: any client ID without quotas of its own)."),
            Option("--ip", kinds.IP, "The IP address of the client."),
        ),
        at_least_one=(("user", "client-id", "ip"),),
        search=("effective", "limits", "throttle", "which", "applies"),
        apis=(32, 48),
        description=(
            "Each quota is resolved separately, as brokers do."
            " Use --client-id '' for a client without a client ID."
        ),
        examples=(
            Example("resolve-quota --user alice --client-id reports",
                    "show the effective quotas of a program"),
            Example("resolve-quota --client-id web-frontend --ip 10.1.2.3",
                    "include the connection quota of an address"),
        ),
    ),
)  # fmt: skip
