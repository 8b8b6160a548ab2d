"""The REST API of a schema registry: /schemas/ids/ID, /schemas/guids/GUID, /subjects/S,
/subjects/S/versions/V, /compatibility/subjects/S/versions/V, /config/S and /mode/S."""

from __future__ import annotations

import time
from base64 import b64encode
from typing import Any, ClassVar, TypeVar
from urllib.parse import quote, urlencode
from urllib.request import Request

import msgspec
from msgspec import Struct

from kafka_shell.admin.schemas.budget import (
    GLOBAL,
    MissingSchema,
    SchemaError,
    Unauthorized,
    UnavailableSchema,
)
from kafka_shell.admin.schemas.settings import RegistrySettings
from kafka_shell.base.text import quoted
from kafka_shell.wire import http
from kafka_shell.wire.endpoint import LimitTime
from kafka_shell.wire.tls import make_context

T = TypeVar("T")
_TIMEOUT_S = 3.0
_DOWN_S = 30.0  # how long a registry that does not respond is not asked again
_MOST_BYTES = 8 << 20
_ACCEPT = "application/vnd.schemaregistry.v1+json, application/json"
_CONFLUENT_API, _APICURIO_API = "/apis/ccompat/", "/apis/registry/v3"
_MISSING, _UNAUTHORIZED, _FORBIDDEN, _SERVER_ERROR = 404, 401, 403, 500
_NORMALIZE = "?normalize=true"
_REFUSED = {
    _UNAUTHORIZED: "does not accept the credentials",
    _FORBIDDEN: "does not authorize the request",
}
_DEEPEST, _MOST_REFERENCES = 20, 1_000  # references of references, and all of a schema


class Reference(Struct, frozen=True):
    """A schema that another one imports under `name`."""

    name: str
    subject: str
    version: int


class Schema(Struct, frozen=True, rename="camel", omit_defaults=True):
    """A schema as the registry returns it. Avro is the type without a name. `metadata` and
    `rule_set` are those of Confluent's registry, unchanged."""

    schema: str
    schema_type: str = "AVRO"
    references: tuple[Reference, ...] = ()
    metadata: Any = None
    rule_set: Any = None


class Registered(Schema, frozen=True):
    """A version of a subject."""

    id: int = 0
    version: int = 0

    @property
    def alone(self) -> Schema:
        """The schema without its ID and version, as it is registered."""
        return Schema(self.schema, self.schema_type, self.references, self.metadata, self.rule_set)


class _Number(Struct, frozen=True):
    id: int


class _Level(Struct, frozen=True, rename="camel", omit_defaults=True):
    compatibility: str | None = None  # in a request
    compatibility_level: str | None = None  # in a response


class _Mode(Struct, frozen=True):
    mode: str | None = None


class _Verdict(Struct, frozen=True):
    is_compatible: bool
    messages: tuple[str, ...] = ()


class _Version(Struct, frozen=True, rename="camel"):
    content_id: int


class _Versions(Struct, frozen=True):
    versions: tuple[_Version, ...] = ()


class _Problem(Struct, frozen=True):
    message: str = ""


class Imported(Struct, frozen=True):
    """The text of a referenced schema and the name that it is imported by."""

    name: str
    schema: str


class Client(Struct):
    """Requests to one registry, with its URLs tried in their order."""

    settings: RegistrySettings
    limit_time: LimitTime = lambda seconds: seconds
    is_glue: ClassVar[bool] = False
    _opener: Any = None
    _down: tuple[float, str] = (0.0, "")

    @property
    def is_apicurio(self) -> bool:
        """Whether it is Apicurio Registry, with its API beside Confluent's."""
        return all(_CONFLUENT_API in url for url in self.settings.urls)

    def by_id(self, schema_id: int | str, context: str = "") -> Schema:
        """The schema with this ID or GUID, or global ID of Apicurio. Each `context` (`:.staging:`)
        has IDs of its own. Raises SchemaError."""
        kind = "ids" if isinstance(schema_id, int) else "guids"
        try:
            number = schema_id
            if str(schema_id).startswith(GLOBAL):
                kind, number = "ids", self._content_id(str(schema_id).removeprefix(GLOBAL))
            asked = f"?{urlencode({'subject': context})}" if context else ""
            return self._schema(f"/schemas/{kind}/{number}{asked}")
        except MissingSchema:
            raise MissingSchema(f"schema {schema_id} is not in the registry") from None
        except SchemaError as error:
            raise type(error)(f"schema {schema_id} cannot be read: {error}") from None

    def subjects(self, context: str = "", *, deleted: bool = False) -> tuple[str, ...]:
        """The subjects of the default context, or of `context` (`:.staging:`), sorted; with
        `deleted` also those that are soft-deleted. Raises SchemaError."""
        asked = {"deleted": "true"} if deleted else {}
        asked |= {"subjectPrefix": context} if context else {}
        path = f"/subjects?{urlencode(asked)}".rstrip("?")
        try:
            return tuple(sorted(self._decoded(path, tuple[str, ...])))
        except MissingSchema:
            raise self._unknown() from None

    def versions(self, subject: str, *, deleted: bool = False) -> tuple[int, ...]:
        """The versions of a subject, none if it does not exist; with `deleted` also those that are
        soft-deleted. Raises SchemaError."""
        path = f"{_path(subject)}/versions{'?deleted=true' if deleted else ''}"
        try:
            return tuple(sorted(self._decoded(path, tuple[int, ...])))
        except MissingSchema:
            return ()

    def version(
        self, subject: str, number: int | str = "latest", *, deleted: bool = False
    ) -> Registered | None:
        """A version of a subject, by default the newest one; None without it. With `deleted`, it
        may be soft-deleted. Raises SchemaError."""
        path = f"{_path(subject)}/versions/{number}{'?deleted=true' if deleted else ''}"
        try:
            return self._decoded(path, Registered)
        except MissingSchema:
            return None

    def level(self, subject: str = "") -> str | None:
        """The compatibility level of a subject, None if it has none of its own; without a subject
        the registry's default. Raises SchemaError."""
        try:
            return self._decoded(_config(subject), _Level).compatibility_level
        except MissingSchema:
            return None

    def mode(self, subject: str = "") -> str | None:
        """The mode of a subject, None if it has none of its own; without a subject the registry's.
        Raises SchemaError."""
        try:
            return self._decoded(f"/mode/{_segment(subject)}".rstrip("/"), _Mode).mode
        except MissingSchema:
            return None

    def set_level(self, subject: str, level: str | None) -> None:
        """Set a compatibility level, or remove that of a subject. Raises SchemaError:
        UnavailableSchema if it may have been set."""
        sent = None if level is None else _Level(level)
        try:
            self._decoded(_config(subject), object, sent, "DELETE" if level is None else "PUT")
        except MissingSchema:
            if level is not None:
                raise self._unknown() from None

    def delete(self, subject: str, version: int | None, *, permanent: bool = False) -> None:
        """Delete a version, or a subject with all versions. Permanent is only what is soft-deleted
        already. Raises SchemaError: UnavailableSchema if it may have been deleted."""
        path = _path(subject) if version is None else f"{_path(subject)}/versions/{version}"
        path += "?permanent=true" if permanent else ""
        self._decoded(path, object, method="DELETE")

    def lookup(self, subject: str, schema: Schema, *, normalize: bool = True) -> Registered | None:
        """The version of a subject that is this schema; None without one. Raises SchemaError."""
        try:
            path = f"{_path(subject)}{_NORMALIZE if normalize else ''}"
            return self._decoded(path, Registered, schema)
        except MissingSchema:
            return None

    def check(self, subject: str, schema: Schema) -> str | None:
        """Why a schema is not compatible with the newest version of a subject, as its compatibility
        level requires; None if it is. Raises SchemaError."""
        path = f"/compatibility{_path(subject)}/versions/latest?verbose=true"
        verdict = self._decoded(path, _Verdict, schema)
        return None if verdict.is_compatible else "; ".join(verdict.messages) or "no reason given"

    def register(self, subject: str, schema: Schema, *, normalize: bool = True) -> int:
        """Register a schema and return its ID. Raises SchemaError: UnavailableSchema if it may have
        been registered."""
        path = f"{_path(subject)}/versions{_NORMALIZE if normalize else ''}"
        return self._decoded(path, _Number, schema).id

    def _unknown(self) -> SchemaError:
        return SchemaError(f"{self.settings.urls[0]} is not a schema registry")

    def imports(self, schema: Schema) -> list[Imported]:
        """The schemas that it references, each after those that it references itself."""
        found: dict[str, Imported] = {}
        self._import(schema, found, set(), _DEEPEST)
        return list(found.values())

    def _import(
        self, schema: Schema, found: dict[str, Imported], resolved: set[Reference], levels: int
    ) -> None:
        """Add the references of a schema, each of them once."""
        if not levels:
            raise SchemaError("its references are nested too deeply")
        for each in schema.references:
            if each in resolved:
                continue
            resolved.add(each)
            if len(resolved) > _MOST_REFERENCES:
                raise SchemaError(f"it has more than {_MOST_REFERENCES:,} references")
            imported = self._referenced(each)
            self._import(imported, found, resolved, levels - 1)
            found.setdefault(each.name, Imported(each.name, imported.schema))
            if sum(len(text.schema) for text in found.values()) > _MOST_BYTES:
                raise SchemaError(f"its references have more than {_MOST_BYTES:,} characters")

    def _referenced(self, reference: Reference) -> Schema:
        subject, version = reference.subject, reference.version
        try:  # by_id also returns deleted schemas
            return self._schema(f"{_path(subject)}/versions/{version}?deleted=true")
        except MissingSchema:
            about = f"version {version} of subject {subject}"
            raise SchemaError(f"it references {about}, which is not in the registry") from None

    def _content_id(self, global_id: str) -> int:
        """The ID of the content of a version of Apicurio, which its Confluent API uses."""
        path = f"{_APICURIO_API}/search/versions?globalId={global_id}"
        versions = self._decoded(path, _Versions).versions
        if not versions:
            raise MissingSchema
        return versions[0].content_id

    def _schema(self, path: str) -> Schema:
        return self._decoded(path, Schema)

    def _decoded(
        self, path: str, kind: type[T], sent: Struct | None = None, method: str | None = None
    ) -> T:
        body = self._get(path, None if sent is None else msgspec.json.encode(sent), method)
        try:
            return msgspec.json.decode(body, type=kind)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            raise UnavailableSchema("not a response of a schema registry") from None

    def _get(self, path: str, sent: bytes | None = None, method: str | None = None) -> bytes:
        """The response of the first URL that responds. Raises SchemaError: UnavailableSchema if one
        did not respond."""
        until, why = self._down
        if time.monotonic() < until:
            raise UnavailableSchema(why)
        asks = sent is None and method is None
        refused = unknown = False
        for url in self.settings.urls:
            try:
                own = path.startswith(_APICURIO_API)  # beside the other one
                base = url.partition(_CONFLUENT_API)[0] if own else url
                return self._fetch(base + path, sent, method)
            except http.HttpFailure as failure:
                status = failure.status
                if status == _MISSING:
                    raise MissingSchema(f"{url} does not have it (HTTP 404)") from None
                if status in _REFUSED:
                    why = f"{url} {_REFUSED[status]} (HTTP {status})"
                    if status == _UNAUTHORIZED:
                        self._down = time.monotonic() + _DOWN_S, why
                    raise Unauthorized(why) from None
                why = f"{url}: {failure}"
                rejected = 0 < status < _SERVER_ERROR
                refused, unknown = refused or rejected, unknown or not rejected
                if rejected and not asks:
                    why = f"the registry rejects it: {_said(failure)}"
                    break
        if asks and not refused:  # else it may return other schemas
            self._down = time.monotonic() + _DOWN_S, why
        raise UnavailableSchema(why) if unknown else SchemaError(why)

    def _fetch(self, url: str, sent: bytes | None, method: str | None) -> bytes:
        settings = self.settings
        request = Request(url, sent, {"Accept": _ACCEPT}, method=method)
        if sent is not None:
            request.add_header("Content-Type", _ACCEPT.partition(",")[0])
        if settings.token is not None:
            request.add_header("Authorization", f"Bearer {settings.token.reveal()}")
        elif settings.user:
            password = settings.password.reveal() if settings.password else ""
            pair = b64encode(f"{settings.user}:{password}".encode()).decode()
            request.add_header("Authorization", f"Basic {pair}")
        timeout = self.limit_time(_TIMEOUT_S)
        return http.fetch(self._client(), request, timeout, _MOST_BYTES)

    def _client(self) -> Any:
        if self._opener is None:
            https = any(url.startswith("https:") for url in self.settings.urls)
            self._opener = http.opener(
                make_context(self.settings.tls) if https else None, self.settings.via
            )
        return self._opener


def _path(subject: str) -> str:
    return f"/subjects/{_segment(subject)}"


def _config(subject: str) -> str:
    return f"/config/{_segment(subject)}".rstrip("/")


def _segment(subject: str) -> str:
    """A subject as one segment of a path. Dots alone would be another path."""
    text = quote(subject, safe="", errors="surrogateescape")
    return text if text.strip(".") else text.replace(".", "%2E")


def _said(failure: http.HttpFailure) -> str:
    """The message of the registry, or else the status."""
    try:
        said = msgspec.json.decode(failure.body, type=_Problem).message
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        said = ""
    return quoted(said) if said else str(failure)
