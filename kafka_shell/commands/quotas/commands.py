"""Commands on quotas (KIP-248, 546, 612)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, Any

from kafka_shell.answers import Listing, Nothing
from kafka_shell.errors import ShellError, UsageError, did_you_mean
from kafka_shell.language.command import Argument, Command, Example, Invocation, Kind, Option, Short
from kafka_shell.plan.model import Effect, Plan

if TYPE_CHECKING:
    from kafka_shell.admin.quotas.model import Quota, QuotaEntity, QuotaLadder
    from kafka_shell.context import Context

_IPS = ("--ip", "--ip-default")
_USER = Option("--user", Kind.USER, "A user, by name.", many=True, excludes=_IPS)
_USER_DEFAULT = Option("--user-default", Kind.FLAG, "The default of all users.", excludes=_IPS)
_CLIENT = Option("--client-id", Kind.CLIENT_ID, "A client id.", many=True, excludes=_IPS)
_CLIENT_DEFAULT = Option("--client-id-default", Kind.FLAG, "The default of all client ids.",
                         excludes=_IPS)  # fmt: skip
_IP = Option("--ip", Kind.IP, "An address.", many=True)
_IP_DEFAULT = Option("--ip-default", Kind.FLAG, "The default of all addresses.")
ENTITY = (_USER, _USER_DEFAULT, _CLIENT, _CLIENT_DEFAULT, _IP, _IP_DEFAULT)
_KEYS = Argument("key", Kind.QUOTA_KEY, "Only these limits.", many=True, required=False)


# -- who is meant ----------------------------------------------------------------------------------


def _named(invocation: Invocation, kind: str) -> tuple[Any, ...]:
    """The names given of one kind of entity, and DEFAULT where its default is asked for."""
    from kafka_shell.admin.quotas.model import DEFAULT

    names = tuple(dict.fromkeys(invocation.get(kind, ())))
    return (*names, DEFAULT) if invocation.get(f"{kind}-default") else names


def _entities(invocation: Invocation) -> list[QuotaEntity]:
    """The entities that a line names: each client id given is one of each user given."""
    from kafka_shell.admin.quotas.model import QuotaEntity

    ips = _named(invocation, "ip")
    if ips:
        return [QuotaEntity(ip=ip) for ip in ips]
    users, clients = _named(invocation, "user"), _named(invocation, "client-id")
    return [
        QuotaEntity(user=user, client_id=client)
        for user, client in product(users or (None,), clients or (None,))
        if user is not None or client is not None
    ]


# -- list ------------------------------------------------------------------------------------------


def list_quotas(invocation: Invocation, context: Context) -> Listing | Nothing:
    """Who has quotas: everyone, one kind, or the children of a user or client id."""
    from kafka_shell.admin.quotas import read as quotas
    from kafka_shell.admin.quotas.model import ANY_NAME, QuotaFilter

    parents = _entities(invocation)
    if parents:
        which = [QuotaFilter(each.user or ANY_NAME, each.client_id or ANY_NAME) for each in parents]
        rows = quotas.entities(quotas.describe_many(context.cluster, which))
        whose = " or ".join(map(str, parents))
        return _listing(invocation, rows, f"{whose} has no children with quotas")
    if invocation["kind"]:
        kind = _KINDS[invocation["kind"]]
        names: dict[str, Any] = {kind: ANY_NAME}
        found = quotas.describe(context.cluster, QuotaFilter(**names))
        rows = quotas.holders(found, kind)
        return _listing(invocation, rows, f"none of the {invocation['kind']} has a quota")
    rows = quotas.entities(quotas.describe(context.cluster))
    return _listing(invocation, rows, "no quota is set")


def _listing(invocation: Invocation, rows: Sequence[object], nothing: str) -> Listing | Nothing:
    return Listing(tuple(rows), "entity", invocation["long"]) if rows else Nothing(nothing)


_KINDS = {"users": "user", "clients": "client_id", "ips": "ip"}


# -- describe --------------------------------------------------------------------------------------


def describe_quotas(invocation: Invocation, context: Context) -> tuple[Quota, ...] | Nothing:
    """The limits that are set, with KIP-248's source of each."""
    from kafka_shell.admin.quotas import read as quotas
    from kafka_shell.admin.quotas.model import QuotaFilter

    keys = [_known(invocation, "key", n, key) for n, key in enumerate(invocation["key"])]
    asked = _entities(invocation)
    strict = bool(invocation["strict"])
    which = [QuotaFilter(each.user, each.client_id, each.ip, strict) for each in asked]
    found = quotas.describe_many(context.cluster, which or [QuotaFilter()])
    kept = tuple(quota for quota in found if not keys or quota.key in keys)
    return kept or Nothing(_none_set(asked, keys))


def _none_set(asked: Sequence[QuotaEntity], keys: Sequence[str]) -> str:
    whose = f" of {' or '.join(map(str, asked))}" if asked else ""
    what = " or ".join(keys) if keys else "quota"
    note = f"no {what}{whose} is set"
    named = asked and all(isinstance(each.user, str) for each in asked)
    return f"{note}; resolve-quota tells what holds" if named else note


# -- alter -----------------------------------------------------------------------------------------


def alter_quotas(invocation: Invocation, context: Context) -> Plan:
    """Set and remove limits of each entity that is named; the others stay."""
    from kafka_shell.admin.quotas import change as quota_changes
    from kafka_shell.admin.quotas.model import QuotaAlteration

    entities = _entities(invocation)
    limits = _limits(invocation, ip=entities[0].ip is not None)
    wanted = [
        QuotaAlteration(entity, key, value) for entity in entities for key, value in limits.items()
    ]
    plan = quota_changes.plan_alter(context.cluster, wanted)
    odd = [user for user in invocation["user"] if user.startswith("User:")]
    if not odd:
        return plan
    said = f"quotas name users without User:, so {odd[0]} is hardly whom you mean"
    return replace(plan, warnings=(*plan.warnings, said))


def _limits(invocation: Invocation, *, ip: bool) -> dict[str, float | None]:
    """Every limit that the line sets or removes (None)."""
    from kafka_shell.quota_units import parse_quota

    limits: dict[str, float | None] = {}
    for number, (key, text) in enumerate(invocation["quota"]):
        _once(limits, _known(invocation, "quota", number, key, ip=ip), invocation, "quota", number)
        try:
            limits[key] = parse_quota(key, text)
        except ShellError as error:
            error.span = invocation.span("quota", number)
            raise
    for number, word in enumerate(invocation["delete-config"]):
        for key in word.split(","):
            known = _known(invocation, "delete-config", number, key, ip=ip)
            _once(limits, known, invocation, "delete-config", number)
            limits[key] = None
    return limits


def _once(
    limits: dict[str, float | None], key: str, invocation: Invocation, name: str, number: int
) -> None:
    if key in limits:
        raise UsageError(
            f"{key} stands twice in one alteration",
            hint="Say once what it is to be.",
            span=invocation.span(name, number),
            text=invocation.text,
        )


def _known(
    invocation: Invocation, name: str, number: int, key: str, *, ip: bool | None = None
) -> str:
    """The key, if there is such a limit for this sort of entity."""
    from kafka_shell.admin.quotas.model import CLIENT_QUOTAS, IP_QUOTAS

    known = (*CLIENT_QUOTAS, *IP_QUOTAS) if ip is None else IP_QUOTAS if ip else CLIENT_QUOTAS
    if key in known:
        return key
    whose = "" if ip is None else " of an ip" if ip else " of users and client ids"
    raise ShellError(
        f"there is no quota{whose} called {key}",
        hint=did_you_mean(key, known, f"Known: {', '.join(known)}."),
        code="unknown-key",
        span=invocation.span(name, number),
    )


# -- resolve ---------------------------------------------------------------------------------------


def resolve_quota(invocation: Invocation, context: Context) -> QuotaLadder:
    """What holds for a client, and by which level of the ladder."""
    from kafka_shell.admin.quotas import resolution as quota_resolution

    user, client_id, ip = (invocation[name] for name in ("user", "client-id", "ip"))
    ladder = quota_resolution.resolve(context.cluster, user, client_id, ip)
    try:
        other = quota_resolution.callback(context.cluster)
    except ShellError:
        other = ""
    if other:
        context.note(f"the brokers decide by {other}: this is how Kafka itself would")
    return ladder


# fmt: off
COMMANDS = (
    Command(
        name="list-quotas",
        summary="Who has quotas: users, client ids, addresses, or the children of one.",
        family="clients",
        run=list_quotas,
        arguments=(
            Argument("kind", Kind.CHOICE, "Only one kind.", required=False,
                     choices=("users", "clients", "ips"),
                     unless=("--user", "--user-default", "--client-id", "--client-id-default")),
        ),
        options=(
            Option("--user", Kind.USER, "The client ids of this user.", many=True),
            Option("--user-default", Kind.FLAG, "The client ids of the default user."),
            Option("--client-id", Kind.CLIENT_ID, "The users that have this client id.", many=True),
            Option("--client-id-default", Kind.FLAG, "The users that have a default client id."),
            Option("--long", Kind.FLAG, "With the limits that are set and the number of children."),
        ),
        search=("limits", "throttle", "rate"),
        apis=(48,),
        examples=(
            Example("list-quotas", "everyone who has a quota"),
            Example("list-quotas users --long", "users, their limits, how many client ids"),
            Example("list-quotas --user svc-payments", "the client ids of a user"),
        ),
    ),
    Command(
        name="describe-quotas",
        summary="The limits that are set, and whose they are.",
        family="clients",
        run=describe_quotas,
        arguments=(_KEYS,),
        options=(
            *ENTITY,
            Option("--strict", Kind.FLAG, "Only this very entity: not a user's client ids too."),
        ),
        shorts=(Short("quotas", "describe-quotas"),),
        search=("limits", "throttle", "rate"),
        apis=(48,),
        description=(
            "A user is shown with its client ids, a client id with the users that have it."
            " What is set is not always what holds: resolve-quota tells."
        ),
        examples=(
            Example("describe-quotas", "everything that is set"),
            Example("describe-quotas --user alice", "a user and its client ids"),
            Example("describe-quotas --user svc-payments --client-id checkout --output json",
                    "one client id of a user, exactly"),
            Example("describe-quotas --user-default", "the default of all users"),
        ),
    ),
    Command(
        name="alter-quotas",
        summary="Set and remove limits of users, client ids and addresses.",
        family="clients",
        run=alter_quotas,
        effect=Effect.CHANGE,
        arguments=(
            Argument("quota", Kind.QUOTA_PAIR, "What to set: producer_byte_rate=5MB/s.", many=True,
                     required=False, option="--add-config"),
        ),
        options=(
            *ENTITY,
            Option("--delete-config", Kind.QUOTA_KEY, "Remove limits: k1,k2; may be repeated.",
                   many=True, aliases=("--delete",), metavar="KEYS"),
        ),
        at_least_one=(
            ("user", "user-default", "client-id", "client-id-default", "ip", "ip-default"),
            ("quota", "delete-config"),
        ),
        search=("limit", "throttle", "rate"),
        apis=(48, 49),
        description=(
            "With a user and a client id the limit is of that client id of that user."
            " Limits are per broker, and take units: 5MB/s, 50%, 10/s."
        ),
        examples=(
            Example("alter-quotas --user alice producer_byte_rate=5MB/s", "limit what she sends"),
            Example("alter-quotas --user alice --client-id reports consumer_byte_rate=1MiB/s"
                    " request_percentage=25%", "one application of hers"),
            Example("alter-quotas --user-default --delete-config request_percentage --dry-run",
                    "see what a removal would do"),
            Example("alter-quotas --ip 10.1.2.3 connection_creation_rate=20/s",
                    "connections of an address"),
        ),
    ),
    Command(
        name="resolve-quota",
        summary="Which limit applies to a client: every level, and the one that wins.",
        family="clients",
        run=resolve_quota,
        options=(
            Option("--user", Kind.USER, "The user; without one, a user that no quota names."),
            Option("--client-id", Kind.CLIENT_ID,
                   "The client id; without one, a client id that no quota names."),
            Option("--ip", Kind.IP, "The address that it connects from."),
        ),
        at_least_one=(("user", "client-id", "ip"),),
        search=("effective", "limits", "throttle", "which", "applies"),
        apis=(32, 48),
        description=(
            "Each limit is looked up on its own, as the broker does it."
            " --client-id '' is a client that tells no id."
        ),
        examples=(
            Example("resolve-quota --user alice --client-id reports", "what holds for a program"),
            Example("resolve-quota --client-id web-frontend --ip 10.1.2.3",
                    "a user without quotas of its own, and the address"),
        ),
    ),
)
# fmt: on
