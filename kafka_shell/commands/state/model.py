"""The state of a cluster, or the part of it that a state file describes."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

from msgspec import Struct
from msgspec import field as default

from kafka_shell.admin.topics.model import NewTopic
from kafka_shell.admin.topics.steps import spell_configs
from kafka_shell.admin.users.model import ScramMechanism
from kafka_shell.base.plans import Change, Resource
from kafka_shell.base.results import Failure
from kafka_shell.base.structs import replace
from kafka_shell.base.units import counted
from kafka_shell.commands.state.document import DocumentValue

Value = str | int | float
Fields = dict[str, Value]

TOPIC_NAME = re.compile("[a-zA-Z0-9._-]{1,249}")
# Fields of a topic. All other fields of a topic are configs.
PARTITIONS, FACTOR, ASSIGNMENT = "partitions", "replication_factor", "replica_assignment"
ASSIGNMENT_PATTERN = "[0-9]+(:[0-9]+)*( *, *[0-9]+(:[0-9]+)*)*"
_ASSIGNMENT = re.compile(ASSIGNMENT_PATTERN)
ANY_ITERATIONS = 0  # of a user, if the file does not say how many
SHAPE = (PARTITIONS, FACTOR, ASSIGNMENT)
MAXIMUM = {PARTITIONS: (1 << 31) - 1, FACTOR: (1 << 15) - 1}

# The keys of these kinds are ConfigResources; those of the others are str (topics, users),
# AclBinding, QuotaEntity and ClientEntity.
CONFIG_KINDS = ("broker_configs", "client_metrics", "group_configs")
DEFAULT_BROKER = "default"  # the key of the cluster-wide broker default


class Password(Struct, frozen=True):
    """Where the password of a new user comes from: a file, or `generate`."""

    file: str = ""
    generate: bool = False


class State(Struct):
    """Resources by kind, each with its fields; raw values, as in the protocol.

    A kind that is not in `parts` was not read, or is not in the file. `scope` are the selectors of
    the resources that a file covers, by kind. `lists` are config keys whose values are lists,
    `texts` those whose values are text.
    `places` are the positions of resources in their files, and of their configs; `covered` are
    resources named without content, such as a topic without ACLs. `unread` is why a kind or a
    resource could not be read, `absent` why the cluster does not have a kind (ACLs without an
    authorizer). `notes` are warnings about what a file cannot contain.

    Of a cluster, `sensitive` are the configs whose values brokers do not show, by resource and key,
    and whether they are set on the resource itself. A file has None. `complete` are the kinds of
    which everything was read.
    """

    parts: dict[str, dict[Any, Fields]] = default(default_factory=dict)
    scope: dict[str, tuple[str, ...]] = default(default_factory=dict)
    passwords: dict[tuple[str, ScramMechanism], Password] = default(default_factory=dict)
    lists: set[str] = default(default_factory=set)
    texts: set[str] = default(default_factory=set)
    places: dict[tuple[Any, ...], DocumentValue] = default(default_factory=dict)
    covered: dict[str, set[str]] = default(default_factory=dict)
    unread: dict[str, Failure] = default(default_factory=dict)
    absent: dict[str, Failure] = default(default_factory=dict)
    notes: list[str] = default(default_factory=list)
    sensitive: dict[tuple[str, str], bool] | None = None
    complete: set[str] = default(default_factory=set)

    def part(self, kind: str) -> Mapping[Any, Fields]:
        """The resources of a kind; empty if it was not read."""
        return self.parts.get(kind, {})


def only(state: State, kinds: Collection[str]) -> State:
    """The state with these kinds."""
    return replace(
        state,
        parts={kind: part for kind, part in state.parts.items() if kind in kinds},
        scope={kind: words for kind, words in state.scope.items() if kind in kinds},
    )


class Difference(Struct, frozen=True):
    """One field of one resource with its value on each side; None if it is not set there.

    Without a field, the whole resource is on one side only, with the fields `whole`.
    """

    kind: str
    key: Any
    field: str = ""
    before: Value | None = None
    after: Value | None = None
    verb: str = "alter"
    whole: Mapping[str, Value] = default(default_factory=dict)

    @property
    def change(self) -> Change:
        """The difference as a change from one side to the other."""
        resource = resource_of(self.kind, self.key)
        if self.field:
            return Change(resource, "alter", self.field, self.before, self.after)
        text = describe_topic(self.whole) if self.kind == "topics" else None
        if self.verb == "create":
            return Change(resource, "create", after=text)
        return Change(resource, "delete", before=text)


def resource_of(kind: str, key: Any) -> Resource:
    """The resource that changes of this key name."""
    if kind == "topics":
        return Resource("topic", key)
    if kind == "users":
        return Resource("user", key)
    if kind in ("acls", "quotas", "client_configs"):
        found: Resource = key.resource
        return found
    return Resource(key.kind, key.name)


def owner(kind: str, key: Any) -> str:
    """What a file names and a scope selects: for an ACL its resource pattern, else the key."""
    if kind == "acls":
        return str(key.target)
    if kind in CONFIG_KINDS:
        return key.name or DEFAULT_BROKER
    return str(key)


def order(key: Any) -> Any:
    """The sort key of a resource within its kind."""
    return getattr(key, "order", key)


def describe_topic(fields: Mapping[str, Value]) -> str:
    """`6 partitions, replication factor 3, retention.ms=7d`."""
    parts = []
    if PARTITIONS in fields:
        parts.append(counted(int(fields[PARTITIONS]), "partition"))
    if FACTOR in fields:
        parts.append(f"replication factor {fields[FACTOR]}")
    return ", ".join([*parts, *spell_configs(configs_of(fields))]) or "broker defaults"


def configs_of(fields: Mapping[str, Value]) -> tuple[tuple[str, str], ...]:
    """The configs among the fields of a topic."""
    return tuple((key, str(value)) for key, value in fields.items() if key not in SHAPE)


def read_assignment(text: str) -> tuple[tuple[int, ...], ...]:
    """The replicas of each partition of `1:2,2:3`. Raises ValueError."""
    if not _ASSIGNMENT.fullmatch(text):
        raise ValueError("not an assignment")
    replicas = tuple(tuple(int(id) for id in each.split(":")) for each in text.split(","))
    if any(id >= 1 << 31 for each in replicas for id in each):
        raise ValueError("not a broker ID")
    return replicas


def new_topic(name: str, fields: Mapping[str, Any]) -> NewTopic:
    """The topic to create for the fields of a topic in a file."""
    assignment = read_assignment(str(fields[ASSIGNMENT])) if ASSIGNMENT in fields else ()
    return NewTopic(
        name,
        None if assignment else fields.get(PARTITIONS),
        None if assignment else fields.get(FACTOR),
        assignment,
        configs_of(fields),
    )


class Differing(Struct, frozen=True):
    """One difference as it is published."""

    resource: Resource
    verb: str
    field: str
    before: Value | None
    after: Value | None

    @staticmethod
    def of(change: Change) -> Differing:
        """The change without what only plans have."""
        return Differing(change.resource, change.verb, change.field, change.before, change.after)

    @property
    def change(self) -> Change:
        """The change that leads from one side to the other."""
        return Change(self.resource, self.verb, self.field, self.before, self.after)


class StateDiff(Struct, frozen=True):
    """The differences between two states: what leads from `before` to `after`.

    `unread` is what could not be compared. `out_of_scope` is what is only on the cluster and
    outside the scope of the file: no difference, as `apply --prune` does not delete it.
    """

    before: str
    after: str
    changes: tuple[Differing, ...]
    unread: Mapping[str, Failure] = default(default_factory=dict)
    out_of_scope: tuple[Differing, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether all was compared, and nothing differs."""
        return not self.changes and not self.unread
