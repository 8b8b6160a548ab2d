"""The section of topics: their partitions, replicas and configs."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from kafka_shell.admin.client_configs.model import CONFIGS_TOPIC, REGISTRATIONS_TOPIC
from kafka_shell.admin.configs.model import ConfigResource, ResourceType
from kafka_shell.admin.partitions.in_progress import under_way
from kafka_shell.admin.partitions.model import Reassignment
from kafka_shell.admin.topics import min_isr
from kafka_shell.admin.topics.change import Growing, plan_create, plan_growth, with_checked_configs
from kafka_shell.admin.topics.model import (
    ASSIGNMENT_PATTERN,
    MAXIMUM,
    OF_OTHER_SYSTEMS,
    TOPIC_NAME,
    NewTopic,
    format_assignment,
    read_assignment,
)
from kafka_shell.admin.topics.steps import spell_configs
from kafka_shell.admin.topics.visibility import hidden
from kafka_shell.base.errors import ShellError
from kafka_shell.base.plans import Change, Plan, Resource
from kafka_shell.base.results import Failure, as_failure
from kafka_shell.base.units import counted, shorten, some
from kafka_shell.base.waits import CONTROLLER_S
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
    Replicas,
    Section,
    StateRequest,
)
from kafka_shell.commands.state.sections.configs import (
    CONFIGS_SCHEMA,
    TEMPORARY,
    load_configs,
    read_configs,
    write_configs,
)
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.error_codes import UNKNOWN_TOPIC_OR_PARTITION
from kafka_shell.wire.failures import AUTHORIZATION, failure
from kafka_shell.wire.metadata_scan import MetadataScan, scan

# Fields of a topic. All other fields of a topic are configs.
PARTITIONS, FACTOR, ASSIGNMENT = "partitions", "replication_factor", "replica_assignment"
SHAPE = (PARTITIONS, FACTOR, ASSIGNMENT)
_STORE = frozenset({CONFIGS_TOPIC, REGISTRATIONS_TOPIC})
_BROKER_ID = {"type": "integer", "minimum": 0, "maximum": (1 << 31) - 1}
_REPLICA_LIST = {"type": "string", "pattern": "^[0-9]+(:[0-9]+)*$"}


class Topics(Section):
    """Topics, with their configs among the fields."""

    whole = True
    typed = True
    optional = (*SHAPE, *TEMPORARY)

    def resource(self, key: str) -> Resource:
        return Resource("topic", key)

    def topic(self, key: str) -> str:
        return key

    def describe(self, fields: Mapping[str, Value]) -> str:
        """`6 partitions, replication factor 3, retention.ms=7d`."""
        parts = []
        if PARTITIONS in fields:
            parts.append(counted(int(fields[PARTITIONS]), "partition"))
        if FACTOR in fields:
            parts.append(f"replication factor {fields[FACTOR]}")
        return ", ".join([*parts, *spell_configs(_configs_of(fields))]) or "broker defaults"

    def read(self, cluster: Cluster, request: StateRequest, state: State) -> Read:
        return _read(cluster, request, state)

    def load(self, loading: Loading, text: str, at: DocumentValue, place: DocumentValue) -> Loaded:
        if not TOPIC_NAME.fullmatch(text) or text in (".", ".."):
            raise at.error(
                f"{shorten(text)} is not a valid topic name",
                "Names have 1 to 249 characters of a-z, A-Z, 0-9, '.', '_' and '-'.",
            )
        fields: Fields = {}
        given = place.fields(f"topic {text}", (*SHAPE, "configs"))
        for name in (PARTITIONS, FACTOR):
            if name in given:
                with loading.mistakes.collecting():
                    value = given[name].integer(f"{name} of topic {text}", 1, MAXIMUM[name])
                    fields[name] = value
        if ASSIGNMENT in given:
            replicas = _assignment(given[ASSIGNMENT], text)
            fields[ASSIGNMENT] = format_assignment(replicas)
            counts = {PARTITIONS: len(replicas)}
            if len({len(ids) for ids in replicas}) == 1:
                counts[FACTOR] = len(replicas[0])
            for name, count in counts.items():
                if fields.setdefault(name, count) != count:
                    raise given[ASSIGNMENT].error(
                        f"{ASSIGNMENT} of topic {text} has {count} for {name}, not {fields[name]}"
                    )
        if "configs" in given:
            fields |= load_configs(loading, self.resource(text), given["configs"])
        yield text, fields, at

    def write(self, resources: Mapping[str, Fields], lists: Collection[str]) -> Content:
        content: Content = {}
        for name, fields in resources.items():
            row: Content = {key: fields[key] for key in SHAPE if key in fields}
            if isinstance(row.get(FACTOR), str):  # of partitions with different numbers of replicas
                del row[FACTOR]
            configs = {key: value for key, value in fields.items() if key not in SHAPE}
            if configs:
                row["configs"] = write_configs(configs, lists)
            content[name] = row
        return content

    def schema(self) -> Content:
        topic = known_fields(
            {
                PARTITIONS: {"type": "integer", "minimum": 1, "maximum": MAXIMUM[PARTITIONS]},
                FACTOR: {"type": "integer", "minimum": 1, "maximum": MAXIMUM[FACTOR]},
                ASSIGNMENT: {
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
                "configs": CONFIGS_SCHEMA,
            }
        )
        names = {"pattern": f"^(?![.][.]?$){TOPIC_NAME.pattern}$"}
        return {**by_name("Topics by name.", topic), "propertyNames": names}

    def compared(self, old: Fields, new: Fields) -> Iterator[tuple[str, Value | None]]:
        for name, value in super().compared(old, new):
            if name == ASSIGNMENT and not (name in old and name in new):
                continue  # exported only if asked for
            if name == FACTOR and ASSIGNMENT in new:
                continue  # follows from the assignment
            yield name, value

    def plans(self, differences: Sequence[Difference], planning: Planning) -> Iterator[Plan]:
        return _plans(differences, planning)


def new_topic(name: str, fields: Mapping[str, Any]) -> NewTopic:
    """The topic to create for the fields of a topic in a file."""
    assignment = read_assignment(str(fields[ASSIGNMENT])) if ASSIGNMENT in fields else ()
    return NewTopic(
        name,
        None if assignment else fields.get(PARTITIONS),
        None if assignment else fields.get(FACTOR),
        assignment,
        _configs_of(fields),
    )


def _configs_of(fields: Mapping[str, Value]) -> tuple[tuple[str, str], ...]:
    return tuple((key, str(value)) for key, value in fields.items() if key not in SHAPE)


def _assignment(place: DocumentValue, topic: str) -> Replicas:
    """`1:2,2:3` or [[1, 2], [2, 3]]."""
    if place.is_list:
        text = ",".join(
            ":".join(id.text("a broker ID") for id in item.items("replicas"))
            if item.is_list
            else item.text("replicas")
            for item in place.items(ASSIGNMENT)
        )
    else:
        text = place.text(ASSIGNMENT)
    try:
        return read_assignment(text)
    except ValueError:
        problem = f"{ASSIGNMENT} of topic {topic} must list broker IDs such as 1:2,2:3"
        raise place.error(problem) from None


# -- of a cluster ----------------------------------------------------------------------------------


def _read(cluster: Cluster, request: StateRequest, state: State) -> dict[str, Fields]:
    every = request.topics is None or request.others
    wanted = None if every else sorted(request.topics or ())
    seen, targets = _targets_of_reassignments(cluster, wanted, state)
    summaries = {topic.name: topic for topic in seen.summaries()}
    names = sorted(
        name
        for name, each in summaries.items()
        if (request.topics is not None and name in request.topics)
        or (not name.startswith("__") if request.others else request.internal or not each.internal)
    )
    errors = seen.errors
    if every:
        missing = sorted((request.topics or frozenset()) - summaries.keys())
        errors = errors | (scan(cluster, missing).errors if missing else {})
        state.unread |= hidden(cluster, summaries)
    for name, code in errors.items():
        if request.required or code != UNKNOWN_TOPIC_OR_PARTITION:
            state.unread[f"topic {name}"] = failure(code, about=f"topic {name}")
    resources = {name: ConfigResource(ResourceType.TOPIC, name) for name in names}
    described = [resources[n] for n in names if request.topics is None or n in request.topics]
    configs = read_configs(cluster, described, state)
    topics: dict[str, Fields] = {}
    for name in names:
        if name in targets:
            state.notes.append(f"topic {name} is being reassigned; its target replicas are used")
        summary = summaries[name]
        least, most = summary.replication_factor, summary.max_replication_factor
        moving = targets.get(name, {})
        if moving or request.assignments:
            partitions = seen.topic(name).partitions
            replicas = [moving.get(each.partition, each.replicas) for each in partitions]
            least, most = min(map(len, replicas)), max(map(len, replicas))
        factor = least if least == most else f"{least}-{most}"
        if least != most:
            state.notes.append(f"topic {name} has partitions with {factor} replicas")
        fields: Fields = {PARTITIONS: summary.partitions, FACTOR: factor}
        if request.assignments:
            fields[ASSIGNMENT] = format_assignment(replicas)
        if str(resources[name]) not in state.unread:
            topics[name] = fields | configs.get(resources[name], {})
    return topics


def _targets_of_reassignments(
    cluster: Cluster, topics: Sequence[str] | None, state: State
) -> tuple[MetadataScan, dict[str, dict[int, tuple[int, ...]]]]:
    """The metadata, and the target replicas of partitions that are being reassigned, by topic:
    until the end, the metadata lists the old replicas as well.

    Reassignments are listed before and after the metadata is read: one that begins or ends
    meanwhile is in one of the lists. If they cannot be listed, topics that may be affected are
    unread: replicas that are being added are not in sync.
    """

    def listed() -> list[Reassignment] | Failure:
        try:
            with cluster.within(CONTROLLER_S):
                return list(under_way(cluster, topics))
        except ShellError as error:
            return as_failure(error)

    before, seen = listed(), scan(cluster, topics)
    after = listed() if isinstance(before, list) else before
    targets: dict[str, dict[int, tuple[int, ...]]] = {}
    for side in (before, after):
        for move in side if isinstance(side, list) else ():
            targets.setdefault(move.topic, {})[move.partition] = move.after
    if isinstance(after, Failure) and after.code in AUTHORIZATION:
        state.notes.append(
            "topics that are being reassigned may have too many replicas here (requires DESCRIBE on"
            " the cluster)"
        )
    elif isinstance(after, Failure):
        affected = (summary.name for summary in seen.summaries() if summary.under_replicated)
        state.unread |= dict.fromkeys((f"topic {name}" for name in affected), after)
    return seen, targets


# -- changes ---------------------------------------------------------------------------------------


def _plans(differences: Sequence[Difference], planning: Planning) -> Iterator[Plan]:
    """Create topics, add partitions and move replicas; other changes need no plan of their own."""
    cluster = planning.context.cluster
    create: list[Difference] = []
    grow: dict[str, Growing] = {}
    move: dict[str, int | Replicas] = {}
    changes: list[Change] = []
    for difference in differences:
        if difference.removes or difference.field not in ("", *SHAPE):
            changes.append(difference.change)
        elif not difference.field:
            create.append(difference)
        else:
            _reshape(difference, planning, grow, move)
    if "client_configs" in planning.kinds:  # which creates its topics
        create = [difference for difference in create if difference.key not in _STORE]
    planning.changes += _without_later(changes, move, planning)
    deleted = [change.resource.name for change in changes if not change.field]
    if theirs := [name for name in deleted if re.fullmatch(OF_OTHER_SYSTEMS, name)]:
        are = "looks like a topic" if len(theirs) == 1 else "look like topics"
        planning.warnings.append(
            f"deletes {some(theirs, 5)}, which {are} of Kafka Streams, Connect, MirrorMaker or a"
            " schema registry"
        )
    if create:
        with planning.collecting():
            topics = [new_topic(difference.key, difference.whole) for difference in create]
            yield plan_create(with_checked_configs(cluster, topics))
    if only := {name: growing for name, growing in grow.items() if name not in move}:
        yield plan_growth(cluster, only)
    if move:
        counts = {name: count for name, (count, _) in grow.items() if name in move}
        yield planning.options.move(move, counts)


def _reshape(
    each: Difference,
    planning: Planning,
    grow: dict[str, Growing],
    move: dict[str, int | Replicas],
) -> None:
    """Add what changes the partitions or replicas of a topic."""
    name = each.key
    if each.field == PARTITIONS:
        replicas = str(planning.wanted.part("topics")[name].get(ASSIGNMENT, ""))
        grow[name] = (int(each.after or 0), read_assignment(replicas) if replicas else ())
    elif each.field == FACTOR:
        move[name] = int(each.after or 0)
    else:
        before, after = read_assignment(str(each.before)), read_assignment(str(each.after))
        if len(after) < len(before):
            return  # refused: there are more partitions
        if after[: len(before)] == before and len({*map(len, after)}) == 1:
            return  # more partitions, which are created there
        if planning.options.reassign:
            move[name] = after
        else:
            grow.pop(name, None)
            planning.refused[Resource("topic", name)] = Failure(
                "reassignment",
                f"topic {name} has other replicas: {each.before}, not {each.after}",
                hint="Add --reassign to move them, or remove replica_assignment from the file.",
            )


def _without_later(
    changes: list[Change], move: Mapping[str, int | Replicas], planning: Planning
) -> list[Change]:
    """Leave out a min.insync.replicas that is met only when the replicas that are added now are in
    sync: the next apply sets it."""
    requested: dict[str, tuple[str, int]] = {}
    for change in changes:
        replicas = move.get(change.resource.name)
        if change.field == min_isr.KEY and replicas is not None and change.after is not None:
            factor = replicas if isinstance(replicas, int) else min(map(len, replicas))
            requested[change.resource.name] = str(change.after), factor
    if not requested:
        return changes
    later = min_isr.set_too_early(planning.context.cluster, requested)
    for why in later.values():
        planning.warnings.append(f"{why.message}. Then run apply again to set it")
    return [
        change for change in changes if change.field != min_isr.KEY or change.resource not in later
    ]
