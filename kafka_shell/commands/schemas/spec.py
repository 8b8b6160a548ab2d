"""Declarations of the schemas commands."""

from __future__ import annotations

import re

from kafka_shell.base.plans import Effect
from kafka_shell.language import kinds
from kafka_shell.language.command import Argument, Command, Example, Option, Short
from kafka_shell.language.kinds import Kind, Parameter, invalid

LEVELS = (
    "BACKWARD",
    "BACKWARD_TRANSITIVE",
    "FORWARD",
    "FORWARD_TRANSITIVE",
    "FULL",
    "FULL_TRANSITIVE",
    "NONE",
)
LATEST = "latest"
_ITEM = r"(\d{1,6}-\d{1,6}|\d{1,10})"  # IDs have 31 bits; ranges are written out
_RANGES = re.compile(rf"{_ITEM}(,{_ITEM})*", re.ASCII)


class _Versions(Kind):
    """`1-3,5` or `latest` -> the text."""

    def convert(self, parameter: Parameter, text: str) -> str:
        if text != LATEST and not _RANGES.fullmatch(text):
            raise invalid(parameter, "numbers such as 4 or 1-3", text)
        return text


class _Subjects(kinds.GroupWords, kinds.Name):
    """Subjects of any names but the empty one."""


SUBJECTS = _Subjects("subject", kinds.in_view("subjects"))
SUBJECT = kinds.Name("subject", kinds.in_view("subjects"))
_VERSIONS = _Versions("versions", metavar="N")
_IDS = _Versions("ids", metavar="ID")
_WORDS = Argument("subject", SUBJECTS, "Subjects: a,b  pay*  /regex/", option="--subject")
_IN_CONTEXT = "Subjects of other contexts are selected by their whole names: ':.staging:orders*'."
_REGISTRY = "Requires schema.registry.url in the profile or the client properties."

COMMANDS: tuple[Command, ...] = (
    Command(
        name="list-subjects",
        summary="List the subjects of the schema registry.",
        family="schemas",
        run="schemas.run:list_subjects",
        arguments=(
            Argument("subject", SUBJECTS, "Only these subjects: a,b  pay*  /regex/", many=True,
                     required=False, option="--subject"),
        ),
        options=(
            Option("--long", kinds.FLAG,
                   "Also show the newest version, its ID and type, and the compatibility level.",
                   aliases=("-l",)),
            Option("--deleted", kinds.FLAG, "Also list soft-deleted subjects."),
        ),
        shorts=(Short("subjects", "list-subjects --long"),),
        search=("schema", "registry", "avro", "protobuf"),
        description=f"{_REGISTRY} {_IN_CONTEXT}",
        examples=(
            Example("list-subjects", "list the subjects, one name per line"),
            Example("list-subjects 'orders.*' --long", "include versions and compatibility"),
        ),
    ),
    Command(
        name="describe-schema",
        summary="Show the schema of a subject.",
        family="schemas",
        run="schemas.run:describe_schema",
        arguments=(_WORDS,),
        options=(
            Option("--version", _VERSIONS, "This version (default: latest).",
                   choices=(LATEST,), metavar="N"),
            Option("--diff", _VERSIONS, "Show what changed since this version.",
                   choices=(LATEST,), metavar="N"),
        ),
        search=("schema", "registry", "version", "reference"),
        description=f"Shows soft-deleted versions, too, if they are named. {_REGISTRY}",
        examples=(
            Example("describe-schema orders.placed-value", "show the newest version"),
            Example("describe-schema orders.placed-value --diff 1",
                    "show what changed since version 1"),
        ),
    ),
    Command(
        name="register-schema",
        summary="Register a schema as the next version of a subject.",
        family="schemas",
        run="schemas.run:register_schema",
        effect=Effect.CHANGE,
        arguments=(
            Argument("subject", SUBJECT, "The subject.", option="--subject"),
            Argument("file", kinds.FILE, "A schema: .avsc, .proto or .json", required=False,
                     option="--schema"),
        ),
        options=(
            Option("--id", _IDS, "Register the schemas with these IDs."),
        ),
        exactly_one=(("file", "id"),),
        search=("schema", "registry", "restore", "undelete"),
        description=(
            "The registry checks the compatibility of the schema first. With --id, a soft-deleted"
            f" version is restored, with a new number. {_REGISTRY}"
        ),
        examples=(
            Example("register-schema orders.shipped-value --id 1 --dry-run",
                    "preview using the schema of another subject"),
        ),
    ),
    Command(
        name="alter-compatibility",
        summary="Set the compatibility level of subjects, or the registry's default.",
        family="schemas",
        run="schemas.run:alter_compatibility",
        effect=Effect.CHANGE,
        arguments=(
            Argument("subject", SUBJECTS, "Subjects: a,b  pay*  /regex/", required=False,
                     option="--subject", unless=("--default",)),
            Argument("level", kinds.CHOICE, "The new level.", required=False, choices=LEVELS,
                     option="--level", unless=("--inherit",)),
        ),
        options=(
            Option("--default", kinds.FLAG, "Set the default of the registry.",
                   excludes=("--inherit",)),
            Option("--inherit", kinds.FLAG, "Remove the subjects' own level."),
        ),
        exactly_one=(("subject", "default"), ("level", "inherit")),
        search=("schema", "registry", "evolution", "compatibility"),
        description=f"Versions that are registered already are not checked again. {_REGISTRY}",
        examples=(
            Example("alter-compatibility orders.placed-value FULL --dry-run",
                    "preview another level for one subject"),
            Example("alter-compatibility --default BACKWARD --dry-run",
                    "preview another default"),
        ),
    ),
    Command(
        name="delete-schema",
        summary="Delete subjects, or versions of one.",
        family="schemas",
        run="schemas.run:delete_schema",
        effect=Effect.DESTROY,
        arguments=(_WORDS,),
        options=(
            Option("--version", _VERSIONS, "Only these versions: 4  1-3  latest",
                   choices=(LATEST,), metavar="N"),
            Option("--permanent", kinds.FLAG,
                   "Delete permanently: records with these schemas can no longer be decoded."),
        ),
        search=("schema", "registry", "subject", "remove"),
        description=(
            "Deletes softly by default: records can still be decoded by the ID of their schema, and"
            f" undo registers the schemas again. {_REGISTRY}"
        ),
        examples=(
            Example("delete-schema orders.placed-value --version 1 --dry-run",
                    "preview the deletion of one version"),
            Example("delete-schema 'orders.*' --permanent --dry-run",
                    "preview what can no longer be decoded"),
        ),
    ),
)  # fmt: skip
