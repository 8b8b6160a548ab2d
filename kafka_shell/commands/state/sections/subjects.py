"""The section of subjects of a schema registry: their newest schemas and compatibility levels."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from kafka_shell.admin.schemas import subjects
from kafka_shell.admin.schemas.client import Client, Reference, Schema
from kafka_shell.admin.schemas.files import LARGEST, SUFFIXES
from kafka_shell.admin.schemas.registry import JSON_SCHEMA, NAMES, PROTOBUF, client_of, no_registry
from kafka_shell.admin.schemas.subjects import SchemaVersion
from kafka_shell.base.errors import ShellError, Status
from kafka_shell.base.files import read_text
from kafka_shell.base.plans import Plan, Resource
from kafka_shell.commands.schemas.spec import LEVELS
from kafka_shell.commands.state.document import DocumentValue
from kafka_shell.commands.state.model import Fields, State, Value
from kafka_shell.commands.state.schema import by_name, known_fields
from kafka_shell.commands.state.section import (
    Content,
    Difference,
    Loaded,
    Loading,
    Planning,
    Read,
    Section,
    StateRequest,
)
from kafka_shell.context import Context
from kafka_shell.language.kinds import select_whole
from kafka_shell.wire.connection import Cluster

_LEVEL, _REFERENCES = "compatibility", "references"
_FIELDS = ("type", _LEVEL, _REFERENCES, "schema", "file")


class Subjects(Section):
    """Subjects: schema and type, references as `name=subject:version`, and the level."""

    whole = True
    optional = (_LEVEL,)

    def resource(self, key: str) -> Resource:
        return Resource("subject", key)

    def describe(self, fields: Mapping[str, Value]) -> str:
        level = f", compatibility {fields[_LEVEL]}" if _LEVEL in fields else ""
        return f"{fields['type']}{level}"

    def read(self, cluster: Cluster, request: StateRequest, state: State) -> Read:
        registry = client_of(request.properties, cluster.time_left)
        try:
            if registry is None:
                raise no_registry("the section subjects")
            names: Collection[str] = subjects.names(registry, request.subjects or ())
            if request.subjects is not None:
                names = select_whole(tuple(request.subjects), tuple(names))
            found = subjects.describe_version(registry, sorted(names))
        except ShellError as error:
            error.status = Status.FAILED  # the cluster itself can be read
            raise
        state.unread |= {str(resource): why for resource, why in found.failures.items()}
        return {each.subject: _fields_of(each) for each in found}

    def load(self, loading: Loading, text: str, at: DocumentValue, place: DocumentValue) -> Loaded:
        given = place.fields(f"subject {text}", _FIELDS)
        if ("schema" in given) == ("file" in given):
            raise at.error(f"subject {text} requires a schema or a file")
        kind, content = "AVRO", given["schema"].text("schema") if "schema" in given else ""
        if "file" in given:
            file = given["file"].word("file")
            kind = NAMES[SUFFIXES.get(Path(file).suffix, JSON_SCHEMA)]
            content = read_text(str(loading.folder / file), largest=LARGEST)
        fields: Fields = {"type": kind}
        for name, known in (("type", tuple(NAMES.values())), (_LEVEL, LEVELS)):
            if name in given and (word := given[name].word(name)) not in known:
                raise given[name].error(f"{name} is one of {', '.join(known)}")
            fields |= {name: word} if name in given else {}
        if _REFERENCES in given:
            words = (each.word("a reference") for each in given[_REFERENCES].items(_REFERENCES))
            fields[_REFERENCES] = "\n".join(words)
        try:
            fields["schema"] = _compact(content, str(fields["type"]))
        except (ValueError, RecursionError):
            raise at.error(f"the schema of subject {text} is not JSON") from None
        yield text, fields, at

    def write(self, resources: Mapping[str, Fields], lists: Collection[str]) -> Content:
        return {
            subject: {
                name: tuple(str(value).split("\n")) if name == _REFERENCES else value
                for name in _FIELDS
                if (value := fields.get(name)) is not None
            }
            for subject, fields in resources.items()
        }

    def schema(self) -> Content:
        text = {"type": "string"}
        fields = {
            "type": {"enum": list(NAMES.values())},
            _LEVEL: {"enum": list(LEVELS)},
            _REFERENCES: {"type": "array", "items": {**text, "pattern": ".=.*:[0-9]+$"}},
            "schema": {"description": "The text of the schema.", **text},
            "file": {"description": "Its file, relative to this file.", **text, "minLength": 1},
        }
        return by_name("Subjects of the schema registry by name.", known_fields(fields))

    def plans(self, differences: Sequence[Difference], planning: Planning) -> Iterator[Plan]:
        registry = _registry(planning.context)
        wanted = planning.wanted.part(self.name)
        gone = [each.key for each in differences if each.verb == "delete"]
        rest = [each for each in differences if each.verb != "delete"]
        levels = {
            each.key: str(wanted[each.key][_LEVEL])
            for each in rest
            if _LEVEL in wanted[each.key] and each.field in ("", _LEVEL)
        }
        if levels:
            yield subjects.plan_levels(registry, levels)
        for subject in dict.fromkeys(each.key for each in rest if each.field != _LEVEL):
            yield subjects.plan_registration(registry, subject, [_schema_of(wanted[subject])])
        if gone:
            yield subjects.plan_deletion(registry, gone)


def _registry(context: Context) -> Client:
    found = client_of(context.settings.properties, context.cluster.time_left)
    if found is None:
        raise no_registry("the section subjects")
    return found


def _fields_of(found: SchemaVersion) -> Fields:
    fields: Fields = {"type": found.type}
    if not found.inherited:
        fields[_LEVEL] = found.compatibility
    if found.references:
        named = (f"{each.name}={each.subject}:{each.version}" for each in found.references)
        fields[_REFERENCES] = "\n".join(named)
    try:
        fields["schema"] = _compact(found.schema, found.type)
    except (ValueError, RecursionError):
        fields["schema"] = found.schema
    return fields


def _compact(text: str, kind: str) -> str:
    """The text of a schema; JSON without its spaces, so that equal schemas are equal."""
    if kind == NAMES[PROTOBUF]:
        return text
    return json.dumps(json.loads(text), separators=(",", ":"), ensure_ascii=False)


def _schema_of(fields: Fields) -> Schema:
    references = []
    for word in str(fields.get(_REFERENCES, "")).split("\n"):
        name, _, target = word.partition("=")
        subject, _, version = target.rpartition(":")
        if subject and version.isdigit():
            references.append(Reference(name, subject, int(version)))
    return Schema(str(fields["schema"]), str(fields["type"]), tuple(references))
