"""Commands that create, alter and delete topics (KIP-4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kafka_shell.admin.acls import read as acls
from kafka_shell.admin.acls.model import AclFilter, AclResourceType, PatternType
from kafka_shell.admin.configs import read as configs
from kafka_shell.admin.configs.model import ConfigAlteration, ConfigOp, ConfigResource, ResourceType
from kafka_shell.admin.partitions.throttles import RATE_OF as THROTTLED
from kafka_shell.admin.topics import change as topic_changes
from kafka_shell.admin.topics import min_isr
from kafka_shell.admin.topics import read as topics
from kafka_shell.admin.topics.change import plan_delete
from kafka_shell.admin.topics.model import MAXIMUM, NewTopic, read_assignment
from kafka_shell.base.errors import UsageError, did_you_mean, pointing_at
from kafka_shell.base.files import bad_file, read_table, read_text
from kafka_shell.base.plans import Change, Effect, Order, Plan, Resource, merge_plans
from kafka_shell.base.results import Results
from kafka_shell.base.structs import replace
from kafka_shell.base.text import quote
from kafka_shell.base.units import to_path
from kafka_shell.commands import select
from kafka_shell.commands.configs.kinds import config_pairs
from kafka_shell.commands.configs.run import alter, pointing_at_keys
from kafka_shell.commands.options import timeout_ms
from kafka_shell.commands.partitions.reassignments import replicate
from kafka_shell.commands.topics.spec import REPLICA_ASSIGNMENT, convert_assignment
from kafka_shell.context import Context
from kafka_shell.language.command import Invocation
from kafka_shell.wire import metadata_scan
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.error_codes import UNKNOWN_TOPIC_OR_PARTITION
from kafka_shell.wire.failures import as_error

_MAX_ASSIGNMENT_BYTES = 16 << 20  # enough for a topic with a million partitions


def create_topic(invocation: Invocation, context: Context) -> Plan:
    """Create the topics named on the command line or listed in a file."""
    _refuse_configs(invocation)
    if invocation["from-file"]:
        requested = read_topics(invocation["from-file"])
    else:
        requested = _named_topics(invocation, context)
    with pointing_at_keys(invocation):
        checked = topic_changes.with_checked_configs(context.cluster, requested)
    if invocation["if-not-exists"]:
        existing = metadata_scan.scan(context.cluster, [new.name for new in checked])
        checked = [new for new in checked if new.name not in existing]
    plan = topic_changes.plan_create(checked, timeout_ms=timeout_ms(invocation))
    return _with_acls(plan, checked, invocation, context.cluster)


def _refuse_configs(invocation: Invocation) -> None:
    """Raise UsageError for a config without --config: it was taken as the name of one more topic,
    and the rest of the change was made without it."""
    for index, word in enumerate(invocation["topic"] or ()):
        if "=" in word and not word.startswith("/"):
            raise UsageError(
                f"'{word}' is not a topic name",
                hint=f"Did you mean --config {quote(word)}?",
                code="bad-value",
                span=invocation.span("topic", index),
            )


def _named_topics(invocation: Invocation, context: Context) -> list[NewTopic]:
    """The topics named on the command line, with what --like copies."""
    names = [name for word in invocation["topic"] for name in word.split(",") if name]
    assignment = _assignment(invocation, context)
    new = [_new_topic(name, invocation, assignment) for name in names]
    if not invocation["like"]:
        return new
    like = _template(invocation["like"], context.cluster)
    return [
        replace(
            topic,
            partitions=None if assignment else topic.partitions or like.partitions,
            replication_factor=None
            if assignment
            else topic.replication_factor or like.replication_factor,
            configs=tuple(({**dict(like.configs), **dict(topic.configs)}).items()),
        )
        for topic in new
    ]


def _template(name: str, cluster: Cluster) -> NewTopic:
    """An existing topic as one to create: its partitions, replication factor and configs. Without
    the replicas that a reassignment of its own throttles."""
    described = topics.describe(cluster, [name])
    resource = ConfigResource(ResourceType.TOPIC, name)
    entries = configs.describe(cluster, [resource])
    for failure in (*described.failures.values(), *entries.failures.values()):
        raise as_error(failure)
    topic = described[name]
    return NewTopic(
        name,
        len(topic.partitions),
        topic.replication_factor,
        configs=tuple(
            (entry.name, entry.value)
            for entry in entries[resource]
            if entry.overridden and entry.value is not None and entry.name not in THROTTLED
        ),
    )


def _with_acls(
    plan: Plan, created: Sequence[NewTopic], invocation: Invocation, cluster: Cluster
) -> Plan:
    """The plan with the literal ACLs of the topic of --like on the new topics. If one of these
    cannot be created, nothing is sent: the ACLs would apply to a topic that existed before."""
    if not invocation["with-acls"] or not created:
        return plan

    which = AclFilter(
        resource_type=AclResourceType.TOPIC,
        name=invocation["like"],
        pattern_type=PatternType.LITERAL,
    )
    bindings = acls.describe(cluster, which)
    copies = [replace(binding, name=new.name) for new in created for binding in bindings]
    if not copies:
        return plan
    from kafka_shell.admin.acls import change as acl_changes

    merged = merge_plans([plan, acl_changes.plan_create(cluster, copies)])
    return replace(merged, order=Order.CHAINED | Order.WHOLE)


def _assignment(invocation: Invocation, context: Context) -> tuple[tuple[int, ...], ...]:
    """The replica assignment from the option or standard input; empty if not given."""
    given = invocation["replica-assignment"]
    if given != "-":
        return given or ()
    if context.script.from_stdin or context.shell is not None:
        raise UsageError(
            "--replica-assignment - cannot read standard input: commands are read from it",
            hint="Write the assignment here, such as 1:2,2:3, or run kafka.sh --create-topic.",
            span=invocation.span("replica-assignment"),
        )
    text = ",".join(read_text("/dev/stdin", largest=_MAX_ASSIGNMENT_BYTES).split())
    with pointing_at(invocation.span("replica-assignment")):
        return convert_assignment(REPLICA_ASSIGNMENT, text.strip(","))


def _new_topic(
    name: str, invocation: Invocation, assignment: tuple[tuple[int, ...], ...]
) -> NewTopic:
    return NewTopic(
        name,
        invocation["partitions"],
        invocation["replication-factor"],
        assignment,
        invocation["config"],
    )


def alter_topic(invocation: Invocation, context: Context) -> Plan:
    """Add partitions, change the replication factor, set and delete configs."""
    _refuse_configs(invocation)
    cluster = context.cluster
    names = select.topics_to_change(invocation, context)
    if invocation["if-exists"]:
        metadata = metadata_scan.scan(cluster, names)
        names = [name for name in names if metadata.errors.get(name) != UNKNOWN_TOPIC_OR_PARTITION]
        if not names:
            return Plan(Effect.CHANGE, ())
    plans = []
    assignment = _assignment(invocation, context)
    count = invocation["partitions"]
    if count is not None or assignment:
        plans.append(
            topic_changes.plan_partitions(
                cluster,
                names,
                len(assignment) if count is None else count,
                assignment=assignment,
                timeout_ms=timeout_ms(invocation),
            )
        )
    alterations = [
        *(ConfigAlteration(key, ConfigOp.SET, value) for key, value in invocation["config"]),
        *(ConfigAlteration(key, ConfigOp.DELETE) for key in invocation["delete-config"]),
    ]
    factor = invocation["replication-factor"]
    if factor is not None and (minimum := dict(invocation["config"]).get(min_isr.KEY)):
        refused = min_isr.set_too_early(cluster, dict.fromkeys(names, (minimum, factor)))
        plans += [Plan(Effect.CHANGE, (), refused=Results({}, refused))] if refused else []
        names = [name for name in names if Resource("topic", name) not in refused]
    if alterations and names:
        resources = [ConfigResource(ResourceType.TOPIC, name) for name in names]
        plans.append(alter(invocation, cluster, resources, alterations))
    if factor is not None and names:
        plans.append(replicate(invocation, context, dict.fromkeys(names, factor)))
    return merge_plans(plans)


def delete_topic(invocation: Invocation, context: Context) -> Plan:
    """Delete topics; asks for confirmation."""
    names = select.topics_to_change(invocation, context)
    plan = topic_changes.plan_delete(context.cluster, names, timeout_ms=timeout_ms(invocation))
    if invocation["if-exists"]:
        return plan.without_refused("UNKNOWN_TOPIC_OR_PARTITION")
    return plan


# Read files that list topics for `create-topic --from-file`: state files, and CSV.

_FIELDS = ("name", "partitions", "replication_factor", "replica_assignment", "configs")


def read_topics(file: str) -> list[NewTopic]:
    """The topics of a state file, or of the rows of a CSV file. Errors name the file and line."""
    if to_path(file).suffix.lower() == ".csv":
        return [_topic(file, line, row) for line, row in read_table(file)]

    from kafka_shell.commands.state.files import load
    from kafka_shell.commands.state.sections.topics import new_topic

    return [new_topic(name, fields) for name, fields in load(file).part("topics").items()]


def _topic(file: str, line: int, row: Mapping[str, str]) -> NewTopic:
    fields: dict[str, str] = {}
    for key, value in row.items():
        name = key.replace("-", "_")
        if name not in _FIELDS:
            hint = did_you_mean(name, _FIELDS)
            raise bad_file(file, f"unknown field {key[:60]!r}", hint=hint, line=line)
        if value:
            fields[name] = value
    if "name" not in fields:
        raise bad_file(file, "the topic has no name", line=line)
    if "replica_assignment" in fields and {"partitions", "replication_factor"} & fields.keys():
        problem = "replica_assignment cannot be used with partitions or replication_factor"
        raise bad_file(file, problem, line=line)
    return NewTopic(
        fields["name"],
        _number(file, line, fields, "partitions"),
        _number(file, line, fields, "replication_factor"),
        _file_assignment(file, line, fields.get("replica_assignment", "")),
        _configs(file, line, fields.get("configs", "")),
    )


def _number(file: str, line: int, row: Mapping[str, str], key: str) -> int | None:
    if key not in row:
        return None
    text, maximum = row[key], MAXIMUM[key]
    number = int(text) if text.isascii() and text.isdigit() and len(text) < 20 else 0
    if not 1 <= number <= maximum:
        problem = f"{key} must be an integer from 1 to {maximum}, got {text[:60]!r}"
        raise bad_file(file, problem, line=line)
    return number


def _file_assignment(file: str, line: int, text: str) -> tuple[tuple[int, ...], ...]:
    try:
        return read_assignment(text) if text else ()
    except ValueError:
        problem = f"replica_assignment must list broker IDs such as 1:2,2:3, got {text[:60]!r}"
        raise bad_file(file, problem, line=line) from None


def _configs(file: str, line: int, text: str) -> tuple[tuple[str, str], ...]:
    """KIP-248's `k1=v1,k2=[v1,v2]`."""
    try:
        return config_pairs(text) if text else ()
    except UsageError as error:
        raise bad_file(file, error.message, hint=error.hint, line=line) from None


def plan_deletions(context: Context, changes: Sequence[Change], options: dict[str, Any]) -> Plan:
    """The plan that deletes what these changes delete."""
    return plan_delete(context.cluster, [change.resource.name for change in changes], **options)
