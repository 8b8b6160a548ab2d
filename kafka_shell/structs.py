"""What dataclasses.replace, asdict and fields do, for msgspec structs.

The models are structs, not dataclasses: `@dataclass` compiles six methods for every class, which
took a third of the time of a one-shot.
"""

from __future__ import annotations

from typing import Any, TypeVar

from msgspec import Struct

S = TypeVar("S", bound=Struct)


def fields(struct: Struct | type[Struct]) -> tuple[str, ...]:
    """The names of the fields, in their order."""
    return struct.__struct_fields__


def replace(struct: S, /, **changes: Any) -> S:
    """A copy of the struct with other values in some fields."""
    values = {name: getattr(struct, name) for name in struct.__struct_fields__}
    return type(struct)(**values | changes)


def asdict(value: Any) -> Any:
    """The fields by name, also of the structs in them."""
    if isinstance(value, Struct):
        return {name: asdict(getattr(value, name)) for name in value.__struct_fields__}
    return [asdict(item) for item in value] if isinstance(value, tuple | list) else value
