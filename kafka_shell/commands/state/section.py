"""A section of state files: resources of one kind. A new kind is one file in `sections/`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec import field as default

from kafka_shell.admin.configs.checks import ConfigRefused
from kafka_shell.base.errors import MistakeCollector, Mistakes
from kafka_shell.base.plans import Change, Plan, Resource, Secret
from kafka_shell.base.results import Failure
from kafka_shell.commands import function
from kafka_shell.commands.acls.rules import Rule
from kafka_shell.commands.state.document import DocumentValue
from kafka_shell.commands.state.model import Fields, Password, State, Value
from kafka_shell.commands.state.spec import KINDS, SECTIONS
from kafka_shell.context import Context
from kafka_shell.wire.client_properties import Property
from kafka_shell.wire.cluster import Cluster

Content = dict[str, Any]
Read = dict[Any, Fields]  # resources by key
Loaded = Iterator[tuple[Any, Fields, DocumentValue]]  # each with its place in the file
Replicas = tuple[tuple[int, ...], ...]  # of each partition


class StateRequest(Struct, frozen=True):
    """What to read: these kinds; of topics and brokers only these (None: all).

    `others` also lists other topics, without their configs, except those whose names begin with
    `__`: they contain the state of Kafka and of this program, and are never pruned. A topic in
    `topics` that does not exist is unread if it is `required`. `assignments` also reads the
    replicas of each partition, `temporary` the configs that are not part of the desired state.
    `subjects` are the selectors of those to read (None: all), `properties` of their registry.
    """

    kinds: Collection[str] = KINDS
    topics: Collection[str] | None = None
    others: bool = False
    required: bool = False
    brokers: Collection[str] | None = None
    internal: bool = True
    assignments: bool = False
    temporary: bool = True
    subjects: Collection[str] | None = None
    properties: Mapping[str, Property] = default(default_factory=dict)


class Loading(Struct):
    """What loaded files add to: the state, and the mistakes. Paths are relative to `folder`.
    `rules` are those of ACLs that were parsed already, by their text."""

    folder: Path = Path()
    state: State = default(default_factory=State)
    mistakes: MistakeCollector = default(default_factory=MistakeCollector)
    rules: dict[str, Rule] = default(default_factory=dict)


class Options(Struct, frozen=True):
    """`prune` deletes what is only on the cluster and within the scope of the file. `reassign`
    moves replicas to the assignment of the file. `move` plans the move of topics to a replication
    factor or assignment, those that grow with their number of partitions. `password` reads or
    generates a password.
    """

    move: Callable[[Mapping[str, int | Replicas], Mapping[str, int]], Plan]
    password: Callable[[Password], Secret]
    prune: bool = False
    reassign: bool = False


class Planning(Struct):
    """A plan of a state file in the making. `changes` are planned by the table of changes; a
    section whose resources need more than that adds plans of its own."""

    context: Context
    wanted: State
    options: Options
    kinds: Collection[str]  # with differences
    changes: list[Change] = default(default_factory=list)
    confirm: bool = False
    refused: dict[Resource, Failure] = default(default_factory=dict)
    warnings: list[str] = default(default_factory=list)
    mistakes: MistakeCollector = default(default_factory=MistakeCollector)

    @contextmanager
    def collecting(self) -> Iterator[None]:
        """Keep the errors for invalid configs, with their resources and positions in the file."""
        try:
            yield
        except (ConfigRefused, Mistakes) as error:
            for problem in error.each if isinstance(error, Mistakes) else (error,):
                assert isinstance(problem, ConfigRefused) and problem.resource is not None
                resource = Resource(problem.resource.kind, problem.resource.name)
                place = self.place(resource, problem.key)
                at = "" if place is None else f"{place}: "
                problem.message = f"{at}{resource}: {problem.message}"
                self.mistakes.found.append(problem)

    def place(self, resource: Resource, config: str) -> DocumentValue | None:
        """The position of a config in the file, or of its resource; None if neither is there."""
        own = self.wanted.config_places.get((resource, config))
        items = (
            at
            for (kind, key), at in self.wanted.places.items()
            if section_of(kind).resource(key) == resource
        )
        return own or next(items, None)


class Section:
    """One kind of resources. The defaults are those of kinds whose keys have a `resource`.

    `whole` resources exist without fields. The fields of `typed` ones are configs with types.
    Fields in `optional` are compared only if the file has them.
    """

    name = ""
    whole = False
    typed = False
    optional: Collection[str] = ()

    def resource(self, key: Any) -> Resource:
        """The resource that changes of this key name."""
        of_key: Resource = key.resource
        return of_key

    def owner(self, key: Any) -> str:
        """What a file names and a scope selects."""
        return str(key)

    def topic(self, key: Any) -> str:
        """The topic that the resource belongs to, or an empty string."""
        return ""

    def describe(self, fields: Mapping[str, Value]) -> str | None:
        """A whole resource in a plan."""
        return None

    def may_exist(self, cluster: Cluster) -> bool:
        """Whether resources may exist although the cluster cannot list them."""
        return False

    def read(self, cluster: Cluster, request: StateRequest, state: State) -> Read:
        """The resources of a cluster. What cannot be read is added to the state's `unread`."""
        raise NotImplementedError

    def load(self, loading: Loading, text: str, at: DocumentValue, place: DocumentValue) -> Loaded:
        """The resources that a file has at `place` under the name `text`, written at `at`."""
        raise NotImplementedError

    def selector(self, text: str, place: DocumentValue) -> str:
        """A selector of a scope, spelled as `owner` does."""
        return text

    def write(self, resources: Mapping[Any, Fields], lists: Collection[str]) -> Content:
        """The section of a file. The values of `lists` are lists."""
        raise NotImplementedError

    def schema(self) -> Content:
        """The JSON Schema of the section."""
        raise NotImplementedError

    def compared(self, old: Fields, new: Fields) -> Iterator[tuple[str, Value | None]]:
        """The fields that are compared, with their new values."""
        for name in dict.fromkeys((*old, *new)):
            yield name, new.get(name)

    def plans(self, differences: Sequence[Difference], planning: Planning) -> Iterable[Plan]:
        """The plans for these differences, besides those of `planning.changes`."""
        planning.changes += (difference.change for difference in differences)
        return ()


class Difference(Struct, frozen=True):
    """One field of one resource with its value on each side; None if it is not set there.

    Without a field, the whole resource is on one side only, with the fields `whole`.
    """

    section: Section
    key: Any
    field: str = ""
    before: Value | None = None
    after: Value | None = None
    verb: str = "alter"
    whole: Mapping[str, Value] = default(default_factory=dict)

    @property
    def removes(self) -> bool:
        """Whether only the first side has it."""
        return self.verb == "delete" or (bool(self.field) and self.after is None)

    @property
    def owner(self) -> str:
        """What a file names and a scope selects."""
        return self.section.owner(self.key)

    @property
    def change(self) -> Change:
        """The difference as a change from one side to the other."""
        resource = self.section.resource(self.key)
        if self.field:
            return Change(resource, "alter", self.field, self.before, self.after)
        text = self.section.describe(self.whole)
        if self.verb == "create":
            return Change(resource, "create", after=text)
        return Change(resource, "delete", before=text)


@cache
def section_of(kind: str) -> Section:
    """The section of this name."""
    section: Section = function(f"state.sections.{SECTIONS[kind]}")()
    section.name = kind
    return section


def order(key: Any) -> Any:
    """The sort key of a resource within its kind."""
    return getattr(key, "order", key)
