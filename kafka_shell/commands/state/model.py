"""The state of a cluster, or the part of it that a state file describes."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from msgspec import Struct
from msgspec import field as default

from kafka_shell.admin.users.model import ScramMechanism
from kafka_shell.base.plans import Change, Resource
from kafka_shell.base.results import Failure
from kafka_shell.base.structs import replace
from kafka_shell.commands.state.document import DocumentValue

Value = str | int | float
Fields = dict[str, Value]

ANY_ITERATIONS = 0  # of a user, if the file does not say how many


class Password(Struct, frozen=True):
    """Where the password of a new user comes from: a file, or `generate`."""

    file: str = ""
    generate: bool = False


class State(Struct):
    """Resources by kind, each with its fields; raw values, as in the protocol.

    A kind that is not in `parts` was not read, or is not in the file. `scope` are the selectors of
    the resources that a file covers, by kind. `lists` are config keys whose values are lists,
    `texts` those whose values are text.
    `places` are the positions of resources in their files, by kind and key; `config_places` are
    those of configs; `covered` are resources named without content, such as a topic without ACLs.
    `unread` is why a kind or a resource could not be read, `absent` why the cluster does not have a
    kind (ACLs without an authorizer). `notes` are warnings about what a file cannot contain.

    Of a cluster, `sensitive` are the configs whose values brokers do not show, by resource and key,
    and whether they are set on the resource itself. A file has None. `complete` are the kinds of
    which everything was read.
    """

    parts: dict[str, dict[Any, Fields]] = default(default_factory=dict)
    scope: dict[str, tuple[str, ...]] = default(default_factory=dict)
    passwords: dict[tuple[str, ScramMechanism], Password] = default(default_factory=dict)
    lists: set[str] = default(default_factory=set)
    texts: set[str] = default(default_factory=set)
    places: dict[tuple[str, Any], DocumentValue] = default(default_factory=dict)
    config_places: dict[tuple[Resource, str], DocumentValue] = default(default_factory=dict)
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
