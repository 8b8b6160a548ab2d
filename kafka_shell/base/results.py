"""Results of an operation on many items: each item has a value or a failure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from msgspec import Struct, field

if TYPE_CHECKING:
    from kafka_shell.base.errors import ShellError
    from kafka_shell.base.structs import Resource

K = TypeVar("K")
L = TypeVar("L")
V = TypeVar("V")
W = TypeVar("W")


def mentions(message: str, about: str) -> bool:
    """Whether a message contains the name of the resource `about` (`topic orders`) as a word.

    A name of letters only could be an ordinary word of the message ("no such topic"): it counts
    only in quotes or after a resource type.
    """
    kind, space, name = about.partition(" ")
    word = rf"(?<![\w.-]){re.escape(name or kind)}(?![\w-])"
    if (name or kind).isalpha():
        prefix = rf"\b{re.escape(kind)} " if space else r"\b(?:topic|group|user|broker|partition) "
        word = rf"(?:['\"]|{prefix}){word}"
    return re.search(word, message, re.IGNORECASE if space else 0) is not None


# Features that a cluster does not have: no authorizer, no delegation tokens, no such API.
NO_TOKENS = ("DELEGATION_TOKEN_AUTH_DISABLED", "DELEGATION_TOKEN_REQUEST_NOT_ALLOWED")
ABSENT = frozenset(
    {"SECURITY_DISABLED", *NO_TOKENS, "unsupported-api", "unsupported-version", "no-registry"}
)


class Failure(Struct, frozen=True):
    """Why one item failed: Kafka's error name (`UNKNOWN_TOPIC_OR_PARTITION`) and a message.

    `code` is Kafka's error code, or None if the client reports the failure. `hint` says what to
    do, and `see` names the resource whose state explains the failure. `requires` is the missing
    permission: "DESCRIBE on topic orders"; the hint repeats it.
    """

    name: str
    message: str
    code: int | None = None
    hint: str = ""
    see: Resource | None = None
    requires: str = ""

    def __str__(self) -> str:
        name = f" ({self.name})" if self.name.isupper() else ""
        return f"{self.message}{name}" if self.message else self.name


def as_failure(error: ShellError) -> Failure:
    """An exception as a Failure."""
    code, requires = getattr(error, "kafka_code", None), getattr(error, "requires", "")
    return Failure(error.code, error.message, code, error.hint, error.see, requires)


class Results(Struct, Generic[K, V], frozen=True):
    """Values and failures by key, in the order of the request. No key is in both."""

    values: dict[K, V] = field(default_factory=dict)
    failures: dict[K, Failure] = field(default_factory=dict)

    @staticmethod
    def of(keys: Iterable[K], failures: Iterable[Failure | None]) -> Results[K, K]:
        """Each key by itself, or with the failure at its place."""
        results: Results[K, K] = Results()
        for key, failure in zip(keys, failures, strict=True):
            if failure is None:
                results.values[key] = key
            else:
                results.failures[key] = failure
        return results

    @staticmethod
    def collect(outcomes: Iterable[tuple[K, V | Failure]]) -> Results[K, V]:
        """Each key with its value or its failure."""
        results: Results[K, V] = Results()
        for key, outcome in outcomes:
            if isinstance(outcome, Failure):
                results.failures[key] = outcome
            else:
                results.values[key] = outcome
        return results

    @property
    def ok(self) -> bool:
        """Whether nothing failed."""
        return not self.failures

    def __iter__(self) -> Iterator[V]:
        return iter(self.values.values())

    def __len__(self) -> int:
        return len(self.values) + len(self.failures)

    def __getitem__(self, key: K) -> V:
        return self.values[key]

    def flat(self) -> Iterator[object]:
        """The values, and the items of those that are sequences."""
        for value in self:
            if isinstance(value, tuple | list):
                yield from value
            else:
                yield value

    def map(self, function: Callable[[V], W]) -> Results[K, W]:
        """The same results with `function` applied to every value."""
        return Results({k: function(v) for k, v in self.values.items()}, self.failures)

    def keyed(self, key: Callable[[K], L]) -> Results[L, V]:
        """The same results by the key that `key` returns for each."""
        values = {key(each): value for each, value in self.values.items()}
        return Results(values, {key(each): why for each, why in self.failures.items()})

    @staticmethod
    def merge(parts: Iterable[Results[K, V]]) -> Results[K, V]:
        """One Results of several. A failure replaces a value of the same key."""
        values: dict[K, V] = {}
        failures: dict[K, Failure] = {}
        for part in parts:
            values.update(part.values)
            failures.update(part.failures)
        return Results({k: v for k, v in values.items() if k not in failures}, failures)


Rows = Results[Any, V] | tuple[V, ...]


def with_failures(rows: Iterable[V], failures: Mapping[Any, Failure]) -> Rows[V]:
    """Rows in their order; Results if something is missing among them."""
    return Results(dict(enumerate(rows)), dict(failures)) if failures else tuple(rows)


class Parts(Iterator[Results[K, V]]):
    """Results that arrive in parts. `failures` are those of the parts read so far."""

    def __init__(self, parts: Iterable[Results[K, V]]) -> None:
        self._parts = iter(parts)
        self.failures: dict[K, Failure] = {}

    def __next__(self) -> Results[K, V]:
        part = next(self._parts)
        self.failures.update(part.failures)
        return part

    @property
    def ok(self) -> bool:
        """Whether nothing has failed so far."""
        return not self.failures
