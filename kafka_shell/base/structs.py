"""What models are made of, and a limit for nested data."""

from __future__ import annotations

from enum import IntEnum
from typing import Any, Self, TypeVar

from msgspec import Struct
from msgspec.structs import replace as replace

# What dataclasses.replace, asdict and fields do, for msgspec structs.
#
# The models are structs, not dataclasses: `@dataclass` compiles six methods for every class, which
# took a third of the time of a one-shot.


def fields(struct: Struct | type[Struct]) -> tuple[str, ...]:
    """The names of the fields, in their order."""
    return struct.__struct_fields__


def asdict(value: Any) -> Any:
    """The fields by name, also of the structs in them."""
    if isinstance(value, Struct):
        return {name: asdict(getattr(value, name)) for name in fields(value)}
    return [asdict(item) for item in value] if isinstance(value, tuple | list) else value


# Enums whose values are codes of Kafka's protocol.


class CodedEnum(IntEnum):
    """An enum with a member UNKNOWN, which stands for every code that has no member."""

    @classmethod
    def _missing_(cls, value: object) -> Self:
        return cls["UNKNOWN"]


# A resource of a cluster: what a change or an error is about.


class Resource(Struct, frozen=True, order=True):
    """A resource by kind and name. `kind` is Kafka's word: topic, broker, broker-default, group ...

    Without a name it is the resources of that kind: `Resource("topic")` is the topics.
    """

    kind: str
    name: str = ""

    def __str__(self) -> str:
        return " ".join(filter(None, (self.kind, self.name)))


# -- nested data ----------------------------------------------------------------------------------

T = TypeVar("T")
MAX_LEVELS = 500  # a parser accepts more than what processes its result does


def limited(data: T) -> T:
    """Return the data of a JSON parser. Raises RecursionError, as parsers do, if it has more levels
    than MAX_LEVELS."""
    level: list[object] = [data]
    for _ in range(MAX_LEVELS + 1):
        level = [
            child
            for value in level
            if isinstance(value, dict | list)
            for child in (value.values() if isinstance(value, dict) else value)
        ]
        if not level:
            return data
    raise RecursionError
