"""Whether a line may run on a twin, and what its outcome there says about the original."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress

from msgspec import Struct, field

from kafka_shell import connection_options
from kafka_shell.admin.acls.authorizer import STANDARD
from kafka_shell.admin.partitions.reassignment import WriteRollback
from kafka_shell.admin.partitions.steps import MoveReplicas
from kafka_shell.admin.schemas.registry import NO_REGISTRY
from kafka_shell.base.errors import ShellError, UsageError
from kafka_shell.base.outcome import Outcome
from kafka_shell.base.plans import Plan, Resource
from kafka_shell.base.results import Failure, Results, as_failure
from kafka_shell.commands import REGISTRY
from kafka_shell.commands.rehearse.render import FAILED, OK, UNKNOWN, KnownLimit
from kafka_shell.commands.rehearse.twins import STATIC_CONFIGS, OriginalState
from kafka_shell.language.command import Command, Invocation
from kafka_shell.language.kinds import select
from kafka_shell.language.parse import parse
from kafka_shell.language.tokens import Line, commands
from kafka_shell.wire.failures import AUTHORIZATION
from kafka_shell.wire.requests import Node

# What a rehearsal cannot check. A line that needs it is `unknown`, never `ok`.
#
# The connection to a twin refuses requests whose response would be wrong. So a command that checks
# something on the side reports it as not checked, and one that needs it fails with `NOT_ON_TWIN`.

NOT_ON_TWIN = "not-on-twin"  # the code of the error
_LACKING = (NOT_ON_TWIN, NO_REGISTRY)

_RECORDS = "a twin has no records"
_GROUPS = "a twin has no groups: members and committed offsets are unknown"
_TRANSACTIONS = "a twin has no producers and no transactions"
_DIRS = "a twin has no log directories"
_REGISTRY = "a twin has no schema registry"
_TOKENS = "delegation tokens cannot be copied"
_QUORUM = "a twin has a metadata quorum of its own: one controller"
ONE_BROKER = "a twin has no per-broker configs or loggers"


class _Apis(Struct, frozen=True):
    what: str
    why: str
    keys: frozenset[int]


# API keys that are not sent to a twin.
_REFUSED = (
    _Apis("records, offsets and sizes", _RECORDS, frozenset({0, 1, 2, 21, 23})),
    _Apis("groups", _GROUPS, frozenset({8, 9, 11, 12, 13, 14, 15, 16, 42, 47, 68, 69, 76, 77, 78,
                                        79, 83, 84, 85, 86, 87, 88, 89, 90, 91, 92})),
    _Apis("groups and transactions", "a twin has no coordinators", frozenset({10})),
    _Apis("transactions", _TRANSACTIONS, frozenset({22, 24, 25, 26, 27, 28, 61, 65, 66})),
    _Apis("log directories", _DIRS, frozenset({34, 35})),
    _Apis("delegation tokens", _TOKENS, frozenset({38, 39, 40, 41})),
    _Apis("the metadata quorum", _QUORUM, frozenset({55, 80, 81, 82})),
)  # fmt: skip
_CONFIGS = frozenset({32, 33, 44})  # to one broker: its own configs and loggers

# API keys whose outcome is unknown although the twin accepts the request.
_IN_PART = (
    _Apis("partition reassignments", "the controller accepts it; the duration of the move and disk"
          " space are not checked", frozenset({45})),
)  # fmt: skip

# Families of commands, and commands, about what a twin does not have. They are not run.
_FAMILIES = {
    "records": _RECORDS,
    "groups": _GROUPS,
    "transactions": _TRANSACTIONS,
    "audit": "a rehearsal runs no audits",
    "schemas": _REGISTRY,
}
_COMMANDS = {
    "undo": "a rehearsal does not read your journal",
    "journal": "a rehearsal does not read your journal",
    "health": "the brokers of a twin have no processes",
    "check-restart": "the brokers of a twin have no processes",
    "decommission": "the brokers of a twin have no processes, and cannot be stopped",
    "describe-broker": "the brokers of a twin have no processes",
    "cluster-metadata": "the brokers of a twin have no processes",
    "api-versions": "the brokers of a twin have no processes",
    "top": "a twin has no traffic",
    "rebalance": "a twin has no records: sizes and rates are unknown",
    "connect": "a rehearsal uses no other cluster",
    "sandbox": "changes this machine, not the cluster",
    "watch": "repeats a command until it is interrupted",
    "rehearse": "rehearse cannot run rehearse",
    "alter-client-configs": _RECORDS,
    "describe-client-configs": _RECORDS,
}

_ALWAYS = (
    KnownLimit("permissions", "a twin allows every operation; your permissions are"
               " checked on the cluster"),
    KnownLimit("replica placement", "brokers are chosen at random for new partitions"),
    KnownLimit("policies and custom authorizers", "a twin has none; rehearse detects only those in"
               " the brokers' configs"),
    KnownLimit("the schema registry", _REGISTRY),
    KnownLimit("listeners", "a twin has one listener on this machine"),
    KnownLimit("other releases", "a twin runs the nearest available version of Kafka"),
    KnownLimit("pipes, redirects, ! and files", "lines that run programs or write files"),
    KnownLimit("other clusters", "lines with connection options"),
)  # fmt: skip


def not_run_here(command: Command) -> str:
    """Why a command is not run on a twin, or an empty string."""
    return _COMMANDS.get(command.name) or _FAMILIES.get(command.family, "")


class Refusals:
    """Refuses requests that a twin cannot answer (`ConnectionConfig.refuse`), and remembers why."""

    def __init__(self) -> None:
        self.reasons: list[str] = []

    def __call__(self, api_key: int, to: object) -> ShellError | None:
        why = _why_not_sent(api_key, to)
        if not why:
            return None
        self.reasons.append(why)
        return ShellError(why, code=NOT_ON_TWIN)


def _why_not_sent(api_key: int, to: object) -> str:
    if api_key in _CONFIGS and isinstance(to, Node):
        return ONE_BROKER
    return next((apis.why for apis in _REFUSED if api_key in apis.keys), "")


def in_part(sent: set[int]) -> str:
    """Why the outcome of a line that sent these requests is unknown although all succeeded, or an
    empty string."""
    return next((apis.why for apis in _IN_PART if apis.keys & sent), "")


def known_limits() -> Iterator[KnownLimit]:
    """Everything that a rehearsal cannot check."""
    for apis in (*_REFUSED, *_IN_PART):
        yield KnownLimit(apis.what, apis.why)
    yield KnownLimit("configs of a single broker", ONE_BROKER)
    for name, why in _COMMANDS.items():
        yield KnownLimit(name, why)
    yield from _ALWAYS


_WRITES_FILES = ("directory", "export", "properties-file", "report")  # options
_ALL_BY_DEFAULT = ("preferred-replica-leader-election", "elect-leaders")
_NAME = re.compile(r"[A-Za-z0-9._-]+")
_SHOWN = 3  # errors of one line
_POLICIES = {
    "create.topic.policy.class.name": frozenset({19, 37}),
    "alter.config.policy.class.name": frozenset({33, 44}),
}
# The APIs that use what could not be read, by its name in `OriginalState.unread`.
_USES = {
    "acls": frozenset({29, 30, 31}),
    "quotas": frozenset({48, 49}),
    "users": frozenset({50, 51}),
    "topics": frozenset({19, 20, 37, 44, 45}),
    "partition reassignments": frozenset({45, 46}),
}


class LineObserver(Struct):
    """What the commands of one line did: an Observer. `failures` are those of single items."""

    plans: list[Plan] = field(default_factory=list)
    outcomes: list[Outcome] = field(default_factory=list)
    errors: list[ShellError] = field(default_factory=list)
    failures: list[tuple[str, Failure]] = field(default_factory=list)

    @property
    def anything(self) -> bool:
        """Whether there is anything to judge."""
        return bool(self.plans or self.outcomes or self.errors or self.failures)

    def planned(self, plan: Plan) -> None:
        """A plan that is executed next."""
        self.plans.append(plan)

    def returned(self, value: object) -> None:
        """The value of a command."""
        if isinstance(value, Outcome):
            self.outcomes.append(value)
            refused = value.plan.refused.failures.items()
            self.failures += [(str(about), why) for about, why in refused]
            self.failures += [
                (str(each.change.resource), each.failure) for each in value.changes if each.failure
            ]
        elif isinstance(value, Results):
            self.failures += [(str(about), why) for about, why in value.failures.items()]

    def failed(self, error: ShellError) -> None:
        """An error that ended a command."""
        self.errors.append(error)

    @property
    def resources(self) -> Iterator[Resource]:
        """The resources of all plans."""
        for plan in self.plans:
            yield from (change.resource for change in plan.changes)


class Doubt(Struct, frozen=True):
    """Why the outcome of a line that sent one of these requests may differ on the original: any
    outcome, or only success."""

    keys: frozenset[int]
    why: str
    also_failures: bool = False


def doubts_about(reading: OriginalState) -> list[Doubt]:
    """What the twin lacks of this original."""
    settings = reading.original.settings
    doubts = [
        Doubt(keys, f"{key}={settings[key]} may reject the change")
        for key, keys in _POLICIES.items()
        if settings.get(key)
    ]
    authorizer = settings.get("authorizer.class.name", STANDARD)
    if authorizer not in ("", STANDARD):
        doubts.append(Doubt(_USES["acls"], f"the authorizer is {authorizer}", True))
    if why := reading.unread.get(STATIC_CONFIGS):
        keys = frozenset[int]().union(*_POLICIES.values())
        doubts.append(Doubt(keys, f"{STATIC_CONFIGS} could not be read: {why.message}"))
    for name, why in reading.unread.items():
        if name in _USES:
            doubts.append(Doubt(_USES[name], f"{name} could not be read: {why.message}", True))
    return doubts


# -- before it runs --------------------------------------------------------------------------------


def not_run(text: str, left_out: Collection[str]) -> str:
    """Why a line is not run on a twin, or an empty string."""
    for line in commands(text):
        if why := _not_run(line, text, left_out):
            return why
    return ""


def _not_run(line: Line, text: str, left_out: Collection[str]) -> str:
    if line.shell is not None or line.pipe is not None:
        return "a rehearsal runs no programs"
    if line.redirect is not None:
        return "a rehearsal writes no files"
    try:
        invocation = parse(line, REGISTRY, text=text)
    except ShellError:
        return ""  # it is reported when it runs
    return _not_on_twin(invocation, left_out)


def _not_on_twin(invocation: Invocation, left_out: Collection[str]) -> str:
    if why := not_run_here(invocation.command):
        return why
    if any(invocation.get(option) for option in _WRITES_FILES):
        return "a rehearsal writes no files"
    if invocation.get("resume"):
        return "interrupted commands of the original cannot be continued on a twin"
    if connection_options.flags_of(invocation):
        return "the line has connection options, and the twin is another cluster"
    if not left_out:
        return ""
    if _is_about_all_topics(invocation):
        return "not all topics are on the twin"
    missing = sorted(_left_out(invocation, left_out))
    return f"topic {missing[0]} is not on the twin" if missing else ""


def _is_about_all_topics(invocation: Invocation) -> bool:
    """Whether a line changes topics that it does not name."""
    by_default = invocation.command.name in _ALL_BY_DEFAULT and not invocation.get("topic")
    return by_default or bool(invocation.get("prune"))


def _left_out(invocation: Invocation, left_out: Collection[str]) -> Iterable[str]:
    """The topics that the words of a line select, and that were not copied."""
    names = sorted(left_out)
    for word in _words(invocation.values.values()):
        with suppress(ShellError):  # another word, such as a path, that is not a valid pattern
            yield from select([word], names).names


def _words(values: Iterable[object]) -> Iterator[str]:
    for value in values:
        if isinstance(value, str):
            yield value
        elif isinstance(value, tuple | list):
            yield from _words(value)


# -- after it ran ----------------------------------------------------------------------------------


def verdict_of(
    observed: LineObserver,
    status: int,
    sent: Collection[int],
    refused: Sequence[str],
    doubts: Sequence[Doubt],
    reading: OriginalState,
) -> tuple[str, str | None]:
    """The status of a line that ran on the twin, and its error or why its outcome is unknown.

    `refused` is why requests were not sent.
    """
    failures = [*observed.failures, *(("", _failure(error)) for error in observed.errors)]
    real = [(about, why) for about, why in failures if why.name not in _LACKING]
    sent = set(sent)
    lacking = next((doubt.why for doubt in doubts if doubt.also_failures and doubt.keys & sent), "")
    lacking = lacking or _lacking(observed, real, reading)
    if lacking:
        return UNKNOWN, lacking
    if real:
        return FAILED, "; ".join(_failure_texts(real))
    if failures:
        return UNKNOWN, _REGISTRY if failures[0][1].name == NO_REGISTRY else failures[0][1].message
    if status and refused:
        return UNKNOWN, refused[0]
    if status:
        return FAILED, f"exit status {status}"
    why = next((doubt.why for doubt in doubts if doubt.keys & sent), "")
    why = why or (in_part(sent) if _copies_data(observed) else "")
    return (UNKNOWN, why) if why else (OK, None)


def _copies_data(observed: LineObserver) -> bool:
    """Whether moves copy data, as far as the plans show. It is not known how those end."""
    steps = [
        step
        for plan in observed.plans
        for step in plan.steps
        if not isinstance(step, WriteRollback)
    ]
    moving = [step for step in steps if isinstance(step, MoveReplicas) and not step.cancelled]
    return len(moving) < len(steps) or any(m.adding for step in moving for m in step.moves)


def _failure(error: ShellError) -> Failure:
    failure = as_failure(error)
    keep = error.code in _LACKING or failure.code in AUTHORIZATION
    hint = error.hint if isinstance(error, UsageError) else ""  # of a misspelled command
    return failure if keep else Failure("", ". ".join(filter(None, (error.message, hint))))


def _missing(why: Failure) -> str:
    """The operation that the user lacks on the original, or an empty string."""
    return f"requires {why.requires}" if why.requires else ""


def _failure_texts(failures: Sequence[tuple[str, Failure]]) -> list[str]:
    """The first failures as they are printed: the resource only if there are several."""
    shown = [
        _missing(why) if _missing(why)
        else str(why) if why.name and (len(failures) == 1 or about in why.message)
        else f"{about}: {why.message}" if about
        else why.message
        for about, why in failures[:_SHOWN]
    ]  # fmt: skip
    more = len(failures) - len(shown)
    return [*dict.fromkeys(shown), *([f"{more:,} more"] if more else [])]


def _lacking(
    observed: LineObserver, failures: Sequence[tuple[str, Failure]], reading: OriginalState
) -> str:
    """What a line is about that the twin lacks, or an empty string."""
    for resource in observed.resources:  # a broker that could not be read is down: that is copied
        if str(resource) in reading.unread and resource.kind != "broker":
            return f"{resource} could not be read: {reading.unread[str(resource)].message}"
    if reading.left_out:
        named = {word for resource in observed.resources for word in _NAME.findall(resource.name)}
        named.update(word for _, why in failures for word in _NAME.findall(why.message))
        if missing := sorted(named & reading.left_out):
            return f"topic {missing[0]} is not on the twin"
    return ""
