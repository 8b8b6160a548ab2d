"""The renderers of a model, declared in the render module of its family.

A render module may declare, by type of the model: COLUMNS (table columns), PAGES (a page for one
model), SEQUENCES (a page for several models), ROWS (the CSV rows of a model).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from types import ModuleType
from typing import Any

from msgspec import Struct

from kafka_shell.output.tables import Column
from kafka_shell.output.text import Text

Page = Callable[[Any, int | None], Iterator[Text]]
SequencePage = Callable[[Sequence[Any], int | None], Iterator[Text]]
Rows = Callable[[Any], Iterable[object]]


class Renderers(Struct, frozen=True):
    """Finds renderers in the module that `module_of` returns for a type of model, if any."""

    module_of: Callable[[type], ModuleType | None]

    def columns(self, kind: type) -> tuple[Column, ...] | None:
        """The table columns declared for this model, or None."""
        found: tuple[Column, ...] | None = self._declared("COLUMNS", kind)
        return found

    def page(self, kind: type) -> Page | None:
        """The function that renders this model as a page, or None."""
        found: Page | None = self._declared("PAGES", kind)
        return found

    def sequence(self, kind: type) -> SequencePage | None:
        """The function that renders several of this model together, or None."""
        found: SequencePage | None = self._declared("SEQUENCES", kind)
        return found

    def rows(self, kind: type) -> Rows | None:
        """The function that returns the CSV rows of this model, or None."""
        found: Rows | None = self._declared("ROWS", kind)
        return found

    def _declared(self, table: str, kind: type) -> Any:
        return getattr(self.module_of(kind), table, {}).get(kind)


NO_RENDERERS = Renderers(lambda kind: None)
