"""Schemas of files, with which messages are decoded without a registry."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

from msgspec import Struct

from kafka_shell.admin.schemas.budget import SchemaError
from kafka_shell.admin.schemas.client import Imported
from kafka_shell.admin.schemas.registry import AVRO, NO_MESSAGE_TYPE, PROTOBUF
from kafka_shell.base.files import read_text
from kafka_shell.base.units import to_path

SUFFIXES = {".avsc": AVRO, ".proto": PROTOBUF}
LARGEST = 8 << 20  # bytes
_IMPORT = re.compile(r'^\s*import\s+(?:public\s+|weak\s+)?"([^"\n]+)"', re.MULTILINE)
_PARENTS = 8  # of the file's folder, one of which may be the root of its imports


class FileSchema(Struct, frozen=True):
    """The schema of a file. `read` decodes a message without its schema ID; `head` is put before a
    message that has no schema ID."""

    name: str
    format: str
    read: Callable[[bytes], Any]
    head: bytes = b""


def file_schema(name: str, message: str = "") -> FileSchema:
    """The schema of a file (.avsc, .proto), and of a Protobuf message, by default the first one.
    Raises SchemaError, or ShellError if a file cannot be read."""
    path = to_path(name)
    format, text = SUFFIXES.get(path.suffix), read_text(name, largest=LARGEST)
    if format is None:
        raise SchemaError(f"a file of {' or '.join(SUFFIXES)} is required")
    if message and format != PROTOBUF:
        raise SchemaError(NO_MESSAGE_TYPE)
    try:
        if format == AVRO:
            from kafka_shell.admin.schemas.avro import compile_avro

            return FileSchema(name, format, compile_avro(text, []))
        from kafka_shell.admin.schemas.protobuf import protobuf_file

        imported: dict[str, Imported] = {}
        _add_imports(text, path.resolve().parent, imported)
        return FileSchema(name, format, *protobuf_file(text, list(imported.values()), message))
    except ModuleNotFoundError:
        raise SchemaError(f"{format} requires pip install 'kafka-sh[schemas]'") from None


def _add_imports(text: str, folder: Path, found: dict[str, Imported]) -> None:
    """Add the files that a Protobuf schema imports, from its folder or one above. protoc reports
    those that do not exist, unless they are built in."""
    for name in _IMPORT.findall(text):
        roots = (folder, *islice(folder.parents, _PARENTS))
        file = next((root / name for root in roots if (root / name).is_file()), None)
        if file is not None and name not in found:
            found[name] = Imported(name, read_text(file, largest=LARGEST))
            _add_imports(found[name].schema, folder, found)
