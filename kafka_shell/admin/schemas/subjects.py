"""Subjects of a schema registry, and plans that change them.

A registry validates nothing in advance, and a request can be carried out although its response is
lost: what was done is decided by reading.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set
from typing import Any, TypeVar

from msgspec import Struct

from kafka_shell.admin.schemas.budget import (
    MissingSchema,
    SchemaError,
    Unauthorized,
    UnavailableSchema,
)
from kafka_shell.admin.schemas.client import Client, Reference, Schema
from kafka_shell.admin.steps import BaseStep, changed
from kafka_shell.base.errors import ShellError, Status
from kafka_shell.base.plans import Advice, Change, Effect, Outcomes, Plan, Report
from kafka_shell.base.results import Failure, Results
from kafka_shell.base.structs import Resource, replace
from kafka_shell.base.threads import in_threads
from kafka_shell.base.units import ranges

VERSION = "version"  # how the fields of subjects begin
LEVEL = "level"
T = TypeVar("T")
_AT_ONCE = 16  # requests
_CONTEXT = re.compile(r":\.[^:]*:")  # before the name of a subject that is not in the default one
_none: Report = lambda task, done, total: None  # noqa: E731
_NEW_NUMBERS = "restored versions get new numbers"
_NEWEST = f"{_NEW_NUMBERS} and become the newest"


class Subject(Struct, frozen=True):
    """A subject and its newest version, whose ID some registries do not show if it is deleted.
    `inherited`: its compatibility level is the default of the
    registry. `deleted`: all its versions are soft-deleted."""

    name: str
    version: int
    id: int | None
    type: str
    compatibility: str
    inherited: bool = False
    deleted: bool = False


class SchemaVersion(Struct, frozen=True):
    """A version of a subject. `versions` and `deleted_versions` are all of the subject."""

    subject: str
    version: int
    id: int
    type: str
    compatibility: str
    inherited: bool
    versions: tuple[int, ...]
    deleted_versions: tuple[int, ...]
    references: tuple[Reference, ...]
    schema: str
    metadata: Any = None
    rule_set: Any = None


class Deleted(Struct, frozen=True):
    """A soft-deleted version of a subject and its ID."""

    version: int
    id: int


# -- reads -----------------------------------------------------------------------------------------


def as_error(error: SchemaError) -> ShellError:
    """The error of a command that cannot go on without the registry."""
    unreachable = isinstance(error, UnavailableSchema | Unauthorized)
    return ShellError(
        f"the schema registry cannot be used: {error}",
        code="registry",
        status=Status.UNREACHABLE if unreachable else Status.FAILED,
    )


def names(client: Client, words: Iterable[str] = (), *, deleted: bool = False) -> tuple[str, ...]:
    """The subjects of the default context, and of those that words such as `:.staging:orders*`
    name. Raises ShellError."""
    contexts = ["", *map(_context, words)]
    try:
        every = [client.subjects(each, deleted=deleted) for each in dict.fromkeys(contexts)]
    except SchemaError as error:
        raise as_error(error) from None
    return tuple(dict.fromkeys(name for some in every for name in some))


def _context(subject: str) -> str:
    """The context in the name of a subject; empty for the default one."""
    found = _CONTEXT.match(subject)
    return found.group() if found else ""


def describe(
    client: Client, subjects: Sequence[str], deleted: Collection[str] = (), report: Report = _none
) -> Results[Resource, Subject]:
    """Each subject with its newest version; `deleted` are those that are soft-deleted."""
    default = _default_level(client)

    def read(name: str) -> Subject:
        gone, own = name in deleted, client.level(name)
        every = client.versions(name, deleted=True) if gone else ()
        found = client.version(name, max(every, default="latest"), deleted=gone)
        if found is None and not every:
            raise _no_version(name)
        version, id, type = (
            (found.version, found.id, found.schema_type) if found else (every[-1], None, "")
        )
        return Subject(name, version, id, type, own or default, own is None, gone)

    return _each(read, subjects, report)


def describe_version(
    client: Client, subjects: Sequence[str], number: int | None = None, report: Report = _none
) -> Results[Resource, SchemaVersion]:
    """A version of each subject, by default the newest that is not deleted."""
    default = _default_level(client)

    def read(name: str) -> SchemaVersion:
        live, every = client.versions(name), client.versions(name, deleted=True)
        chosen = number or max(live or every, default=0)
        found = client.version(name, chosen, deleted=True) if chosen in every else None
        if chosen in every and found is None:
            raise SchemaError(f"the registry does not show version {chosen}, which is soft-deleted")
        if found is None:
            raise _no_version(name, number, every)
        own = client.level(name)
        return SchemaVersion(
            name,
            found.version,
            found.id,
            found.schema_type,
            own or default,
            own is None,
            live,
            tuple(each for each in every if each not in live),
            found.references,
            found.schema,
            found.metadata,
            found.rule_set,
        )

    return _each(read, subjects, report)


def _no_version(name: str, number: int | None = None, every: Sequence[int] = ()) -> MissingSchema:
    if number is None or not every:
        return MissingSchema(f"subject {name} does not exist")
    return MissingSchema(f"subject {name} has no version {number} (versions: {ranges(every)})")


def _default_level(client: Client) -> str:
    try:
        return client.level() or ""
    except SchemaError as error:
        raise as_error(error) from None


def _each(read: Any, subjects: Sequence[str], report: Report = _none) -> Results[Resource, Any]:
    """What is read of each subject, many at once."""
    left = set(subjects)

    def outcome(name: str) -> Any:
        try:
            return read(name)
        except SchemaError as error:
            return _failure(error)
        finally:
            left.discard(name)
            report("Reading subjects", len(subjects) - len(left), len(subjects))

    keys = [Resource("subject", name) for name in subjects]
    return Results.collect(zip(keys, in_threads(outcome, subjects, _AT_ONCE), strict=True))


def _failure(error: SchemaError) -> Failure:
    return Failure("no-subject" if isinstance(error, MissingSchema) else "registry", str(error))


# -- steps -----------------------------------------------------------------------------------------


class RegistryStep(Struct, BaseStep, frozen=True):
    """Changes of one subject."""

    client: Client
    subject: str

    def request(self) -> None:
        """Send the requests. Raises SchemaError."""
        raise NotImplementedError

    def seen(self) -> dict[Change, Change]:
        """The changes that the registry shows, and how. Raises SchemaError."""
        raise NotImplementedError

    def shown(self, cluster: Any) -> Set[Change]:
        """The changes that the registry shows."""
        try:
            return self.seen().keys()
        except SchemaError:
            return set()

    def send(self, cluster: Any, *, validate_only: bool) -> Outcomes:
        """Change the registry, and read what became of it."""
        changes, why = self.changes, None
        try:
            self.request()
        except SchemaError as error:
            why = error
        try:
            seen = self.seen()
        except SchemaError:
            seen = {} if why else {change: change for change in changes}
        unknown = why is None or isinstance(why, UnavailableSchema)
        text = str(why or "the registry does not show it yet")
        failure = Failure("outcome-unknown" if unknown else "registry", text)
        return Results.collect((change, seen.get(change, failure)) for change in changes)


class AlterLevel(RegistryStep, frozen=True):
    """Sets the compatibility level of a subject, or of the registry without one; None removes it
    from the subject."""

    before: str | None
    after: str | None
    default: str

    @property
    def changes(self) -> tuple[Change, ...]:
        kind = "compatibility" if self.subject else "default-compatibility"
        change = Change(Resource(kind, self.subject), "alter", LEVEL, self.before, self.after)
        if self.before is None:
            change = replace(change, effective=self.default, source="default")
        return (change,)

    def reread(self, cluster: Any) -> AlterLevel:
        """The same step with the level that is set now."""
        return replace(self, before=_required(lambda: self.client.level(self.subject)))

    def request(self) -> None:
        self.client.set_level(self.subject, self.after)

    def seen(self) -> dict[Change, Change]:
        now = self.client.level(self.subject)
        # Registries that always return a level return the default instead of none.
        made = now == self.after or (self.after is None and now == self.client.level())
        return {change: change for change in self.changes if made}


class RegisterSchemas(RegistryStep, frozen=True):
    """Registers schemas as the next versions of a subject, from `next`. `used` is called with the
    ID of each, for records that are written with them; then it is not undone, and the registry may
    `normalize` the text."""

    schemas: tuple[Schema, ...]
    exists: bool
    next: int
    normalize: bool
    used: Callable[[int], None] | None = None

    @property
    def changes(self) -> tuple[Change, ...]:
        return tuple(
            self._change(number, schema.schema_type)
            for number, schema in enumerate(self.schemas, self.next)
        )

    def _change(self, number: int, after: str) -> Change:
        return Change(
            Resource("subject", self.subject),
            "alter" if self.exists else "create",
            f"{VERSION} {number}",
            after=after,
            reversible=self.used is None,
        )

    def reread(self, cluster: Any) -> RegisterSchemas:
        """The same step for the versions that there are now."""
        every = _required(lambda: self.client.versions(self.subject, deleted=True))
        return replace(self, next=max(every, default=0) + 1)

    def request(self) -> None:
        for schema in self.schemas:
            number = self.client.register(self.subject, schema, normalize=self.normalize)
            if self.used is not None:
                self.used(number)

    def seen(self) -> dict[Change, Change]:
        made: dict[Change, Change] = {}
        for change, schema in zip(self.changes, self.schemas, strict=True):
            found = self.client.lookup(self.subject, schema, normalize=self.normalize)
            if found is not None:
                made[change] = self._change(found.version, f"ID {found.id}")
                if self.used is not None:
                    self.used(found.id)
        return made


class DeleteVersions(RegistryStep, frozen=True):
    """Deletes versions of a subject. `gone` are their IDs, None if the registry does not show it.
    Permanently: also those that are soft-deleted, `hidden`. `whole` is the subject; some registries
    delete its own `level`, too. `lost` is what undoing does not restore."""

    gone: Mapping[int, int | None]
    whole: bool
    permanent: bool = False
    hidden: frozenset[int] = frozenset()
    lost: str = _NEW_NUMBERS
    level: str | None = None

    @property
    def changes(self) -> tuple[Change, ...]:
        level = Change(
            Resource("compatibility", self.subject), "alter", LEVEL, self.level,
            note="some registries keep it", reversible=not self.permanent,
        )  # fmt: skip
        versions = (self._change(number, id) for number, id in self.gone.items())
        return (*versions, *([] if self.level is None else [level]))

    def _change(self, number: int, id: int | None) -> Change:
        unknown = "soft-deleted" if number in self.hidden else "ID unknown"
        reversible = not self.permanent and id is not None
        return Change(
            Resource("subject", self.subject),
            "delete" if self.whole else "alter",
            f"{VERSION} {number}",
            before=unknown if id is None else f"ID {id}",
            reversible=reversible,
            lost=self.lost if reversible else "",
        )

    def reread(self, cluster: Any) -> DeleteVersions:
        """The same step, if the subject has the same versions now. Raises ShellError."""
        now = _required(lambda: self.client.versions(self.subject, deleted=self.permanent))
        if not {*now} >= {*self.gone} or self.whole != ({*now} == {*self.gone}):
            raise changed(f"the versions of subject {self.subject} changed")
        if self.level not in (None, _required(lambda: self.client.level(self.subject))):
            raise changed(f"the compatibility level of subject {self.subject} changed")
        return self

    def request(self) -> None:
        live = [number for number in self.gone if number not in self.hidden]
        for permanent in (False, True) if self.permanent else (False,):
            numbers = list(self.gone) if permanent else live
            for number in [None] if self.whole and numbers else numbers:
                self.client.delete(self.subject, number, permanent=permanent)

    def seen(self) -> dict[Change, Change]:
        left = {*self.client.versions(self.subject, deleted=self.permanent)}
        gone = {number: self._change(number, id) for number, id in self.gone.items()}
        made = {change: change for number, change in gone.items() if number not in left}
        if self.level is not None and left.isdisjoint(gone):
            change, now = self.changes[-1], self.client.level(self.subject)
            kept = replace(change, after=now, note="kept by the registry")
            made[change] = kept if now == self.level else change
        return made


def _required(read: Callable[[], T]) -> T:
    try:
        return read()
    except SchemaError as error:
        raise as_error(error) from None


# -- plans -----------------------------------------------------------------------------------------


def plan_levels(client: Client, levels: Mapping[str, str | None]) -> Plan:
    """Set the compatibility level of each subject, None removes it; `""` is the registry's
    default."""
    default = _default_level(client)
    subjects = list(levels)

    def read(name: str) -> AlterLevel:
        before = client.level(name) if name else default
        return AlterLevel(client, name, before, levels[name], default)

    found: Results[Resource, AlterLevel] = _each(read, subjects)
    steps = tuple(step for step in found if step.before != step.after)
    kept = tuple(
        replace(change, note="already set")
        for step in found
        if step.before == step.after
        for change in step.changes
    )
    plan = Plan(Effect.CHANGE, steps, refused=Results({}, found.failures), unchanged=kept)
    return plan.advised(Advice(confirm=True)) if steps else plan


def plan_deletion(
    client: Client,
    subjects: Sequence[str],
    versions: Collection[int] = (),
    *,
    latest: bool = False,
    permanent: bool = False,
    levels: bool = True,
) -> Plan:
    """Delete subjects, or these versions of them, or the newest: softly, or permanently. `levels`:
    the plan shows the levels that subjects lose."""

    def read(name: str) -> DeleteVersions:
        live = client.versions(name)
        every = client.versions(name, deleted=True) if permanent else live
        missing = next((each for each in versions if each not in every), None)
        if not every or missing is not None:
            raise _no_version(name, missing, every)
        gone = sorted(versions) or (every[-1:] if latest else every)
        shown = ((number, client.version(name, number, deleted=True)) for number in gone)
        ids = {number: found.id if found else None for number, found in shown}
        whole, hidden = {*gone} == {*every}, frozenset(every) - {*live}
        level = client.level(name) if whole and levels else None
        if client.is_apicurio and level == client.level():
            level = None  # not its own, although it is shown
        lost = _NEW_NUMBERS if every[-1] in gone else _NEWEST
        lost += _lost_mode(client, name) if whole and not permanent else ""
        return DeleteVersions(client, name, ids, whole, permanent, hidden, lost, level)

    found: Results[Resource, DeleteVersions] = _each(read, subjects)
    steps = tuple(found)
    return Plan(Effect.DESTROY, steps, refused=Results({}, found.failures))


def _lost_mode(client: Client, subject: str) -> str:
    try:
        mode = client.mode(subject)
        if mode is None or mode == client.mode():
            return ""
    except SchemaError:
        return "; its mode, which cannot be read, is not restored"
    return f"; its mode {mode} is not restored"


def plan_registration(
    client: Client,
    subject: str,
    schemas: Sequence[Schema | int | Deleted],
    *,
    newest: bool = False,
    check: bool = True,
) -> Plan:
    """Register schemas as the next versions of a subject: new ones, those of these IDs, or those of
    its deleted versions. One that is not compatible is refused (if `check`), and one that has
    to be the `newest` but is an older version."""
    try:
        given = [_schema(client, subject, each) for each in schemas]
        steps = [
            registration(client, subject, each, newest=newest, check=check)[1] for each in given
        ]
    except (UnavailableSchema, Unauthorized) as error:
        raise as_error(error) from None
    except SchemaError as error:
        refused = {Resource("subject", subject): Failure("registry", str(error))}
        return Plan(Effect.CHANGE, (), refused=Results({}, refused))
    left = [each for each in steps if each is not None]
    if not left:
        return Plan(Effect.CHANGE, ())
    new = tuple(schema for each in left for schema in each.schemas)
    step = replace(left[0], schemas=new)
    return Plan(Effect.CHANGE, (step,)).advised(Advice(confirm=True))


def _schema(client: Client, subject: str, given: Schema | int | Deleted) -> Schema:
    """The schema to register. Raises SchemaError, also if the deleted version has another ID: the
    registry is another one."""
    if isinstance(given, Schema):
        return given
    if isinstance(given, int):
        return client.by_id(given, _context(subject))
    number = given.version
    found = client.version(subject, number, deleted=True)
    if found is None and number in client.versions(subject, deleted=True):
        return client.by_id(given.id, _context(subject))  # some registries do not show it
    if found is None:
        raise SchemaError(f"the registry no longer has version {number}")
    if found.id != given.id:
        raise SchemaError(f"version {number} has ID {found.id} now, not {given.id}")
    return found.alone


def registration(
    client: Client,
    subject: str,
    schema: Schema,
    used: Callable[[int], None] | None = None,
    *,
    newest: bool = False,
    check: bool = True,
) -> tuple[int | None, RegisterSchemas | None]:
    """The ID of a schema that the subject has, or else the step that registers it. Raises
    SchemaError, also if it is not compatible with the subject (if `check`), or has to be the
    `newest` but is not."""
    live, normalize = client.versions(subject), used is not None
    if live:
        known = client.lookup(subject, schema, normalize=normalize)
        if known is not None and newest and known.version != live[-1]:
            older = f"it is version {known.version} already, and version {live[-1]} is the newest"
            raise SchemaError(older)
        if known is not None:
            return known.id, None
        # Without a level, some registries check against one that does not apply.
        level = (client.level(subject) or client.level()) if check else "NONE"
        if level != "NONE" and (why := client.check(subject, schema)) is not None:
            raise SchemaError(f"it is not compatible with version {live[-1]} of {subject}: {why}")
    number = max(client.versions(subject, deleted=True), default=0) + 1
    return None, RegisterSchemas(client, subject, (schema,), bool(live), number, normalize, used)
