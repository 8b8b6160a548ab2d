"""Read state files: one file, or all files of a folder."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from kafka_shell.admin.acls.model import AclOperation, target_text
from kafka_shell.admin.client_configs.model import ClientEntity
from kafka_shell.admin.configs.model import ConfigResource, ResourceType
from kafka_shell.admin.quotas.model import DEFAULT, Default, QuotaEntity
from kafka_shell.admin.topics.model import format_assignment
from kafka_shell.admin.users.model import MAX_ITERATIONS, MIN_ITERATIONS, ScramMechanism
from kafka_shell.base.errors import MistakeCollector, ShellError, did_you_mean
from kafka_shell.base.files import bad_file
from kafka_shell.base.text import has_secret_name
from kafka_shell.base.units import (
    QUOTAS,
    ConfigType,
    parse_config_value,
    parse_quota,
    shorten,
    to_path,
    unit_of,
)
from kafka_shell.commands.acls.rules import parse_rule, split_words
from kafka_shell.commands.state.document import DocumentValue, read_document
from kafka_shell.commands.state.model import (
    ANY_ITERATIONS,
    ASSIGNMENT,
    ASSIGNMENT_PATTERN,
    DEFAULT_BROKER,
    FACTOR,
    MAXIMUM,
    PARTITIONS,
    SHAPE,
    TOPIC_NAME,
    Fields,
    Password,
    State,
    read_assignment,
    resource_of,
)
from kafka_shell.commands.state.spec import KINDS
from kafka_shell.commands.state.write import VERSION
from kafka_shell.language.kinds import check, is_pattern

# The names of entities in state files: `user alice, client-id app`, `user-default`.


def quota_entity(text: str, at: DocumentValue) -> QuotaEntity:
    """The entity of a quota, written at this place."""
    parts = parts_of(text, at, ("user", "client-id", "ip"))
    if not parts or ("ip" in parts and len(parts) > 1):
        raise at.error(
            f"expected user NAME, client-id ID, user NAME client-id ID or ip ADDRESS, got"
            f" {shorten(text)}",
            "Defaults are user-default, client-id-default and ip-default.",
        )
    return QuotaEntity(parts.get("user"), parts.get("client-id"), parts.get("ip"))


def parts_of(text: str, at: DocumentValue, known: tuple[str, ...]) -> dict[str, Any]:
    """The parts of an entity by type; DEFAULT for `user-default`. A comma between is optional."""
    try:
        words = split_words(text)
    except ShellError as error:
        raise at.error(error.message, error.hint) from None
    parts: dict[str, Any] = {}
    while words:
        kind = words.pop(0).text
        name: str | Default = DEFAULT
        if kind.removesuffix(",").endswith("-default"):
            kind = kind.removesuffix(",").removesuffix("-default")
        elif words:
            word = words.pop(0)
            last = not words or word.quoted
            name = word.text if last else word.text.removesuffix(",")
        else:
            raise at.error(f"{shorten(text)}: the name after {kind!r} is missing")
        if kind not in known or kind in parts:
            hint = did_you_mean(kind, known, f"Use {', '.join(known)}.")
            raise at.error(f"{shorten(text)}: unexpected {kind!r}", hint)
        parts[kind] = name
    return parts


SUFFIXES = (".yaml", ".yml", ".json")
_MECHANISMS = {each.label: each for each in ScramMechanism if each}
_OPERATIONS = {each.label.lower() for each in AclOperation}
_CREDENTIAL = ("iterations", "password_file", "generate")


def load(name: str, folder: Path | None = None) -> State:
    """The state in a file, or in all state files of a folder. Raises ShellError, status 2, that
    lists the mistakes of all topics, ACLs and other items. Password files are relative to the
    `folder` (default: that of the file)."""
    path = to_path(name)
    if not path.is_dir():
        return _Loader().read([path], folder)
    files = sorted(each for each in path.iterdir() if is_state_file(each))
    if (first := next(_in_subfolders(path), None)) is not None:
        hint = "Only the files of the directory itself are read."
        raise bad_file(first, f"is in a subfolder of {name}", hint=hint)
    if not files:
        raise bad_file(name, "contains no state file (.yaml, .yml, .json)")
    return _Loader().read(files)


def _in_subfolders(path: Path) -> Iterator[Path]:
    for folder, folders, names in os.walk(path):
        folders[:] = [each for each in folders if not each.startswith(".")]
        if folder != str(path):
            yield from filter(is_state_file, (Path(folder, name) for name in names))


def is_state_file(path: Path) -> bool:
    """Whether a file of a folder is read: not the locks and copies of editors."""
    return path.suffix.lower() in SUFFIXES and not path.name.startswith(".") and path.is_file()


class _Loader:
    """Reads files into one state."""

    def __init__(self) -> None:
        self.state = State()
        self._mistakes = MistakeCollector()
        self._folder = Path()
        self._rules: dict[str, Any] = {}
        self._item: DocumentValue | None = None  # of an ACL

    def read(self, files: Sequence[Path], folder: Path | None = None) -> State:
        """The state in these files."""
        for file in files:
            self._folder = folder or file.parent
            with self._mistakes.collecting():
                self._add(file)
        self._mistakes.check()
        return self.state

    def _add(self, path: Path) -> None:
        root = read_document(path)
        if root is None:
            raise bad_file(path, "is empty", hint=f"Start with: version: {VERSION}")
        if root.is_list:
            hint = "export writes state files, for example: export TOPIC > topics.yaml"
            raise root.error("a state file must be a mapping", hint)
        fields = root.fields("a state file", ("version", "scope", *KINDS))
        if "version" not in fields:
            raise root.error("version is missing", f"Add: version: {VERSION}")
        if not fields["version"].is_number(VERSION):
            raise fields["version"].error(f"version must be {VERSION}")
        if "scope" in fields:
            self._scope(fields["scope"])
        for kind in KINDS:
            if kind in fields:
                self._section(kind, fields[kind])

    def _scope(self, place: DocumentValue) -> None:
        for kind, words in place.fields("scope", KINDS).items():
            given = tuple(_selector(kind, item) for item in words.items(f"scope.{kind}"))
            self.state.scope[kind] = (*self.state.scope.get(kind, ()), *given)

    def _section(self, kind: str, section: DocumentValue) -> None:
        part = self.state.parts.setdefault(kind, {})
        for key_place, place in section.pairs(kind):
            with self._mistakes.collecting():
                text = key_place.name()
                for key, fields in _READERS[kind](self, text, key_place, place):
                    at = self._item if kind == "acls" and self._item else key_place
                    self._refuse_second(kind, key, at)
                    self.state.places[kind, key] = at
                    part[key] = fields

    def _refuse_second(self, kind: str, key: Any, place: DocumentValue) -> None:
        first = self.state.places.get((kind, key))
        if first is not None:
            name = f"ACL {key}" if kind == "acls" else str(resource_of(kind, key))
            raise place.error(f"{name} is already defined at {first}", "Define it once.")

    # -- kinds -------------------------------------------------------------------------------------

    def topic(
        self, name: str, at: DocumentValue, place: DocumentValue
    ) -> Iterator[tuple[Any, Fields]]:
        """A topic: partitions, replication factor, assignment, configs."""
        if not TOPIC_NAME.fullmatch(name) or name in (".", ".."):
            raise at.error(
                f"{shorten(name)} is not a valid topic name",
                "Names have 1 to 249 characters of a-z, A-Z, 0-9, '.', '_' and '-'.",
            )
        fields: Fields = {}
        given = place.fields(f"topic {name}", (*SHAPE, "configs"))
        for field in (PARTITIONS, FACTOR):
            if field in given:
                with self._mistakes.collecting():
                    value = given[field].integer(f"{field} of topic {name}", 1, MAXIMUM[field])
                    fields[field] = value
        if ASSIGNMENT in given:
            replicas = _assignment(given[ASSIGNMENT], name)
            fields[ASSIGNMENT] = format_assignment(replicas)
            counts = {PARTITIONS: len(replicas)}
            if len({len(each) for each in replicas}) == 1:
                counts[FACTOR] = len(replicas[0])
            for field, count in counts.items():
                if fields.setdefault(field, count) != count:
                    raise given[ASSIGNMENT].error(
                        f"{ASSIGNMENT} of topic {name} has {count} for {field}, not {fields[field]}"
                    )
        if "configs" in given:
            fields |= self.configs("topics", name, given["configs"], f"topic {name}")
        yield name, fields

    def acls(
        self, text: str, at: DocumentValue, place: DocumentValue
    ) -> Iterator[tuple[Any, Fields]]:
        """The ACLs of one resource pattern."""
        try:
            target = parse_rule(f"allow User:a Read on {text}").target
        except ShellError as error:
            raise at.error(error.message, error.hint) from None
        assert target is not None
        covered = target_text(target.type, target.name or "", target.pattern)
        self.state.covered.setdefault("acls", set()).add(covered)
        for item in place.items(f"ACLs of {text}"):
            self._item = item
            line = item.text("an ACL")
            rule = self._rules.get(line)
            if rule is None:
                try:
                    rule = self._rules[line] = parse_rule(line)
                except ShellError as error:
                    hint = error.hint
                    if line.split(" ")[0].lower() in _OPERATIONS:  # [allow User:a Read,Write]
                        hint = "Put a rule that contains commas in quotes."
                    raise item.error(error.message, hint) from None
            if rule.target is not None:
                message = f"an ACL below '{text}' must not name a resource"
                raise item.error(message, "Remove 'on ...'.")
            for binding in rule.bindings([target]):
                yield binding, {}

    def quotas(
        self, text: str, at: DocumentValue, place: DocumentValue
    ) -> Iterator[tuple[Any, Fields]]:
        """The quotas of one entity."""
        entity = quota_entity(text, at)
        fields: Fields = {}
        for name, value in place.fields(f"the quotas of {text}", QUOTAS).items():
            with self._mistakes.collecting():
                try:
                    fields[name] = parse_quota(name, value.text(name))
                except ShellError as error:
                    raise value.error(error.message) from None
        yield entity, fields

    def user(
        self, name: str, at: DocumentValue, place: DocumentValue
    ) -> Iterator[tuple[Any, Fields]]:
        """The SCRAM credentials of one user."""
        fields: Fields = {}
        for label, credential in place.fields(f"user {name}", tuple(_MECHANISMS)).items():
            given = credential.fields(f"{label} of user {name}", _CREDENTIAL)
            fields[label] = (
                given["iterations"].integer("iterations", MIN_ITERATIONS, MAX_ITERATIONS)
                if "iterations" in given
                else ANY_ITERATIONS
            )
            generate = "generate" in given and given["generate"].boolean("generate")
            file = given["password_file"].word("password_file") if "password_file" in given else ""
            if "password_file" in given and not file:
                raise given["password_file"].error("password_file is empty")
            if generate and file:
                raise given["generate"].error("generate cannot be used with password_file")
            if generate or file:
                path = str(self._folder / file) if file else ""
                self.state.passwords[name, _MECHANISMS[label]] = Password(path, generate)
        yield name, fields

    def client_configs(
        self, text: str, at: DocumentValue, place: DocumentValue
    ) -> Iterator[tuple[Any, Fields]]:
        """The dynamic configs of one client entity."""
        parts = parts_of(text, at, ("user", "client-id"))
        if not isinstance(parts.get("user"), str) or parts.get("client-id") is DEFAULT:
            raise at.error(f"expected user NAME or user NAME client-id ID, got {shorten(text)}")
        found = {each.name(): value for each, value in place.pairs(f"client configs of {text}")}
        entity = ClientEntity(str(parts["user"]), parts.get("client-id"))
        yield entity, self._values(found)

    def broker(
        self, text: str, at: DocumentValue, place: DocumentValue
    ) -> Iterator[tuple[Any, Fields]]:
        """The configs of one broker, or the cluster-wide default."""
        name = "" if text == DEFAULT_BROKER else text
        if name and not (name.isascii() and name.isdigit() and str(int(name)) == name):
            raise at.error(f"expected a broker ID or {DEFAULT_BROKER}, got {shorten(text)}")
        resource = ConfigResource(ResourceType.BROKER, name)
        yield resource, self.configs("broker_configs", resource, place, str(resource))

    def configs(self, kind: str, key: Any, place: DocumentValue, of: str) -> Fields:
        """Configs by key, sorted, with their raw values."""
        found = {each.name(): value for each, value in place.pairs(f"configs of {of}")}
        self.state.places |= {(kind, key, name): value for name, value in found.items()}
        return self._values(found)

    def _values(self, found: Mapping[str, DocumentValue]) -> Fields:
        """The raw values of configs, sorted by key."""
        fields: Fields = {}
        for name, value in found.items():
            with self._mistakes.collecting():
                fields[name] = _config(name, value)
        return dict(sorted(fields.items()))


_Reader = Callable[[_Loader, str, DocumentValue, DocumentValue], Iterator[tuple[Any, Fields]]]


def _configs_of(kind: str, type: ResourceType) -> _Reader:
    def read(
        loader: _Loader, text: str, at: DocumentValue, place: DocumentValue
    ) -> Iterator[tuple[Any, Fields]]:
        resource = ConfigResource(type, text)
        yield resource, loader.configs(kind, resource, place, str(resource))

    return read


_READERS: dict[str, _Reader] = {
    "topics": _Loader.topic,
    "acls": _Loader.acls,
    "quotas": _Loader.quotas,
    "users": _Loader.user,
    "client_configs": _Loader.client_configs,
    "broker_configs": _Loader.broker,
    "client_metrics": _configs_of("client_metrics", ResourceType.CLIENT_METRICS),
    "group_configs": _configs_of("group_configs", ResourceType.GROUP),
}


# -- values ----------------------------------------------------------------------------------------


def _selector(kind: str, place: DocumentValue) -> str:
    """A name, glob or /regex/ of the scope; an entity is spelled as this program does."""
    text = place.word("a selector")
    if not text.strip():
        raise place.error(f"a selector of scope.{kind} is empty")
    try:
        check(text)
    except ShellError as error:
        raise place.error(error.message, error.hint) from None
    if kind in ("quotas", "client_configs") and not is_pattern(text.replace(",", " ")):
        return str(quota_entity(text, place))
    return text


def _config(key: str, place: DocumentValue) -> str:
    if has_secret_name(key):
        raise place.error(
            f"{key} is sensitive, and a state file contains no secrets",
            f"Set it with alter-configs, and remove {key} from the file.",
        )
    if place.is_list:
        items = [item.text(f"an item of {key}") for item in place.items(key)]
        if any("," in item for item in items):
            raise place.error(f"an item of {key} contains a comma")
        return ",".join(items)
    if place.is_null:
        raise place.error(
            f"{key} has no value",
            "Omit it for the default, or put null in quotes.",
        )
    text = place.text(key)
    if not unit_of(key).value:
        return text
    try:
        return parse_config_value(key, ConfigType.LONG, text)
    except ShellError as error:
        raise place.error(error.message, error.hint) from None


def _assignment(place: DocumentValue, topic: str) -> tuple[tuple[int, ...], ...]:
    """`1:2,2:3` or [[1, 2], [2, 3]]."""
    if place.is_list:
        text = ",".join(
            ":".join(id.text("a broker ID") for id in each.items("replicas"))
            if each.is_list
            else each.text("replicas")
            for each in place.items(ASSIGNMENT)
        )
    else:
        text = place.text(ASSIGNMENT)
    try:
        return read_assignment(text)
    except ValueError:
        problem = f"{ASSIGNMENT} of topic {topic} must list broker IDs such as 1:2,2:3"
        raise place.error(problem) from None


# The JSON Schema of state files, for editors.

_VALUE = "A value as in alter-configs: 7d, 1GiB, true, or the raw value."
_SCALAR = {"type": ["string", "number", "boolean"]}
_CONFIGS = {
    "type": ["object", "null"],
    "additionalProperties": {
        "description": _VALUE,
        "anyOf": [_SCALAR, {"type": "array", "items": _SCALAR}],
    },
}
_WORDS = {"type": ["array", "null"], "items": {**_SCALAR, "pattern": "\\S"}}
_LIMIT = {
    "description": "A limit as in alter-quotas: 5MB/s, 50%, 10/s.",
    "type": ["string", "number"],
    "exclusiveMinimum": 0,
    "pattern": "^ *[0-9.]",
}
_BROKER_ID = {"type": "integer", "minimum": 0, "maximum": (1 << 31) - 1}
_REPLICA_LIST = {"type": "string", "pattern": "^[0-9]+(:[0-9]+)*$"}


def schema() -> dict[str, Any]:
    """The schema (draft 2020-12). The loader accepts the same documents, except that it also checks
    the syntax of names, ACLs, units and entities."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "State of a Kafka cluster",
        **_fields(
            {
                "version": {"const": 1},
                "scope": _fields(
                    dict.fromkeys(KINDS, _WORDS),
                    "Selectors of the resources that the file covers. apply --prune deletes nothing"
                    " else.",
                ),
                "topics": {
                    **_by_name("Topics by name.", _topic()),
                    "propertyNames": {"pattern": f"^(?![.][.]?$){TOPIC_NAME.pattern}$"},
                },
                "acls": _by_name(
                    "ACLs by resource: topic orders, prefixed group payments-, cluster.",
                    {
                        "type": ["array", "null"],
                        "items": {
                            "type": "string",
                            "description": "allow|deny PRINCIPAL OPERATIONS [from HOSTS]",
                            "pattern": "^([Aa][Ll][Ll][Oo][Ww]|[Dd][Ee][Nn][Yy])\\s",
                        },
                    },
                ),
                "quotas": _by_name(
                    "Client quotas by entity: user alice, user alice client-id app, ip 10.0.0.1,"
                    " user-default.",
                    _fields(dict.fromkeys(QUOTAS, _LIMIT)),
                ),
                "users": _by_name("SCRAM users by name.", _user()),
                "client_configs": _by_name(
                    "Dynamic client configs by entity: user alice client-id app.", _CONFIGS
                ),
                "broker_configs": {
                    **_by_name("Broker configs by broker ID, or default.", _CONFIGS),
                    "propertyNames": {"pattern": "^(default|0|[1-9][0-9]*)$"},
                },
                "client_metrics": _by_name("Client metrics subscriptions by name.", _CONFIGS),
                "group_configs": _by_name("Group configs by group ID.", _CONFIGS),
            }
        ),
        "type": "object",
        "required": ["version"],
    }


def _fields(known: dict[str, Any], description: str = "") -> dict[str, Any]:
    """An object with these fields, and private ones."""
    return {
        **({"description": description} if description else {}),
        "type": ["object", "null"],
        "additionalProperties": False,
        "properties": known,
        "patternProperties": {"^x-": True},
    }


def _by_name(description: str, items: dict[str, Any]) -> dict[str, Any]:
    return {
        "description": description,
        "type": ["object", "null"],
        "additionalProperties": items,
    }


def _topic() -> dict[str, Any]:
    return _fields(
        {
            "partitions": {"type": "integer", "minimum": 1, "maximum": MAXIMUM[PARTITIONS]},
            "replication_factor": {"type": "integer", "minimum": 1, "maximum": MAXIMUM[FACTOR]},
            "replica_assignment": {
                "description": "The replicas of each partition: 1:2,2:3, or [[1, 2], [2, 3]].",
                "anyOf": [
                    {"type": "string", "pattern": f"^{ASSIGNMENT_PATTERN}$"},
                    _BROKER_ID,
                    {
                        "type": "array",
                        "minItems": 1,
                        "items": {
                            "anyOf": [
                                _REPLICA_LIST,
                                _BROKER_ID,
                                {"type": "array", "minItems": 1, "items": _BROKER_ID},
                            ]
                        },
                    },
                ],
            },
            "configs": _CONFIGS,
        }
    )


def _user() -> dict[str, Any]:
    credential = _fields(
        {
            "iterations": {"type": "integer", "minimum": MIN_ITERATIONS, "maximum": MAX_ITERATIONS},
            "password_file": {
                "description": "The file with the password of a new user, relative to this file.",
                "type": ["string", "number", "boolean"],
                "minLength": 1,
            },
            "generate": {
                "description": "Generate the password of a new user, and show it once.",
                "type": "boolean",
            },
        }
    )
    both = {"required": ["password_file", "generate"], "properties": {"generate": {"const": True}}}
    credential["not"] = {"type": "object", **both}
    return _fields({"SCRAM-SHA-256": credential, "SCRAM-SHA-512": credential})
