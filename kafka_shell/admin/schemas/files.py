"""Schemas of files, with which messages are decoded without a registry."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from msgspec import Struct

from kafka_shell.admin.records.numbers import unsigned_varint
from kafka_shell.admin.schemas.budget import GLUE, SchemaError, library, read_json
from kafka_shell.admin.schemas.client import Imported
from kafka_shell.admin.schemas.registry import (
    AVRO,
    JSON_SCHEMA,
    NO_MESSAGE_TYPE,
    PROTOBUF,
    SchemaId,
    glue_content,
)
from kafka_shell.base.files import read_text
from kafka_shell.base.units import to_path

SUFFIXES = {".avsc": AVRO, ".proto": PROTOBUF, ".json": JSON_SCHEMA}
LARGEST = 8 << 20  # bytes
_MOST_FILES = 5_000
_IMPORT = re.compile(r'(?:^|;)\s*import\s+(?:public\s+|weak\s+)?"([^"\n]+)"', re.MULTILINE)
_PARENTS = 8  # of the file's folder, one of which may be the root of its imports


class FileSchema(Struct, frozen=True):
    """The schema of a file. `read` decodes a message without its schema ID; `head` is put before a
    message that has no schema ID."""

    name: str
    format: str
    read: Callable[[bytes], Any]
    head: bytes = b""

    def framed(self, schema: SchemaId, content: bytes) -> Any:
        """The content of a message that is in a wire format."""
        if str(schema).startswith(GLUE):
            content = glue_content(content)
            if self.format == PROTOBUF:  # after the number of the message, another one
                content = self.head + content[unsigned_varint(content, 0)[1] :]
        return self.read(content)


def file_schema(name: str, message: str = "") -> FileSchema:
    """The schema of a file (.avsc, .proto, .json) or directory. `message` is the name of an Avro
    type or Protobuf message: by default that of the only file, of Protobuf the first one. Raises
    SchemaError, or ShellError if a file cannot be read."""
    path = to_path(name)
    files = _files(path) if path.is_dir() else [path]
    formats = [SUFFIXES.get(file.suffix) for file in files]
    if None in formats or not files:
        raise SchemaError(f"a file of {', '.join(SUFFIXES)} is required")
    if not message and len(files) > 1:
        raise SchemaError(f"a message type is required, as it has {len(files):,} schemas")
    if AVRO in formats and (message or len(files) == 1):
        avro = [file for file in files if file.suffix == ".avsc"]
        if found := _avro(name, avro, message, alone=len(files) == 1):
            return found
    if PROTOBUF in formats:
        return _protobuf(name, [file for file in files if file.suffix == ".proto"], message)
    if message:
        raise SchemaError(f"it has no type {message}" if AVRO in formats else NO_MESSAGE_TYPE)
    return FileSchema(name, JSON_SCHEMA, read_json)


def _files(folder: Path) -> list[Path]:
    found = (file for file in folder.rglob("*") if file.suffix in SUFFIXES and file.is_file())
    files = sorted(islice(found, _MOST_FILES + 1))
    if len(files) > _MOST_FILES:
        raise SchemaError(f"it has more than {_MOST_FILES:,} schemas")
    return files


# -- Avro ------------------------------------------------------------------------------------------


def _avro(name: str, files: Sequence[Path], message: str, *, alone: bool) -> FileSchema | None:
    """The schema of a type of these files, or of the only file; None if they do not have it. Types
    that a single file does not define are looked for in the files beside it."""
    with library(AVRO):
        from kafka_shell.admin.schemas.avro import compile_avro
    types = _Types(files)
    if not message:
        types = _Types(sorted(files[0].parent.glob("*.avsc")))
        return FileSchema(name, AVRO, compile_avro(_text(files[0]), [], types.find))
    full = types.named(message)
    if full is None and alone:
        raise SchemaError(f"it has no type {message}")
    if full is None:
        return None
    return FileSchema(name, AVRO, compile_avro(json.dumps(full), [], types.find))


class _Types:
    """The types of files by their full names, read when one of them is needed."""

    def __init__(self, files: Sequence[Path]) -> None:
        self._files = files
        self._known: dict[str, Any] | None = None

    def find(self, name: str) -> Any:
        """The schema that defines the type of this full name, or None."""
        if self._known is None:
            self._known = {}
            for file in self._files:
                try:
                    schema = json.loads(_text(file))
                except (ValueError, RecursionError):
                    raise SchemaError(f"{file.name} is not valid JSON") from None
                for full in _defined(schema, ""):
                    self._known.setdefault(full, schema)
        return self._known.get(name)

    def named(self, name: str) -> str | None:
        """The full name of a type, which may be given without its namespace if only one has it."""
        if self.find(name) is not None:
            return name
        same = [full for full in self._known or () if full.rpartition(".")[2] == name]
        return same[0] if len(same) == 1 else None


def _defined(schema: Any, space: str) -> Iterator[str]:
    """The full names of the types that a schema defines."""
    if isinstance(schema, list):
        for each in schema:
            yield from _defined(each, space)
    elif isinstance(schema, dict):
        name = schema.get("name")
        if schema.get("type") in ("record", "error", "enum", "fixed") and isinstance(name, str):
            space = schema.get("namespace") or space
            full = f"{space}.{name}" if space and "." not in name else name
            space = full.rpartition(".")[0]
            yield full
        for part in ("type", "fields", "items", "values"):
            yield from _defined(schema.get(part), space)


# -- Protobuf --------------------------------------------------------------------------------------


def _protobuf(name: str, files: Sequence[Path], message: str) -> FileSchema:
    """The schema of the first of these files that has the message."""
    with library(PROTOBUF):
        from kafka_shell.admin.schemas.protobuf import protobuf_file
    why = SchemaError(f"it has no message {message}")
    has_it = re.compile(rf"\bmessage\s+{re.escape(message.rpartition('.')[2])}\b")
    for file in files:
        text = _text(file)
        if message and len(files) > 1 and not has_it.search(text):
            continue
        imported: dict[str, Imported] = {}
        _add_imports(text, file.resolve().parent, imported)
        try:
            found = protobuf_file(text, list(imported.values()), message)
            return FileSchema(name, PROTOBUF, *found)
        except SchemaError as error:  # another file may have a message of this name
            why = error
    raise why


def _add_imports(text: str, folder: Path, found: dict[str, Imported]) -> None:
    """Add the files that a Protobuf schema imports, from its folder or one above. protoc reports
    those that do not exist, unless they are built in."""
    for name in _IMPORT.findall(text):
        roots = (folder, *islice(folder.parents, _PARENTS))
        file = next((root / name for root in roots if (root / name).is_file()), None)
        if file is not None and name not in found:
            found[name] = Imported(name, _text(file))
            _add_imports(found[name].schema, folder, found)


def _text(file: Path) -> str:
    return read_text(file, largest=LARGEST)
