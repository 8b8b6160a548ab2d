"""The section of subjects of a schema registry: their newest schemas and compatibility levels."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from pathlib import Path
from typing import Any

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
from kafka_shell.wire.cluster import Cluster

_LEVEL, _REFERENCES, _UNCHECKED = "compatibility", "references", "NONE"
_CONTRACT = ("metadata", "rule_set")  # of Confluent's registry
_JSON = ("schema", *_CONTRACT)
_FIELDS = ("type", _LEVEL, _REFERENCES, *_CONTRACT, "schema", "file")
_TARGET = re.compile(r"(.+):([1-9][0-9]{0,8})", re.DOTALL)


class Subjects(Section):
    """Subjects: the text and type of the schema, its references (a JSON object of `subject:version`
    by name), metadata and rules (JSON), and the level."""

    whole = True
    optional = (_LEVEL, *_CONTRACT)

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
            versions = subjects.describe_version(registry, sorted(names))
        except ShellError as error:
            error.status = Status.FAILED  # the cluster itself can be read
            raise
        state.unread |= {str(resource): why for resource, why in versions.failures.items()}
        return {version.subject: _fields_of(version) for version in versions}

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
            pairs = given[_REFERENCES].pairs(_REFERENCES)
            references = {name.name(): _target(target) for name, target in pairs}
            fields |= {_REFERENCES: json.dumps(references)} if references else {}
        fields |= {name: given[name].word(name) for name in _CONTRACT if name in given}
        fields["schema"] = content
        for name in _JSON if fields["type"] != NAMES[PROTOBUF] else _CONTRACT:
            if name in fields and _parsed(fields[name]) is None:
                raise given.get(name, at).error(f"the {name} of subject {text} is not JSON")
        yield text, fields, at

    def write(self, resources: Mapping[str, Fields], lists: Collection[str]) -> Content:
        return {
            subject: {
                name: json.loads(str(value)) if name == _REFERENCES else value
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
            _REFERENCES: {
                "description": "SUBJECT:VERSION of each schema that is imported, by its name.",
                "type": ["object", "null"],
                "additionalProperties": {**text, "pattern": ".:[1-9][0-9]{0,8}$"},
            },
            **{name: {"description": "JSON of a data contract.", **text} for name in _CONTRACT},
            "schema": {"description": "The text of the schema.", **text},
            "file": {"description": "Its file, relative to this file.", **text, "minLength": 1},
        }
        return by_name("Subjects of the schema registry by name.", known_fields(fields))

    def compared(self, old: Fields, new: Fields) -> Iterator[tuple[str, Value | None]]:
        """The fields; JSON with the same values is the same, however it is written."""
        for name, value in super().compared(old, new):
            before = _parsed(old[name]) if name in _JSON and name in old and name in new else None
            yield name, value if before is None or before != _parsed(new[name]) else old[name]

    def plans(self, differences: Sequence[Difference], planning: Planning) -> Iterator[Plan]:
        """Levels come last, as schemas are checked at the level that the registry has, except NONE,
        at which none is."""
        registry = _registry(planning.context)
        wanted = planning.wanted.part(self.name)
        rest = [difference for difference in differences if difference.verb != "delete"]
        gone = [difference.key for difference in differences if difference.verb == "delete"]
        levels = {
            difference.key: str(wanted[difference.key][_LEVEL])
            for difference in rest
            if _LEVEL in wanted[difference.key] and difference.field in ("", _LEVEL)
        }
        unchecked = {key: level for key, level in levels.items() if level == _UNCHECKED}
        if unchecked:
            yield subjects.plan_levels(registry, unchecked)
        for subject in dict.fromkeys(each.key for each in rest if each.field != _LEVEL):
            schema, check = _schema_of(wanted[subject]), subject not in unchecked
            yield subjects.plan_registration(registry, subject, [schema], newest=True, check=check)
        if checked := {key: level for key, level in levels.items() if key not in unchecked}:
            yield subjects.plan_levels(registry, checked)
        if gone:
            yield subjects.plan_deletion(registry, gone)


def _registry(context: Context) -> Client:
    client = client_of(context.settings.properties, context.cluster.time_left)
    if client is None:
        raise no_registry("the section subjects")
    return client


def _fields_of(version: SchemaVersion) -> Fields:
    fields: Fields = {"type": version.type, "schema": version.schema}
    if not version.inherited:
        fields[_LEVEL] = version.compatibility
    if version.references:
        named = {each.name: f"{each.subject}:{each.version}" for each in version.references}
        fields[_REFERENCES] = json.dumps(named)
    for name, value in zip(_CONTRACT, (version.metadata, version.rule_set), strict=True):
        if value:
            fields[name] = json.dumps(value, ensure_ascii=False)
    return fields


def _parsed(text: Value) -> Any:
    """The value of a JSON text with exact numbers and all values of repeated keys, to compare it;
    None if it is not JSON."""
    with suppress(ValueError, ArithmeticError, RecursionError):
        return json.loads(
            str(text), parse_int=_number, parse_float=_number, object_pairs_hook=_object
        )
    return None


def _number(text: str) -> tuple[Decimal]:
    return (Decimal(text),)  # not equal to a boolean


def _object(pairs: list[tuple[str, Any]]) -> Any:
    unique = dict(pairs)
    return unique if len(unique) == len(pairs) else pairs


def _target(place: DocumentValue) -> str:
    """The version of a subject that a schema imports: `subject:version`."""
    text = place.word("a reference")
    if not _TARGET.fullmatch(text):
        raise place.error(f"a reference is SUBJECT:VERSION, got {text!r}")
    return text


def _schema_of(fields: Fields) -> Schema:
    references = [
        Reference(name, target.rpartition(":")[0], int(target.rpartition(":")[2]))
        for name, target in json.loads(str(fields.get(_REFERENCES, "{}"))).items()
    ]
    metadata, rules = (json.loads(str(fields.get(name, "null"))) for name in _CONTRACT)
    return Schema(str(fields["schema"]), str(fields["type"]), tuple(references), metadata, rules)
