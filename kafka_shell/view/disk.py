"""The cache on disk: names, and the documentation of config keys.

Does not import the package kafka, because completion scripts read names from here.
"""

from __future__ import annotations

from binascii import crc32
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Protocol, TypeVar
from urllib.parse import quote

import msgspec
from msgspec import Struct

from kafka_shell.admin.configs.model import ConfigType, ResourceType
from kafka_shell.common.private import write_private
from kafka_shell.common.structs import replace

from .match import NameIndex
from .view import NAMES, ClusterView, ConfigDoc, Part, TopicIndex

FORMAT = 1
_MOST_NAME = 100  # characters of a bootstrap in the name of its file
Say = Callable[[str], None]
File = TypeVar("File", bound=Struct)
ConfigRow = tuple[int, str, str | None, bool, bool]
"""The documentation of a config key: type, text, default, read-only, sensitive."""


class _Any(Struct):
    """A file of any format."""

    format: int


class _Topics(Struct, forbid_unknown_fields=True):
    """The topic names of a cluster."""

    bootstrap: str = ""
    cluster_id: str = ""
    topics: list[str] = []
    format: int = FORMAT


class _Names(Struct, forbid_unknown_fields=True):
    """Other names of a cluster, by part of the view."""

    bootstrap: str = ""
    parts: dict[str, list[str]] = {}
    format: int = FORMAT


class _Documentation(Struct, forbid_unknown_fields=True):
    """The documentation of the config keys of a resource type, for a Kafka version."""

    version: str = ""
    keys: dict[str, ConfigRow] = {}
    format: int = FORMAT


class HasCache(Protocol):
    """An object with the cache folder (`context.Paths`)."""

    @property
    def cache(self) -> Path: ...


class DiskCache:
    """The files of a cache folder. Damaged files are renamed and reported with `say`."""

    def __init__(self, folder: Path, say: Say = lambda note: None) -> None:
        self._folder = folder
        self._say = say

    def view(self, bootstrap: str) -> ClusterView:
        """Return a view with the saved names and the newest documentation."""
        kept = self._load(self._topics_file(bootstrap), _Topics)
        view = ClusterView(bootstrap=bootstrap, cluster_id=kept.cluster_id)
        if kept.topics:
            view = replace(view, topics=Part(TopicIndex(NameIndex(kept.topics))))
        for part, known in self.names(bootstrap).items():
            view = view.with_part(part, Part(NameIndex(known)))
        for kind in ResourceType:
            if docs := self.any_documentation(kind):
                view = view.with_documentation(kind, Part(MappingProxyType(docs)))
        return view

    # -- topics ----------------------------------------------------------------------------------

    def topics(self, bootstrap: str) -> list[str]:
        """Return the saved topic names."""
        return self._load(self._topics_file(bootstrap), _Topics).topics

    def save_topics(self, bootstrap: str, cluster_id: str, names: Iterable[str]) -> None:
        """Save the names for the next session."""
        kept = _Topics(bootstrap, cluster_id, list(names))
        self._store(self._topics_file(bootstrap), kept)

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
        self._store(self._names_file(bootstrap), _Names(bootstrap, parts))

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
        self._store(self._docs_file(version, kind), _Documentation(version, rows))

    def _docs_file(self, version: str, kind: ResourceType) -> Path:
        safe = "".join(char if char.isalnum() or char == "." else "_" for char in version)
        return self._folder / "documentation" / f"{safe}-{kind.name.lower()}.json"

    # -- files -----------------------------------------------------------------------------------

    def _load(self, path: Path, kind: type[File]) -> File:
        """Return the content of a file; nothing if it is missing, damaged or of another format."""
        try:
            content = path.read_bytes()
            if msgspec.json.decode(content, type=_Any).format == FORMAT:
                return msgspec.json.decode(content, type=kind)
        except FileNotFoundError:
            pass
        except OSError as error:
            self._say(f"cannot read the cache file {path}: {error.strerror}")
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            self._rename_damaged(path)
        return kind()

    def _rename_damaged(self, path: Path) -> None:
        aside = path.with_name(path.name + ".broken")
        try:
            path.replace(aside)
        except OSError:
            return
        self._say(f"a damaged cache file was renamed to {aside}; a new one will be created")

    def _store(self, path: Path, content: Struct) -> None:
        try:
            write_private(path, msgspec.json.encode(content))
        except OSError as error:
            self._say(f"cannot write the cache in {path.parent}: {error.strerror}")


def view_on_disk(paths: HasCache, bootstrap: str) -> ClusterView:
    """Return the saved view of the cluster at this bootstrap (`host:port[,host:port]`)."""
    return DiskCache(paths.cache).view(bootstrap)


def _key(bootstrap: str) -> str:
    """A file name: the addresses as far as there is room for them."""
    return f"{quote(bootstrap, safe='')[:_MOST_NAME]}-{crc32(bootstrap.encode()):08x}"


def _docs(found: _Documentation) -> dict[str, ConfigDoc]:
    return {
        name: ConfigDoc(name, ConfigType(kind), text, default, read_only, sensitive)
        for name, (kind, text, default, read_only, sensitive) in found.keys.items()
    }


def _version_in(path: Path) -> tuple[int, ...]:
    digits = path.name.rpartition("-")[0].split(".")
    return tuple(int(part) if part.isdecimal() else 0 for part in digits)
