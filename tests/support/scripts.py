"""Scripts on standard input."""

from __future__ import annotations

from collections.abc import Callable

from tests.support.program import Run

Script = Callable[..., Run]
