"""Results of commands besides models: no rows, rows created when needed, a list of names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar, overload

from msgspec import Struct, field

from kafka_shell.base.text import named

Row = TypeVar("Row", covariant=True)
FORMATS = ("table", "json", "yaml", "csv")  # of the output


class NoRows(Struct, frozen=True):
    """A result without rows. `note` is printed on standard error."""

    note: str


class Document(Struct, frozen=True):
    """A text that is printed as is in every format, on a terminal in the colors of its language.
    `failures` are parts that it lacks."""

    text: str
    language: str = ""
    failures: Mapping[str, Any] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """Whether nothing is missing."""
        return not self.failures


class StreamedOutput(Iterator[object]):
    """Output that arrives in pieces, the same in every format: text and bytes, which are printed as
    is, and lists of lines (output.text). `failures` are what it lacks; more may be added while it
    is read. `language` is that of text, for colors."""

    def __init__(
        self, pieces: Iterable[object], failures: Mapping[Any, Any], language: str = ""
    ) -> None:
        self._pieces = iter(pieces)
        self.language = language
        self.failures = failures

    def __next__(self) -> object:
        return next(self._pieces)

    @property
    def ok(self) -> bool:
        """Whether nothing is missing so far."""
        return not self.failures


class LazyRows(Sequence[Row]):
    """Rows that are created when accessed: often only the names of many rows are needed."""

    def __init__(self, names: Sequence[str], make: Callable[[str], Row]) -> None:
        self.names = names
        self._make = make

    def __len__(self) -> int:
        return len(self.names)

    @overload
    def __getitem__(self, index: int) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> LazyRows[Row]: ...
    def __getitem__(self, index: int | slice) -> Row | LazyRows[Row]:
        if isinstance(index, slice):
            return LazyRows(self.names[index], self._make)
        return self._make(self.names[index])


class Listing(Struct, frozen=True):
    """Rows that are printed as one field per line, unless `long`."""

    rows: Sequence[object]
    field: str = "name"
    long: bool = False

    def field_values(self) -> list[str]:
        """The field of each row; `''` if it is empty."""
        if isinstance(self.rows, LazyRows):
            return list(self.rows.names)
        return [named(str(getattr(row, self.field))) for row in self.rows]
