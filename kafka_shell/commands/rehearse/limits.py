"""What a rehearsal cannot check. A line that needs it is `unknown`, never `ok`.

The connection to a twin refuses requests whose response would be wrong. So a command that checks
something on the side reports it as not checked, and one that needs it fails with `NOT_ON_TWIN`.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from kafka_shell.admin.wire.requests import Node
from kafka_shell.commands.rehearse.model import KnownLimit
from kafka_shell.errors import ShellError
from kafka_shell.language.command import Command

NOT_ON_TWIN = "not-on-twin"  # the code of the error

_RECORDS = "a twin has no records"
_GROUPS = "a twin has no groups: members and committed offsets are unknown"
_TRANSACTIONS = "a twin has no producers and no transactions"
_DIRS = "a twin has no log directories"
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
    _Apis("partition reassignments", "the controller accepts it; how long the data movement takes,"
          " and whether disks have space, is unknown", frozenset({45})),
)  # fmt: skip

# Families of commands, and commands, about what a twin does not have. They are not run.
_FAMILIES = {
    "records": _RECORDS,
    "groups": _GROUPS,
    "transactions": _TRANSACTIONS,
    "audit": "audits are not run on a twin",
}
_COMMANDS = {
    "undo": "the journal of the original is not used",
    "journal": "the journal of the original is not used",
    "health": "the brokers of a twin have no processes",
    "check-restart": "the brokers of a twin have no processes",
    "decommission": "the brokers of a twin have no processes, and cannot be stopped",
    "describe-broker": "the brokers of a twin have no processes",
    "cluster-metadata": "the brokers of a twin have no processes",
    "api-versions": "the brokers of a twin have no processes",
    "top": "a twin has no traffic",
    "rebalance": "a twin has no records: sizes and rates are unknown",
    "connect": "a rehearsal uses no other cluster",
    "sandbox": "it changes this machine, not the cluster",
    "watch": "it repeats a command until it is interrupted",
    "rehearse": "a rehearsal cannot be rehearsed",
    "alter-client-configs": _RECORDS,
    "describe-client-configs": _RECORDS,
}

_ALWAYS = (
    KnownLimit("permissions", "a twin allows every operation; your permissions are"
               " checked on the cluster"),
    KnownLimit("replica placement", "brokers are chosen at random for new partitions"),
    KnownLimit("policies and custom authorizers", "not on a twin; only those set in the brokers'"
               " configs are detected"),
    KnownLimit("listeners", "a twin has one listener on this machine"),
    KnownLimit("other releases", "a twin runs the nearest available version of Kafka"),
    KnownLimit("pipes, redirects, ! and files", "lines that run programs or write files"),
    KnownLimit("other clusters", "lines with connection options"),
)  # fmt: skip


def not_run(command: Command) -> str:
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
        return ShellError(f"not available on a twin: {why}", code=NOT_ON_TWIN)


def _why_not_sent(api_key: int, to: object) -> str:
    if api_key in _CONFIGS and isinstance(to, Node):
        return ONE_BROKER
    return next((each.why for each in _REFUSED if api_key in each.keys), "")


def in_part(sent: set[int]) -> str:
    """Why the outcome of a line that sent these requests is unknown although all succeeded, or an
    empty string."""
    return next((each.why for each in _IN_PART if each.keys & sent), "")


def known_limits() -> Iterator[KnownLimit]:
    """Everything that a rehearsal cannot check."""
    for each in (*_REFUSED, *_IN_PART):
        yield KnownLimit(each.what, each.why)
    yield KnownLimit("configs of a single broker", ONE_BROKER)
    for name, why in _COMMANDS.items():
        yield KnownLimit(name, why)
    yield from _ALWAYS
