"""Commands on client quotas (KIP-248, 546, 612)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

from kafka_shell.admin.quotas.model import CLIENT_QUOTAS, DEFAULT, IP_QUOTAS, Default, QuotaEntity
from kafka_shell.base.command_results import Listing, NoRows
from kafka_shell.base.errors import MistakeCollector, ShellError, UsageError, did_you_mean
from kafka_shell.base.plans import Effect, Plan
from kafka_shell.base.units import format_quota
from kafka_shell.language import kinds
from kafka_shell.language.command import Argument, Command, Example, Invocation, Option, Short
from kafka_shell.language.cursor import CompletionRequest
from kafka_shell.language.kinds import CandidateSource
from kafka_shell.view.candidates import NONE, Candidates, Catalog, pick
from kafka_shell.view.view import ClusterView

if TYPE_CHECKING:
    from kafka_shell.admin.quotas.model import EffectiveQuotas, Quota, QuotaEntity
    from kafka_shell.context import Context


# Completion of quota keys and values, and the documentation of keys.

# key -> summary, documentation, sample values
_CANDIDATE_KEYS: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "producer_byte_rate": (
        "bytes sent per second",
        "Bytes per second that all producers of the entity together may send to each broker."
        " Clients above the quota are throttled. Units: 5MB/s, 512KiB/s.",
        ("1MB/s", "10MB/s", "100MB/s"),
    ),
    "consumer_byte_rate": (
        "bytes fetched per second",
        "Bytes per second that all consumers of the entity together may fetch from each broker."
        " Clients above the quota are throttled. Units: 5MB/s, 512KiB/s.",
        ("1MB/s", "10MB/s", "100MB/s"),
    ),
    "request_percentage": (
        "percentage of request handler time",
        "Time on each broker's request handler and network threads, as a percentage of one thread."
        " With 8 request handler and 3 network threads, a whole broker is 1100%.",
        ("50%", "100%", "200%"),
    ),
    "controller_mutation_rate": (
        "partitions created, added or deleted per second",
        "Partitions per second that the entity may create, add or delete on the whole cluster."
        " Requests above the quota fail with THROTTLING_QUOTA_EXCEEDED.",
        ("5/s", "50/s"),
    ),
    "connection_creation_rate": (
        "new connections per second",
        "New connections per second that each broker accepts from this address. Connections above"
        " the quota are delayed.",
        ("10/s", "100/s"),
    ),
}


def offer(found: CompletionRequest, known: Catalog) -> Candidates:
    """Return the quota keys of the entity, those already set first, or the values of a key."""
    entity = entity_of(found.words)
    current = {each.key: each.value for each in known.view.quotas.value if each.entity == entity}
    if found.part == "value":
        return _values(found, current)
    names = [key for key in _keys_of(entity) if key not in found.taken]
    if found.name == "delete-config" and current:
        names = [key for key in names if key in current]
    names.sort(key=lambda key: key not in current)

    def about(key: str) -> tuple[str, str]:
        value_text = f"  now {format_quota(key, current[key])}" if key in current else ""
        return _CANDIDATE_KEYS[key][0] + value_text, "override" if value_text else ""

    return pick(names, found.prefix, about, found.tail)


def _values(found: CompletionRequest, current: Mapping[str, float]) -> Candidates:
    """Return the current value and sample values."""
    key = found.key
    if key not in _CANDIDATE_KEYS:
        return NONE
    known = {format_quota(key, current[key]): "now"} if key in current else {}
    known |= {sample: "" for sample in _CANDIDATE_KEYS[key][2] if sample not in known}
    return pick(known, found.prefix)


def document(found: CompletionRequest, key: str, view: ClusterView) -> tuple[str, str] | None:
    """Return heading and documentation of a quota key; None for other keys."""
    if key not in _CANDIDATE_KEYS:
        return None
    entity = entity_of(found.words)
    now = [f" · now {format_quota(key, each.value)}" for each in view.quotas.value
           if (each.entity, each.key) == (entity, key)]  # fmt: skip
    summary, prose, _ = _CANDIDATE_KEYS[key]
    return "".join([summary, *now]), prose


def entity_of(words: Mapping[str, tuple[str, ...]]) -> QuotaEntity:
    """The entity that the words typed so far name."""
    found: dict[str, str | Default] = {}
    for name, field in _NAMED.items():
        if named := words.get(name):
            found[field] = named[0] or DEFAULT
        if f"{name}-default" in words or f"{name}-defaults" in words:
            found[field] = DEFAULT
    types = words.get("entity-type", ())
    names = iter(words.get("entity-name", ()))
    for kind in types:
        field = _ENTITY_FIELDS.get(kind, "")
        if field:
            found[field] = next(names, "") or DEFAULT
    return QuotaEntity(**found)


_NAMED = {"user": "user", "client-id": "client_id", "client": "client_id", "ip": "ip"}
_ENTITY_FIELDS = {"users": "user", "clients": "client_id", "ips": "ip"}


def _keys_of(entity: QuotaEntity) -> tuple[str, ...]:
    if entity.ip is not None:
        return IP_QUOTAS
    return CLIENT_QUOTAS if entity.parts else (*CLIENT_QUOTAS, *IP_QUOTAS)


QUOTAS = CandidateSource(offer, lambda found, view: ("quotas",), document)


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


# -- entities --------------------------------------------------------------------------------------


def _named(invocation: Invocation, kind: str) -> tuple[Any, ...]:
    """The names given for one type of entity, and DEFAULT if its default was given."""
    from kafka_shell.admin.quotas.model import DEFAULT

    names = tuple(dict.fromkeys(invocation.get(kind, ())))
    return (*names, DEFAULT) if invocation.get(f"{kind}-default") else names


def _entities(invocation: Invocation) -> list[QuotaEntity]:
    """The entities that the options name: each user combined with each client ID."""
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


def list_quotas(invocation: Invocation, context: Context) -> Listing | NoRows:
    """The entities with quotas: all, one type, or the children of a user or client ID."""
    from kafka_shell.admin.quotas import read as quotas
    from kafka_shell.admin.quotas.model import ANY_NAME, QuotaFilter

    parents = _entities(invocation)
    if parents:
        which = [QuotaFilter(each.user or ANY_NAME, each.client_id or ANY_NAME) for each in parents]
        rows = quotas.entities(quotas.describe_many(context.cluster, which))
        entities = " or ".join(map(str, parents))
        return _listing(invocation, rows, f"{entities} has no client IDs or users with quotas")
    if invocation["kind"]:
        kind = _KINDS[invocation["kind"]]
        names: dict[str, Any] = {kind: ANY_NAME}
        found = quotas.describe(context.cluster, QuotaFilter(**names))
        rows = quotas.holders(found, kind)
        return _listing(invocation, rows, f"no quotas are set for {invocation['kind']}")
    rows = quotas.entities(quotas.describe(context.cluster))
    return _listing(invocation, rows, "no quotas are set")


def _listing(invocation: Invocation, rows: Sequence[object], nothing: str) -> Listing | NoRows:
    return Listing(tuple(rows), "entity", invocation["long"]) if rows else NoRows(nothing)


_KINDS = {"users": "user", "clients": "client_id", "ips": "ip"}


# -- describe --------------------------------------------------------------------------------------


def describe_quotas(invocation: Invocation, context: Context) -> tuple[Quota, ...] | NoRows:
    """The quotas that are set, each with KIP-248's source."""
    from kafka_shell.admin.quotas import read as quotas
    from kafka_shell.admin.quotas.model import QuotaFilter

    keys: Sequence[str] = invocation["key"]
    mistakes = MistakeCollector()
    for number, key in enumerate(keys):
        with mistakes.collecting():
            _check_known(invocation, "key", number, key)
    mistakes.check()
    entities = _entities(invocation)
    strict = bool(invocation["strict"])
    which = [QuotaFilter(each.user, each.client_id, each.ip, strict) for each in entities]
    found = quotas.describe_many(context.cluster, which or [QuotaFilter()])
    matching = tuple(quota for quota in found if not keys or quota.key in keys)
    return matching or NoRows(_none_set(entities, keys))


def _none_set(entities: Sequence[QuotaEntity], keys: Sequence[str]) -> str:
    target = f" for {' or '.join(map(str, entities))}" if entities else ""
    what = " or ".join(keys) if keys else "quota"
    note = f"no {what} is set{target}"
    named = entities and all(isinstance(each.user, str) for each in entities)
    return f"{note}; use resolve-quota to see the effective quotas" if named else note


# -- alter -----------------------------------------------------------------------------------------


def alter_quotas(invocation: Invocation, context: Context) -> Plan:
    """Set and remove quotas of each named entity; other quotas are unchanged."""
    from kafka_shell.admin.quotas import change as quota_changes
    from kafka_shell.admin.quotas.model import QuotaAlteration

    entities = _entities(invocation)
    limits = _limits(invocation, ip=entities[0].ip is not None)
    alterations = [
        QuotaAlteration(entity, key, value) for entity in entities for key, value in limits.items()
    ]
    return quota_changes.plan_alter(context.cluster, alterations)


def _limits(invocation: Invocation, *, ip: bool) -> dict[str, float | None]:
    """Quota key -> new value; None removes the quota."""
    from kafka_shell.base.units import parse_quota

    limits: dict[str, float | None] = {}
    mistakes = MistakeCollector()
    words: list[tuple[str, int, str, str | None]] = [
        *(("quota", at, key, text) for at, (key, text) in enumerate(invocation["quota"])),
        *(
            ("delete-config", at, key, None)
            for at, keys in enumerate(invocation["delete-config"])
            for key in keys.split(",")
        ),
    ]
    for name, number, key, text in words:
        with mistakes.collecting():
            _check_known(invocation, name, number, key, ip=ip)
            if key in limits:
                raise UsageError(
                    f"{key} is set twice",
                    span=invocation.span(name, number),
                    text=invocation.text,
                )
            try:
                limits[key] = None if text is None else parse_quota(key, text)
            except ShellError as error:
                error.span = invocation.span(name, number)
                raise
    mistakes.check()
    return limits


def _check_known(
    invocation: Invocation, name: str, number: int, key: str, *, ip: bool | None = None
) -> None:
    """Raise ShellError if the entity cannot have such a quota."""
    from kafka_shell.admin.quotas.model import CLIENT_QUOTAS, IP_QUOTAS

    known = (*CLIENT_QUOTAS, *IP_QUOTAS) if ip is None else IP_QUOTAS if ip else CLIENT_QUOTAS
    if key in known:
        return
    of = "" if ip is None else " of IP addresses" if ip else " of users and client IDs"
    raise ShellError(
        f"unknown quota{of}: '{key}'",
        hint=did_you_mean(key, known, f"Known quotas: {', '.join(known)}."),
        code="unknown-key",
        span=invocation.span(name, number),
    )


# -- resolve ---------------------------------------------------------------------------------------


def resolve_quota(invocation: Invocation, context: Context) -> EffectiveQuotas:
    """The effective quotas of a client, and the level each comes from."""
    from kafka_shell.admin.quotas import read as quotas

    user, client_id, ip = (invocation[name] for name in ("user", "client-id", "ip"))
    found = quotas.resolve(context.cluster, user, client_id, ip)
    try:
        callback = quotas.callback(context.cluster)
    except ShellError as error:
        context.note(f"client.quota.callback.class was not checked: {error.message}")
        callback = ""
    if callback:
        context.note(f"brokers use a custom quota callback ({callback}); showing Kafka's own rules")
    return found


# fmt: off
COMMANDS = (
    Command(
        name="list-quotas",
        summary="List the users, client IDs and IP addresses with quotas.",
        family="clients",
        run=list_quotas,
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
        run=describe_quotas,
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
        run=alter_quotas,
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
        run=resolve_quota,
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
)
# fmt: on
