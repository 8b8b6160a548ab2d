"""The cache on disk: names, and the documentation of config keys.

Does not import the package kafka, because completion scripts read names from here.
"""

from __future__ import annotations

from binascii import crc32
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Literal, TypeVar
from urllib.parse import quote

import msgspec
from msgspec import Struct

from kafka_shell.admin.configs.model import ResourceType
from kafka_shell.base.files import write_private
from kafka_shell.base.structs import replace
from kafka_shell.base.units import ConfigType
from kafka_shell.view.match import NameIndex
from kafka_shell.view.view import NAMES, ClusterView, ConfigDoc, Part, TopicIndex

_MOST_NAME = 100  # characters of a bootstrap in the name of its file
Say = Callable[[str], None]
File = TypeVar("File", bound=Struct)
ConfigRow = tuple[int, str, str | None, bool, bool]
"""The documentation of a config key: type, text, default, read-only, sensitive."""


class _Topics(Struct, forbid_unknown_fields=True):
    """The topic names of a cluster."""

    cluster_id: str = ""
    topics: list[str] = []
    format: Literal[1] = 1


class _Names(Struct, forbid_unknown_fields=True):
    """Other names of a cluster, by part of the view."""

    parts: dict[str, list[str]] = {}
    format: Literal[1] = 1


class _Documentation(Struct, forbid_unknown_fields=True):
    """The documentation of the config keys of a resource type, for a Kafka version."""

    keys: dict[str, ConfigRow] = {}
    format: Literal[1] = 1


class DiskCache:
    """The files of a cache folder. Files that cannot be read or written are reported with `say`;
    damaged ones, and those of another format, are replaced when something is saved next."""

    def __init__(self, folder: Path, say: Say = lambda note: None) -> None:
        self._folder = folder
        self._say = say

    def view(self, bootstrap: str) -> ClusterView:
        """Return a view with the saved names and the newest documentation."""
        kept = self._load(self._topics_file(bootstrap), _Topics)
        view = ClusterView(cluster_id=kept.cluster_id)
        if kept.topics:
            view = replace(view, topics=Part(TopicIndex(NameIndex(kept.topics))))
        for part, known in self.names(bootstrap).items():
            view = view.with_part(part, Part(NameIndex(known)))
        for kind in ResourceType:
            if docs := self.any_documentation(kind):
                view = view.with_documentation(kind, Part(MappingProxyType(docs)))
        return view

    # -- topics ----------------------------------------------------------------------------------

    def save_topics(self, bootstrap: str, cluster_id: str, names: Iterable[str]) -> None:
        """Save the names for the next session."""
        self._store(self._topics_file(bootstrap), _Topics(cluster_id, list(names)))

    def _topics_file(self, bootstrap: str) -> Path:
        return self._folder / "topics" / f"{_key(bootstrap)}.json"

    # -- other names -----------------------------------------------------------------------------

    def names(self, bootstrap: str) -> dict[str, list[str]]:
        """Return the saved names (groups, users ...) by part of the view."""
        parts = self._load(self._names_file(bootstrap), _Names).parts
        return {part: parts[part] for part in NAMES if parts.get(part)}

    def save_names(self, bootstrap: str, names: Mapping[str, Iterable[str]]) -> None:
        """Save the names of these parts for the next session."""
        parts = {part: list(known) for part, known in names.items()}
        self._store(self._names_file(bootstrap), _Names(parts))

    def _names_file(self, bootstrap: str) -> Path:
        return self._folder / "names" / f"{_key(bootstrap)}.json"

    # -- documentation ---------------------------------------------------------------------------

    def documentation(self, version: str, kind: ResourceType) -> dict[str, ConfigDoc]:
        """Return the saved documentation of a resource type for a Kafka version."""
        return _docs(self._load(self._docs_file(version, kind), _Documentation))

    def any_documentation(self, kind: ResourceType) -> dict[str, ConfigDoc]:
        """Return the saved documentation of the newest version, until a broker answers."""
        files = (self._folder / "documentation").glob(f"*-{kind.name.lower()}.json")
        newest = max(files, key=_version_in, default=None)
        return _docs(self._load(newest, _Documentation)) if newest else {}

    def save_documentation(
        self, version: str, kind: ResourceType, docs: Mapping[str, ConfigDoc]
    ) -> None:
        """Save the documentation of a Kafka version."""
        rows: dict[str, ConfigRow] = {
            doc.name: (int(doc.type), doc.text, doc.default, doc.read_only, doc.sensitive)
            for doc in docs.values()
        }
        self._store(self._docs_file(version, kind), _Documentation(rows))

    def _docs_file(self, version: str, kind: ResourceType) -> Path:
        safe = "".join(char if char.isalnum() or char == "." else "_" for char in version)
        return self._folder / "documentation" / f"{safe}-{kind.name.lower()}.json"

    # -- files -----------------------------------------------------------------------------------

    def _load(self, path: Path, kind: type[File]) -> File:
        """Return the content of a file; nothing if it is missing, damaged or of another format."""
        try:
            return msgspec.json.decode(path.read_bytes(), type=kind)
        except (FileNotFoundError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            pass
        except OSError as error:
            self._say(f"cannot read the cache file {path}: {error.strerror}")
        return kind()

    def _store(self, path: Path, content: Struct) -> None:
        try:
            write_private(path, msgspec.json.encode(content))
        except OSError as error:
            self._say(f"cannot write the cache in {path.parent}: {error.strerror}")


def view_on_disk(folder: Path, bootstrap: str) -> ClusterView:
    """Return the saved view of the cluster at this bootstrap (`host:port[,host:port]`)."""
    return DiskCache(folder).view(bootstrap)


def _key(bootstrap: str) -> str:
    """A file name: the addresses as far as there is room for them."""
    return f"{quote(bootstrap, safe='')[:_MOST_NAME]}-{crc32(bootstrap.encode()):08x}"


def _docs(documentation: _Documentation) -> dict[str, ConfigDoc]:
    return {
        name: ConfigDoc(name, ConfigType(kind), text, default, read_only, sensitive)
        for name, (kind, text, default, read_only, sensitive) in documentation.keys.items()
    }


def _version_in(path: Path) -> tuple[int, ...]:
    digits = path.name.rpartition("-")[0].split(".")
    return tuple(int(part) if part.isdecimal() else 0 for part in digits)
