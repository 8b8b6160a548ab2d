"""What the last session knew, kept on disk: names, and the documentation of config keys.

Imports nothing of Kafka: the shells' completion scripts read names through here.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol

from kafka_shell.admin.configs.model import ConfigType, ResourceType
from kafka_shell.private import write_private

from .match import NameIndex
from .view import NAMES, ClusterView, ConfigDoc, Part, TopicIndex

FORMAT = 1
Say = Callable[[str], None]


class HasCache(Protocol):
    """Whatever knows the cache folder (`context.Paths`)."""

    @property
    def cache(self) -> Path: ...


class Shelf:
    """The files of one cache folder. What cannot be read is set aside and said through `say`."""

    def __init__(self, folder: Path, say: Say = lambda note: None) -> None:
        self._folder = folder
        self._say = say

    def view(self, bootstrap: str) -> ClusterView:
        """The last session's names, and the newest documentation there is of the keys."""
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
        """Names of the cluster's topics as they were; none where nothing is kept."""
        found = self._load(self._topics_file(bootstrap))
        return list(map(str, found.get("topics", ()))) if found else []

    def keep_topics(self, bootstrap: str, cluster_id: str, names: Iterable[str]) -> None:
        """Keep the names for the next start."""
        payload = {"bootstrap": bootstrap, "cluster_id": cluster_id, "topics": list(names)}
        self._store(self._topics_file(bootstrap), payload)

    def _topics_file(self, bootstrap: str) -> Path:
        return self._folder / "topics" / f"{_key(bootstrap)}.json"

    # -- other names -----------------------------------------------------------------------------

    def names(self, bootstrap: str) -> dict[str, list[str]]:
        """Groups, users ... as they were, by the part of the view; none where nothing is kept."""
        found = self._load(self._names_file(bootstrap))
        parts = found.get("parts", {}) if found else {}
        return {part: list(map(str, parts[part])) for part in NAMES if parts.get(part)}

    def keep_names(self, bootstrap: str, names: Mapping[str, Iterable[str]]) -> None:
        """Keep the names of these parts for the next start."""
        parts = {part: list(known) for part, known in names.items()}
        self._store(self._names_file(bootstrap), {"bootstrap": bootstrap, "parts": parts})

    def _names_file(self, bootstrap: str) -> Path:
        return self._folder / "names" / f"{_key(bootstrap)}.json"

    # -- documentation ---------------------------------------------------------------------------

    def documentation(self, version: str, kind: ResourceType) -> dict[str, ConfigDoc]:
        """The keys of this kind of resource, as brokers of this version document them."""
        return _docs(self._load(self._docs_file(version, kind)))

    def any_documentation(self, kind: ResourceType) -> dict[str, ConfigDoc]:
        """The same, of the newest version there is: better than nothing before a broker answers."""
        files = (self._folder / "documentation").glob(f"*-{kind.name.lower()}.json")
        newest = max(files, key=_version_in, default=None)
        return _docs(self._load(newest)) if newest else {}

    def keep_documentation(
        self, version: str, kind: ResourceType, docs: Mapping[str, ConfigDoc]
    ) -> None:
        """Keep the documentation of this version's keys."""
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
        """The file's content; None where it is not there, of another format, or set aside."""
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
            self._say(f"the cache file {path} cannot be read: {error.strerror}")
        except (ValueError, RecursionError):
            self._set_aside(path)
        return None

    def _set_aside(self, path: Path) -> None:
        aside = path.with_name(path.name + ".broken")
        try:
            path.replace(aside)
        except OSError:
            return
        self._say(f"a cache file was broken; it is now {aside}, and will be made again")

    def _store(self, path: Path, payload: Mapping[str, Any]) -> None:
        try:
            write_private(path, json.dumps({"format": FORMAT, **payload}).encode())
        except OSError as error:
            self._say(f"the cache could not be kept in {path.parent}: {error.strerror}")


def names_on_disk(paths: HasCache, bootstrap: str) -> list[str]:
    """Topic names that the last session on this bootstrap (`host:port[,host:port]`) saw."""
    return Shelf(paths.cache).topics(bootstrap)


def view_on_disk(paths: HasCache, bootstrap: str) -> ClusterView:
    """What is known of the cluster at this bootstrap without asking it."""
    return Shelf(paths.cache).view(bootstrap)


def _key(bootstrap: str) -> str:
    return hashlib.sha256(bootstrap.encode()).hexdigest()[:16]


def _check(found: Mapping[str, Any]) -> None:
    shapes = {"topics": list, "keys": dict, "parts": dict}
    if not all(isinstance(found.get(name, kind()), kind) for name, kind in shapes.items()):
        raise ValueError("not what this file should hold")
    if not all(isinstance(names, list) for names in found.get("parts", {}).values()):
        raise ValueError("not what this file should hold")
    for row in found.get("keys", {}).values():
        if not isinstance(row, list) or len(row) != 5 or not isinstance(row[0], int):
            raise ValueError("not a key's row")


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
