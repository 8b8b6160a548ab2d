"""The cache on disk: names, and the documentation of config keys.

Does not import the package kafka, because completion scripts read names from here.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol

from kafka_shell.admin.configs.model import ConfigType, ResourceType
from kafka_shell.private import write_private
from kafka_shell.structs import replace

from .match import NameIndex
from .view import NAMES, ClusterView, ConfigDoc, Part, TopicIndex

FORMAT = 1
Say = Callable[[str], None]


class HasCache(Protocol):
    """An object with the cache folder (`context.Paths`)."""

    @property
    def cache(self) -> Path: ...


class Shelf:
    """The files of a cache folder. Damaged files are renamed and reported with `say`."""

    def __init__(self, folder: Path, say: Say = lambda note: None) -> None:
        self._folder = folder
        self._say = say

    def view(self, bootstrap: str) -> ClusterView:
        """Return a view with the saved names and the newest documentation."""
        kept = self._load(self._topics_file(bootstrap)) or {}
        view = ClusterView(bootstrap=bootstrap, cluster_id=str(kept.get("cluster_id", "")))
        if names := list(map(str, kept.get("topics", ()))):
            view = replace(view, topics=Part(TopicIndex(NameIndex(names))))
        for part, known in self.names(bootstrap).items():
            view = view.with_part(part, Part(NameIndex(known)))
        for kind in ResourceType:
            if docs := self.any_documentation(kind):
                view = view.with_documentation(kind, Part(MappingProxyType(docs)))
        return view

    # -- topics ----------------------------------------------------------------------------------

    def topics(self, bootstrap: str) -> list[str]:
        """Return the saved topic names."""
        found = self._load(self._topics_file(bootstrap))
        return list(map(str, found.get("topics", ()))) if found else []

    def save_topics(self, bootstrap: str, cluster_id: str, names: Iterable[str]) -> None:
        """Save the names for the next session."""
        payload = {"bootstrap": bootstrap, "cluster_id": cluster_id, "topics": list(names)}
        self._store(self._topics_file(bootstrap), payload)

    def _topics_file(self, bootstrap: str) -> Path:
        return self._folder / "topics" / f"{_key(bootstrap)}.json"

    # -- other names -----------------------------------------------------------------------------

    def names(self, bootstrap: str) -> dict[str, list[str]]:
        """Return the saved names (groups, users ...) by part of the view."""
        found = self._load(self._names_file(bootstrap))
        parts = found.get("parts", {}) if found else {}
        return {part: list(map(str, parts[part])) for part in NAMES if parts.get(part)}

    def save_names(self, bootstrap: str, names: Mapping[str, Iterable[str]]) -> None:
        """Save the names of these parts for the next session."""
        parts = {part: list(known) for part, known in names.items()}
        self._store(self._names_file(bootstrap), {"bootstrap": bootstrap, "parts": parts})

    def _names_file(self, bootstrap: str) -> Path:
        return self._folder / "names" / f"{_key(bootstrap)}.json"

    # -- documentation ---------------------------------------------------------------------------

    def documentation(self, version: str, kind: ResourceType) -> dict[str, ConfigDoc]:
        """Return the saved documentation of a resource type for a Kafka version."""
        return _docs(self._load(self._docs_file(version, kind)))

    def any_documentation(self, kind: ResourceType) -> dict[str, ConfigDoc]:
        """Return the saved documentation of the newest version, until a broker answers."""
        files = (self._folder / "documentation").glob(f"*-{kind.name.lower()}.json")
        newest = max(files, key=_version_in, default=None)
        return _docs(self._load(newest)) if newest else {}

    def save_documentation(
        self, version: str, kind: ResourceType, docs: Mapping[str, ConfigDoc]
    ) -> None:
        """Save the documentation of a Kafka version."""
        rows = {
            doc.name: [int(doc.type), doc.text, doc.default, doc.read_only, doc.sensitive]
            for doc in docs.values()
        }
        self._store(self._docs_file(version, kind), {"version": version, "keys": rows})

    def _docs_file(self, version: str, kind: ResourceType) -> Path:
        safe = "".join(char if char.isalnum() or char == "." else "_" for char in version)
        return self._folder / "documentation" / f"{safe}-{kind.name.lower()}.json"

    # -- files -----------------------------------------------------------------------------------

    def _load(self, path: Path) -> dict[str, Any] | None:
        """Return the content of a file; None if it is missing, damaged or of another format."""
        try:
            found = json.loads(path.read_bytes())
            if not isinstance(found, dict) or not isinstance(found.get("format"), int):
                raise ValueError("no format")
            if found["format"] == FORMAT:
                _check(found)
                return found
        except FileNotFoundError:
            pass
        except OSError as error:
            self._say(f"cannot read the cache file {path}: {error.strerror}")
        except (ValueError, RecursionError):
            self._rename_damaged(path)
        return None

    def _rename_damaged(self, path: Path) -> None:
        aside = path.with_name(path.name + ".broken")
        try:
            path.replace(aside)
        except OSError:
            return
        self._say(f"a damaged cache file was renamed to {aside}; a new one will be created")

    def _store(self, path: Path, payload: Mapping[str, Any]) -> None:
        try:
            write_private(path, json.dumps({"format": FORMAT, **payload}).encode())
        except OSError as error:
            self._say(f"cannot write the cache in {path.parent}: {error.strerror}")


def view_on_disk(paths: HasCache, bootstrap: str) -> ClusterView:
    """Return the saved view of the cluster at this bootstrap (`host:port[,host:port]`)."""
    return Shelf(paths.cache).view(bootstrap)


def _key(bootstrap: str) -> str:
    return hashlib.sha256(bootstrap.encode()).hexdigest()[:16]


def _check(found: Mapping[str, Any]) -> None:
    shapes = {"topics": list, "keys": dict, "parts": dict}
    if not all(isinstance(found.get(name, kind()), kind) for name, kind in shapes.items()):
        raise ValueError("unexpected structure")
    if not all(isinstance(names, list) for names in found.get("parts", {}).values()):
        raise ValueError("unexpected structure")
    for row in found.get("keys", {}).values():
        if not isinstance(row, list) or len(row) != 5 or not isinstance(row[0], int):
            raise ValueError("unexpected row")


def _docs(found: Mapping[str, Any] | None) -> dict[str, ConfigDoc]:
    rows = found.get("keys", {}) if found else {}
    return {
        name: ConfigDoc(
            name, ConfigType(kind), str(text), default, bool(read_only), bool(sensitive)
        )
        for name, (kind, text, default, read_only, sensitive) in rows.items()
    }


def _version_in(path: Path) -> tuple[int, ...]:
    digits = path.name.rpartition("-")[0].split(".")
    return tuple(int(part) if part.isdecimal() else 0 for part in digits)
