"""What dataclasses.replace, asdict and fields do, for msgspec structs.

The models are structs, not dataclasses: `@dataclass` compiles six methods for every class, which
took a third of the time of a one-shot.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct
from msgspec.structs import replace as replace


def fields(struct: Struct | type[Struct]) -> tuple[str, ...]:
    """The names of the fields, in their order."""
    return struct.__struct_fields__


def asdict(value: Any) -> Any:
    """The fields by name, also of the structs in them."""
    if isinstance(value, Struct):
        return {name: asdict(getattr(value, name)) for name in fields(value)}
    return [asdict(item) for item in value] if isinstance(value, tuple | list) else value
