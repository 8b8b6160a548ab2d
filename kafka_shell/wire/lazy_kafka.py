"""Makes `import kafka.protocol.admin` import the messages, not all of kafka-python.

The package `kafka` imports its consumer, producer and admin client, which takes longer than most
commands. `defer` lets it do so when one of its own names is first used.
"""

from __future__ import annotations

import sys
from importlib.machinery import PathFinder
from threading import RLock
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType

_PACKAGE = "kafka"


def defer() -> None:
    """Defer what the package imports, in the whole process. For programs, not for libraries."""
    if _PACKAGE not in sys.modules:
        sys.meta_path.insert(0, _Finder())


class _Finder:
    """Finds the package, once. Of no base class, as `importlib.abc` takes long to import."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != _PACKAGE:
            return None
        sys.meta_path.remove(self)
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = _Deferred(spec.loader)  # type: ignore[assignment]
        return spec


class _Deferred:
    """Executes the package at the first use of a name that it does not have yet."""

    def __init__(self, loader: Any) -> None:
        self._loader = loader
        self._lock = RLock()
        self._executed = False

    def create_module(self, spec: ModuleSpec) -> None:
        """As usual."""

    def exec_module(self, module: ModuleType) -> None:
        def of_package(name: str) -> Any:
            with self._lock:
                if not self._executed and name != "__path__":
                    self._executed = True  # also while it is executed: it imports itself
                    self._loader.exec_module(module)
                try:
                    return vars(module)[name]
                except KeyError:
                    about = f"module {_PACKAGE!r} has no attribute {name!r}"
                    raise AttributeError(about, name=name, obj=module) from None

        vars(module)["__getattr__"] = of_package
