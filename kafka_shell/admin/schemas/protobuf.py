"""Messages of Protobuf schemas: protoc compiles them in a process of its own."""

from __future__ import annotations

import re
import subprocess
import tempfile
from base64 import b64decode
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib.metadata import distribution
from pathlib import Path, PurePosixPath
from typing import Any

import grpc_tools
from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory
from google.protobuf.descriptor import (
    Descriptor,
    FieldDescriptor,
    FileDescriptor,
)
from google.protobuf.message import DecodeError

from kafka_shell.admin.records.numbers import unsigned_varint, varint, zigzag
from kafka_shell.admin.schemas.budget import (
    MOST_MEMORY,
    STRUCTURE,
    VALUE,
    Budget,
    SchemaError,
    read_json,
)
from kafka_shell.admin.schemas.client import Imported
from kafka_shell.base.processes import run_module

_PARSED, _COMPILED = "parsed.descriptors", "compiled.descriptors"  # files beside it
_COMPILE_S = 20.0
_MOST_INDEXES = 64
_LEAST_FIELD = 10  # bytes of a descriptor
_VARINT, _FIXED64, _BYTES, _GROUP, _GROUP_END, _FIXED32 = range(6)  # wire types
_NAME_TAG = 10  # field 1, bytes
_PARSE_ERROR = re.compile(r'no field named "[^"]*"|Failed to parse \w+ field')
_NAME = re.compile(rb"[\w.]+")  # of a field or of a value of an enum, in descriptors
_BUILT_IN = Path(__file__).with_name("built_in")  # in every registry, like google/type/*.proto


def compile_protobuf(schema: str, imports: list[Imported]) -> Callable[[bytes], Any]:
    """The reader of messages of a schema, as Protobuf's JSON with the field names of the schema.
    Raises SchemaError."""
    return reader(_compiled(schema, imports))


def protobuf_writer(
    schema: str, imports: list[Imported], name: str = ""
) -> Callable[[bytes], bytes]:
    """The function that encodes Protobuf's JSON as a message of this name, by default of the first
    type, after its message indexes. Raises SchemaError."""
    main = _loaded(_compiled(schema, imports))
    kind, indexes = _named(main, name)
    head = _head(indexes)

    def write(raw: bytes) -> bytes:
        message = message_factory.GetMessageClass(kind)()
        try:
            json_format.ParseDict(read_json(raw), message, descriptor_pool=main.pool)
            return head + bytes(message.SerializeToString(deterministic=True))
        except SchemaError:
            raise
        except Exception as error:  # without the value, which may be a secret
            known = _PARSE_ERROR.search(str(error))
            raise SchemaError(known[0] if known else f"it is not a {kind.full_name}") from None

    return write


def protobuf_file(
    schema: str, imports: list[Imported], name: str
) -> tuple[Callable[[bytes], Any], bytes]:
    """The reader of messages of a schema, and what is put before a message of this name that has no
    message indexes. Raises SchemaError."""
    descriptors = _compiled(schema, imports)
    _, indexes = _named(_loaded(descriptors), name)
    return reader(descriptors), _head(indexes)


def _head(indexes: list[int]) -> bytes:
    return b"\0" if indexes == [0] else b"".join(map(zigzag, (len(indexes), *indexes)))


def _named(file: FileDescriptor, name: str) -> tuple[Descriptor, list[int]]:
    """The message type of a name, with or without the package, and its path of indexes."""
    found = dict(_types(list(file.message_types_by_name.values()), []))
    known = {kind.full_name.removeprefix(f"{file.package}."): kind for kind in found}
    kind = known.get(name.removeprefix(f"{file.package}.")) if name else next(iter(found), None)
    if kind is None:
        raise SchemaError(f"it has no message {name}" if name else "it has no messages")
    return kind, found[kind]


def _types(kinds: list[Descriptor], path: list[int]) -> Iterator[tuple[Descriptor, list[int]]]:
    for index, kind in enumerate(kinds):
        yield kind, [*path, index]
        yield from _types(_nested(kind), [*path, index])


def reader(descriptors: bytes) -> Callable[[bytes], Any]:
    """The reader of messages of the last file of a FileDescriptorSet. Raises SchemaError."""
    main = _loaded(descriptors)
    value = VALUE + max(map(len, _NAME.findall(descriptors)), default=0)
    fields = len(descriptors) // _LEAST_FIELD  # at most, in a message that has a byte

    def read(raw: bytes) -> Any:
        kind, at = _referenced(main, raw)
        content, budget = raw[at:], Budget()
        if len(content) * fields * value > MOST_MEMORY:
            _spend(budget, value, kind, content)
        message = message_factory.GetMessageClass(kind)()
        message.ParseFromString(content)
        printer = _Printer(
            preserving_proto_field_name=True,
            always_print_fields_with_no_presence=True,
            descriptor_pool=main.pool,
        )
        printer.budget, printer.value = budget, value
        return printer._MessageToJsonObject(message)

    return read


class _Printer(json_format._Printer):  # type: ignore[misc]
    """Prints the fields of a message of Google's types that has no JSON of its own: a Timestamp
    after the year 9999, an Any of an unknown type, another message of this name."""

    budget: Budget
    value: int

    def _MessageToJsonObject(self, message: Any) -> Any:  # noqa: N802 - its name there
        try:
            return super()._MessageToJsonObject(message)
        except (AttributeError, TypeError, ValueError, DecodeError):
            return self._RegularMessageToJsonObject(message, {})

    def _AnyMessageToJsonObject(self, message: Any) -> Any:  # noqa: N802
        with suppress(KeyError, IndexError):  # of an unknown type, or malformed: it is not decoded
            kind = self.descriptor_pool.FindMessageTypeByName(message.TypeName())
            _spend(self.budget, self.value, kind, message.value)
        return super()._AnyMessageToJsonObject(message)


def _spend(budget: Budget, value: int, kind: Descriptor, raw: bytes, at: int = 0) -> int:
    """Spend the memory of a message and of those in it, and return where it ends. `value` is that
    of a value with its name."""
    budget.spend(_message_memory(kind, value))
    while at < len(raw):
        tag, at = unsigned_varint(raw, at)
        field, wire = _field(kind, tag >> 3), tag & 7
        message = None if field is None else field.message_type
        budget.spend(value)
        if wire == _BYTES:
            size, at = unsigned_varint(raw, at)
            content, at = raw[at : at + size], at + size
            if message is not None:
                _spend(budget, value, message, content)
            else:  # numbers have at least a byte each
                text = field is None or field.type in (field.TYPE_STRING, field.TYPE_BYTES)
                budget.spend(len(content) * (1 if text else value))
        elif wire == _VARINT:
            _, at = unsigned_varint(raw, at)
        elif wire == _GROUP:
            at = _spend(budget, value, message or kind, raw, at)
        elif wire == _GROUP_END:
            break
        else:
            at += {_FIXED64: 8, _FIXED32: 4}.get(wire, 0)
    return at


def _field(kind: Descriptor, number: int) -> FieldDescriptor | None:
    with suppress(KeyError):
        known = kind.fields_by_number.get(number)
        return known or kind.file.pool.FindExtensionByNumber(kind, number)
    return None


def _message_memory(kind: Descriptor, value: int) -> int:
    """The memory of a message, which has all its fields even if they are not written. So has the
    message that is the value of a map."""
    memory = STRUCTURE + value * len(kind.fields)
    inner = kind.fields_by_name["value"].message_type if kind.GetOptions().map_entry else None
    return memory if inner is None else memory + _message_memory(inner, value)


def _compiled(schema: str, imports: list[Imported]) -> bytes:
    """The FileDescriptorSet of a schema with all that it imports, its own file last. Raises
    SchemaError."""
    try:
        return _by_protoc(schema, imports)
    except (OSError, ValueError) as error:  # the name of an import is not one of a file
        raise SchemaError(f"it cannot be compiled: {error}") from None


def _by_protoc(schema: str, imports: list[Imported]) -> bytes:
    with tempfile.TemporaryDirectory(prefix="kafka-sh-") as name:
        folder = Path(name)
        main = f"{folder.name}/schema.proto"  # which no import is called
        parsed = descriptor_pb2.FileDescriptorSet()
        for each in (*imports, Imported(main, schema)):
            file = _parsed(each)
            if file is None:
                _write(folder, each.name, each.schema)
            else:
                parsed.file.append(file)
        standard = Path(grpc_tools.__file__).parent / "_proto"
        google = distribution("googleapis-common-protos").locate_file("")
        words = [f"-I{each}" for each in (folder, standard, google, _BUILT_IN)]
        words.append("--include_imports")
        if parsed.file:
            (folder / _PARSED).write_bytes(parsed.SerializeToString())
            words.append(f"--descriptor_set_in={folder / _PARSED}")
        _protoc([*words, f"--descriptor_set_out={folder / _COMPILED}", main], folder)
        return (folder / _COMPILED).read_bytes()


def _write(folder: Path, name: str, text: str) -> None:
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or not path.name:
        raise SchemaError(f"it imports {name!r}, which is not a valid name of a file")
    file = folder / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


def _protoc(words: list[str], folder: Path) -> None:
    try:
        done = run_module("grpc_tools.protoc", *words, capture_output=True, timeout=_COMPILE_S)
    except subprocess.TimeoutExpired:
        raise SchemaError(f"it was not compiled within {_COMPILE_S:.0f} s") from None
    if done.returncode:
        output = done.stderr.decode(errors="replace")
        lines = output.replace(f"{folder}/", "").replace(f"{folder.name}/", "").splitlines()
        errors = [line for line in lines if ".proto:" in line and "warning:" not in line]
        raise SchemaError(f"it cannot be compiled: {errors[0] if errors else 'protoc failed'}")


def _parsed(each: Imported) -> descriptor_pb2.FileDescriptorProto | None:
    """The file of a schema that is not text, but a descriptor in base64, as Confluent's Python
    client registers it; None if it is text."""
    try:
        file = descriptor_pb2.FileDescriptorProto.FromString(b64decode(each.schema, validate=True))
    except (ValueError, DecodeError):
        return None
    file.name = each.name
    return file


def _loaded(descriptors: bytes) -> FileDescriptor:
    pool = descriptor_pool.DescriptorPool()
    files = descriptor_pb2.FileDescriptorSet.FromString(descriptors).file
    try:
        for each in files:
            pool.Add(each)
        return pool.FindFileByName(files[-1].name)
    except (KeyError, TypeError, ValueError) as error:
        raise SchemaError(f"it cannot be loaded: {error}") from None


def _referenced(file: FileDescriptor, raw: bytes) -> tuple[Descriptor, int]:
    """The message type that a message begins with, and the position of the message after it: its
    indexes, or, as Apicurio writes it, a message with its name in the first field."""
    size = raw[0] + 1 if raw else 0
    if size > 3 and raw[1:3] == bytes((_NAME_TAG, size - 3)):
        kind = file.message_types_by_name.get(raw[3:size].decode(errors="replace"))
        if kind is not None:
            return kind, size
    indexes, at = _message_indexes(raw)
    return _message_type(file, indexes), at


def _message_indexes(raw: bytes) -> tuple[list[int], int]:
    """The path to the type of the message, and the position of the message after it.

    Each index is a zigzag varint, after their number; a single zero is the first type.
    """
    indexes = []
    try:
        count, at = varint(raw, 0)
        if not count:
            return [0], at
        if not 0 < count <= _MOST_INDEXES:
            raise ValueError
        for _ in range(count):
            index, at = varint(raw, at)
            indexes.append(index)
    except (IndexError, ValueError):
        raise SchemaError("its message indexes are malformed") from None
    return indexes, at


def _nested(kind: Descriptor) -> list[Descriptor]:
    """The message types in another one that its text has."""
    return [each for each in kind.nested_types if not each.GetOptions().map_entry]


def _message_type(file: FileDescriptor, indexes: list[int]) -> Descriptor:
    """The message type at the path of indexes, which count the messages of the schema's text."""
    types = list(file.message_types_by_name.values())
    found: Descriptor | None = None
    for index in indexes:
        if not 0 <= index < len(types):
            raise SchemaError("it has a type that the schema does not have")
        found = types[index]
        types = _nested(found)
    assert found is not None
    return found
