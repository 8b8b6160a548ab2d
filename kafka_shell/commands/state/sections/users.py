"""The section of users: their SCRAM credentials, without passwords."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from kafka_shell.admin.users import scram
from kafka_shell.admin.users.model import (
    MAX_ITERATIONS,
    MIN_ITERATIONS,
    GeneratedPassword,
    NewScramCredential,
    ScramMechanism,
)
from kafka_shell.base.plans import Plan, Resource, Secret
from kafka_shell.base.results import Failure
from kafka_shell.commands.state.document import DocumentValue
from kafka_shell.commands.state.model import ANY_ITERATIONS, Fields, Password, State, Value
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
from kafka_shell.wire.cluster import Cluster

_MECHANISMS = {each.label: each for each in ScramMechanism if each}
_CREDENTIAL = ("iterations", "password_file", "generate")


class Users(Section):
    """SCRAM credentials by user: the iterations of each mechanism."""

    def resource(self, key: str) -> Resource:
        return Resource("user", key)

    def read(self, cluster: Cluster, request: StateRequest, state: State) -> Read:
        users = scram.describe(cluster)
        for user, why in users.failures.items():
            state.unread[f"user {user}"] = why
        return {
            user: {credential.mechanism.label: credential.iterations for credential in credentials}
            for user, credentials in sorted(users.values.items())
        }

    def load(self, loading: Loading, text: str, at: DocumentValue, place: DocumentValue) -> Loaded:
        fields: Fields = {}
        for label, credential in place.fields(f"user {text}", tuple(_MECHANISMS)).items():
            given = credential.fields(f"{label} of user {text}", _CREDENTIAL)
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
                path = str(loading.folder / file) if file else ""
                loading.state.passwords[text, _MECHANISMS[label]] = Password(path, generate)
        yield text, fields, at

    def write(self, resources: Mapping[str, Fields], lists: Collection[str]) -> Content:
        return {
            user: {mechanism: {"iterations": count} for mechanism, count in credentials.items()}
            for user, credentials in resources.items()
        }

    def schema(self) -> Content:
        iterations = {"type": "integer", "minimum": MIN_ITERATIONS, "maximum": MAX_ITERATIONS}
        credential = known_fields(
            {
                "iterations": iterations,
                "password_file": {
                    "description": "The file with the password of a new user, relative to this"
                    " file.",
                    "type": ["string", "number", "boolean"],
                    "minLength": 1,
                },
                "generate": {
                    "description": "Generate the password of a new user, and show it once.",
                    "type": "boolean",
                },
            }
        )
        both = ["password_file", "generate"]
        credential["not"] = {
            "type": "object",
            "required": both,
            "properties": {"generate": {"const": True}},
        }
        return by_name("SCRAM users by name.", known_fields(dict.fromkeys(_MECHANISMS, credential)))

    def compared(self, old: Fields, new: Fields) -> Iterator[tuple[str, Value | None]]:
        for name, value in super().compared(old, new):
            if value != ANY_ITERATIONS:
                yield name, value
            elif name not in old:
                yield name, MIN_ITERATIONS

    def plans(self, differences: Sequence[Difference], planning: Planning) -> Iterator[Plan]:
        new: list[Difference] = []
        for difference in differences:
            if difference.removes:
                planning.changes.append(difference.change)
            elif self._has_password(difference, planning):
                new.append(difference)
        if new:
            yield _credentials(new, planning)

    def _has_password(self, each: Difference, planning: Planning) -> bool:
        """Whether the credential can be set; else the user is refused, or warned about."""
        source = planning.wanted.passwords.get((each.key, _MECHANISMS[each.field]))
        if source is not None and (each.before is None or source.file):
            planning.confirm |= each.before is not None  # replaces a password
            return True
        if each.before is None:
            planning.refused[self.resource(each.key)] = Failure(
                "no-password",
                f"user {each.key} has no {each.field} credential, and the file has no password for"
                " it",
                hint="Add password_file: FILE or generate: true to the file.",
            )
        else:
            planning.warnings.append(
                f"user {each.key}: {each.field} has {each.before} iterations, not {each.after}:"
                " only a new password (password_file) can change them"
            )
        return False


def _credentials(differences: Sequence[Difference], planning: Planning) -> Plan:
    """Set SCRAM credentials. Generated passwords are shown once, afterwards."""
    credentials: list[NewScramCredential] = []
    generated: dict[str, Secret] = {}
    for difference in differences:
        mechanism = _MECHANISMS[difference.field]
        source = planning.wanted.passwords[difference.key, mechanism]
        if source.generate and difference.key in generated:
            password = generated[difference.key]  # one password for all mechanisms of a user
        else:
            password = planning.options.password(source)
        if source.generate:
            generated[difference.key] = password
        count = int(difference.after or 0)
        credentials.append(NewScramCredential(difference.key, mechanism, password, count))
    secrets = tuple(GeneratedPassword(user, password) for user, password in generated.items())
    return scram.plan_upsert(planning.context.cluster, credentials).noted(secrets=secrets)
