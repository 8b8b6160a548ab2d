"""Commands on subjects of a schema registry (Confluent's REST API)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import unified_diff
from pathlib import Path
from typing import Any

from kafka_shell.admin.schemas import subjects
from kafka_shell.admin.schemas.client import Client, Schema
from kafka_shell.admin.schemas.files import LARGEST, SUFFIXES
from kafka_shell.admin.schemas.registry import JSON_SCHEMA, NAMES, client_of, no_registry
from kafka_shell.admin.schemas.subjects import Deleted, SchemaVersion, Subject
from kafka_shell.base.command_results import Document, LazyRows, Listing, NoRows
from kafka_shell.base.errors import UsageError, did_you_mean
from kafka_shell.base.files import read_text
from kafka_shell.base.plans import Change, Plan, Resource, merge_plans
from kafka_shell.base.results import Failure, Results
from kafka_shell.base.units import numbers_in
from kafka_shell.commands import select
from kafka_shell.commands.schemas.render import readable
from kafka_shell.commands.schemas.spec import LATEST
from kafka_shell.context import Context
from kafka_shell.language.command import Invocation


def client(context: Context) -> Client:
    """The client of the registry of this session. Raises UsageError without one."""
    found = client_of(context.settings.properties, context.cluster.time_left)
    if found is None:
        raise no_registry("this command")
    return found


# -- read ------------------------------------------------------------------------------------------


def list_subjects(
    invocation: Invocation, context: Context
) -> Listing | NoRows | Results[Resource, Subject]:
    """The names of subjects; with --long also their newest versions."""
    registry, words = client(context), invocation["subject"]
    live = subjects.names(registry, words)
    every = subjects.names(registry, words, deleted=True) if invocation["deleted"] else live
    chosen = select.listed(words, every, "subject", context)
    if isinstance(chosen, NoRows):
        return chosen
    if not chosen:
        return NoRows("no subjects")
    if invocation["long"] or (invocation["output"] or context.settings.output) != "table":
        return subjects.describe(registry, chosen, {*every} - {*live}, context.report)
    return Listing(LazyRows(chosen, str))


def describe_schema(
    invocation: Invocation, context: Context
) -> Results[Resource, SchemaVersion] | Document | NoRows:
    """A version of each subject, or the difference between two versions of one."""
    registry = client(context)
    chosen, missing = _selected(invocation, registry, deleted=True)
    number, other = _version(invocation, "version"), _version(invocation, "diff")
    found = subjects.describe_version(registry, chosen, number, context.report)
    if invocation["diff"] is None:
        return Results(found.values, found.failures | missing)
    if missing or found.failures or len(chosen) != 1:
        _only_one(invocation, chosen, "diff")
        return Results({}, found.failures | missing)
    earlier = subjects.describe_version(registry, chosen, other)
    if earlier.failures:
        return earlier
    (old,), (new,) = earlier, found
    before, after = (
        (readable(each).splitlines(), f"{each.subject} version {each.version}")
        for each in (old, new)
    )
    lines = unified_diff(before[0], after[0], before[1], after[1], lineterm="")
    text = "\n".join(lines)
    same = f"versions {old.version} and {new.version} do not differ"
    return Document(text, "diff") if text else NoRows(same)


def _version(invocation: Invocation, option: str) -> int | None:
    """The single version of an option, None for the newest."""
    text = invocation[option]
    numbers = numbers_in(text)
    if len(numbers) > 1:
        raise UsageError(f"--{option} must be one version", span=invocation.span(option))
    return next(iter(numbers), None)


def _only_one(invocation: Invocation, chosen: Sequence[str], option: str) -> None:
    if len(chosen) > 1:
        raise UsageError(
            f"--{option} requires one subject, but {len(chosen):,} are selected",
            span=invocation.span("subject"),
        )


def _selected(
    invocation: Invocation, registry: Client, *, deleted: bool = False
) -> tuple[list[str], dict[Resource, Failure]]:
    """The subjects that are selected, and why others cannot be."""
    existing = subjects.names(registry, [invocation["subject"]], deleted=deleted)
    chosen = select.among(invocation, "subject", existing, "subject")
    missing = {
        Resource("subject", name): Failure(
            "no-subject",
            f"subject {name} does not exist",
            hint=did_you_mean(name, existing, "Run list-subjects to see the names."),
        )
        for name in chosen
        if name not in existing
    }
    return [name for name in chosen if name in existing], missing


# -- change ----------------------------------------------------------------------------------------


def alter_compatibility(invocation: Invocation, context: Context) -> Plan:
    """Set or remove the compatibility level of subjects, or set the default."""
    registry = client(context)
    if invocation["default"]:
        return subjects.plan_levels(registry, {"": invocation["level"]})
    chosen, missing = _selected(invocation, registry)
    plan = subjects.plan_levels(registry, dict.fromkeys(chosen, invocation["level"]))
    return _refusing(plan, missing)


def _refusing(plan: Plan, missing: Mapping[Resource, Failure]) -> Plan:
    return plan + Plan(plan.effect, (), refused=Results({}, dict(missing)))


def register_schema(invocation: Invocation, context: Context) -> Plan:
    """Register the schema of a file, or those of IDs, for this subject."""
    registry, subject = client(context), invocation["subject"]
    if invocation["id"] is not None:
        return subjects.plan_registration(registry, subject, sorted(numbers_in(invocation["id"])))
    name = invocation["file"]
    format = SUFFIXES.get(Path(name).suffix, JSON_SCHEMA)
    schema = Schema(read_text(name, largest=LARGEST), NAMES[format])
    return subjects.plan_registration(registry, subject, [schema])


def delete_schema(invocation: Invocation, context: Context) -> Plan:
    """Delete subjects, or versions of one, softly or permanently."""
    registry, permanent = client(context), invocation["permanent"]
    chosen, missing = _selected(invocation, registry, deleted=permanent)
    text = invocation["version"]
    if text is not None:
        _only_one(invocation, chosen, "version")
    latest = text == LATEST
    plan = subjects.plan_deletion(
        registry, chosen, numbers_in(text), latest=latest, permanent=permanent
    )
    return _refusing(plan, missing)


# -- undo and apply --------------------------------------------------------------------------------


def plan_changes(context: Context, changes: Sequence[Change], _: dict[str, Any]) -> Plan:
    """The plan that makes these changes of subjects and levels."""
    registry = client(context)
    levels: dict[str, str | None] = {}
    gone: dict[str, list[int]] = {}
    new: dict[str, list[Deleted]] = {}
    for change in changes:
        name, after = change.resource.name, change.after
        if change.field == subjects.LEVEL:
            levels[name] = None if after is None else str(after)
            continue
        number = int(change.field.removeprefix(subjects.VERSION))
        if after is None:
            gone.setdefault(name, []).append(number)
        else:
            id = int(str(after).removeprefix("ID"))
            new.setdefault(name, []).append(Deleted(number, id))
    # Levels first: restored versions must be compatible by them.
    plans = [subjects.plan_levels(registry, levels)] if levels else []
    plans += [
        subjects.plan_deletion(registry, [name], every, levels=name not in levels)
        for name, every in gone.items()
    ]
    plans += [subjects.plan_registration(registry, name, every) for name, every in new.items()]
    return merge_plans(plans)
