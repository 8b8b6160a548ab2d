"""The plan that makes a cluster match a state file."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from msgspec import Struct, field

from kafka_shell.admin.client_configs.model import CONFIGS_TOPIC, REGISTRATIONS_TOPIC
from kafka_shell.admin.configs.checks import ConfigRefused
from kafka_shell.admin.configs.model import HIDDEN, ConfigResource, ResourceType
from kafka_shell.admin.topics import min_isr
from kafka_shell.admin.topics.change import Growing, plan_create, plan_growth, with_checked_configs
from kafka_shell.admin.topics.model import OF_OTHER_SYSTEMS
from kafka_shell.admin.users.model import GeneratedPassword, NewScramCredential, ScramMechanism
from kafka_shell.admin.users.scram import plan_upsert
from kafka_shell.base.errors import MistakeCollector, Mistakes
from kafka_shell.base.plans import Advice, Change, Order, Plan, Resource, Secret, merge_plans
from kafka_shell.base.results import Failure, Results
from kafka_shell.base.structs import replace
from kafka_shell.base.units import some
from kafka_shell.commands.changes import plan_changes
from kafka_shell.commands.state.compare import FileDifferences, only_on_cluster
from kafka_shell.commands.state.document import DocumentValue
from kafka_shell.commands.state.model import (
    ASSIGNMENT,
    CONFIG_KINDS,
    FACTOR,
    PARTITIONS,
    Difference,
    Password,
    State,
    new_topic,
    read_assignment,
)
from kafka_shell.context import Context
from kafka_shell.wire.connection import Cluster

Replicas = tuple[tuple[int, ...], ...]  # of each partition
STORE = frozenset({CONFIGS_TOPIC, REGISTRATIONS_TOPIC})


class Options(Struct, frozen=True):
    """`prune` deletes what is only on the cluster and within the scope of the file. `reassign`
    moves replicas to the assignment of the file. `move` plans the move of topics to a replication
    factor or assignment, those that grow with their number of partitions. `password` reads or
    generates a password.
    """

    move: Callable[[Mapping[str, int | Replicas], Mapping[str, int]], Plan]
    password: Callable[[Password], Secret]
    prune: bool = False
    reassign: bool = False


class _Work(Struct):
    """The differences by the plan that they require."""

    create: list[Difference] = field(default_factory=list)
    grow: dict[str, Growing] = field(default_factory=dict)
    replicas: dict[str, int | Replicas] = field(default_factory=dict)
    credentials: list[Difference] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)  # all others
    pruned: bool = False
    confirm: bool = False
    refused: dict[Resource, Failure] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    mistakes: MistakeCollector = field(default_factory=MistakeCollector)


def plan_state(context: Context, found: FileDifferences, wanted: State, options: Options) -> Plan:
    """The changes that make the cluster match the file. What matches already is left out.

    Topics come first, then users, quotas, ACLs and the rest; deletions are last. If an item is
    refused, nothing of the plan is sent.
    """
    cluster, work = context.cluster, _Work()
    for each in found.found:
        gone = only_on_cluster(each)
        if gone and not options.prune:
            continue
        work.pruned |= gone
        if each.kind == "users" and not gone:
            _user(each, wanted, work)
        elif each.kind == "topics" and not gone:
            _topic(each, wanted, options, work)
        else:
            work.changes.append(each.change)
    if any(each.resource.kind == "client-config" for each in work.changes):  # creates its topics
        work.create = [each for each in work.create if each.key not in STORE]
    _leave_for_later(cluster, work)
    deleted = [c.resource.name for c in work.changes if c.resource.kind == "topic" and not c.field]
    if theirs := [name for name in deleted if re.fullmatch(OF_OTHER_SYSTEMS, name)]:
        are = "looks like a topic" if len(theirs) == 1 else "look like topics"
        work.warnings.append(f"deletes {some(theirs, 5)}, which {are} of Kafka Streams, Connect,"
                             " MirrorMaker or a schema registry")  # fmt: skip
    plans = [plan for plan in _plans(context, wanted, work, options) if plan is not None]
    work.mistakes.check()
    plan = merge_plans(plans)
    advice = Advice(warnings=tuple(work.warnings), confirm=work.pruned or work.confirm)
    return replace(
        plan,
        order=plan.order | Order.WHOLE | (Order.CHAINED if work.pruned else Order.SEPARATE),
        refused=Results({}, {**work.refused, **plan.refused.failures}),
        advice=advice + plan.advice,
        unchanged=(),
    ).noted(repeatable=True)


# -- the change for each difference ----------------------------------------------------------------


def _topic(each: Difference, wanted: State, options: Options, work: _Work) -> None:
    name = each.key
    if not each.field:
        work.create.append(each)
    elif each.field == PARTITIONS:
        replicas = str(wanted.part("topics")[name].get(ASSIGNMENT, ""))
        work.grow[name] = (int(each.after or 0), read_assignment(replicas) if replicas else ())
    elif each.field == FACTOR:
        work.replicas[name] = int(each.after or 0)
    elif each.field == ASSIGNMENT:
        before, after = read_assignment(str(each.before)), read_assignment(str(each.after))
        if len(after) < len(before):
            return  # refused: there are more partitions
        if after[: len(before)] == before and len({*map(len, after)}) == 1:
            return  # more partitions, which are created there
        if options.reassign:
            work.replicas[name] = after
        else:
            work.grow.pop(name, None)
            work.refused[Resource("topic", name)] = Failure(
                "reassignment",
                f"topic {name} has other replicas: {each.before}, not {each.after}",
                hint="Add --reassign to move them, or remove replica_assignment from the file.",
            )
    else:
        work.changes.append(each.change)


def _user(each: Difference, wanted: State, work: _Work) -> None:
    mechanism = _mechanism(each.field)
    source = wanted.passwords.get((each.key, mechanism))
    if source is not None and (each.before is None or source.file):
        work.credentials.append(each)
        work.confirm |= each.before is not None  # replaces a password
    elif each.before is None:
        work.refused[Resource("user", each.key)] = Failure(
            "no-password",
            f"user {each.key} has no {each.field} credential, and the file has no password for it",
            hint="Add password_file: FILE or generate: true to the file.",
        )
    else:
        work.warnings.append(
            f"user {each.key}: {each.field} has {each.before} iterations, not {each.after}:"
            " only a new password (password_file) can change them"
        )


def _mechanism(label: str) -> ScramMechanism:
    return ScramMechanism[label.replace("-", "_")]


def _leave_for_later(cluster: Cluster, work: _Work) -> None:
    """Leave out a min.insync.replicas that is met only when the replicas that are added now are in
    sync: the next apply sets it."""
    requested: dict[str, tuple[str, int]] = {}
    for change in work.changes:
        replicas = work.replicas.get(change.resource.name)
        of_topic = change.resource.kind == "topic" and change.field == min_isr.KEY
        if of_topic and replicas is not None and change.after is not None:
            factor = replicas if isinstance(replicas, int) else min(map(len, replicas))
            requested[change.resource.name] = str(change.after), factor
    if not requested:
        return
    later = min_isr.set_too_early(cluster, requested)
    work.changes = [
        change
        for change in work.changes
        if change.field != min_isr.KEY or change.resource not in later
    ]
    for why in later.values():
        work.warnings.append(f"{why.message}. Then run apply again to set it")


# -- the plans of the families ---------------------------------------------------------------------


def _plans(context: Context, wanted: State, work: _Work, options: Options) -> Iterator[Plan | None]:
    """The plan of each kind, in the order in which they are sent."""
    cluster = context.cluster
    yield _create(cluster, wanted, work)
    grow = {name: each for name, each in work.grow.items() if name not in work.replicas}
    if grow:
        yield plan_growth(cluster, grow)
    yield _credentials(cluster, wanted, work, options)
    if work.replicas:
        growing = {name: count for name, (count, _) in work.grow.items() if name in work.replicas}
        yield options.move(work.replicas, growing)
    with _collecting(wanted, work):
        plan = plan_changes(work.changes, context)
        _refuse_sensitive(plan, wanted, work)
        yield plan


def _create(cluster: Cluster, wanted: State, work: _Work) -> Plan | None:
    """Create topics, with checked configs."""
    if not work.create:
        return None

    topics = [new_topic(each.key, each.whole) for each in work.create]
    with _collecting(wanted, work):
        checked = with_checked_configs(cluster, topics)
        return plan_create(checked)
    return None


@contextmanager
def _collecting(wanted: State, work: _Work) -> Iterator[None]:
    """Keep the errors for invalid configs, with their resources and positions in the file."""
    try:
        yield
    except (ConfigRefused, Mistakes) as error:
        for each in error.each if isinstance(error, Mistakes) else (error,):
            assert isinstance(each, ConfigRefused) and each.resource is not None
            place = _file_position(each.resource, each.key, wanted)
            at = "" if place is None else f"{place}: "
            each.message = f"{at}{each.resource}: {each.message}"
            work.mistakes.found.append(each)


def _file_position(resource: ConfigResource, config: str, wanted: State) -> DocumentValue | None:
    """The position of a config in the file; None if it is not in the file, but to be deleted."""
    is_topic = resource.type is ResourceType.TOPIC
    keys = [("topics", resource.name)] if is_topic else [(k, resource) for k in CONFIG_KINDS]
    places = (wanted.places.get(place) for key in keys for place in ((*key, config), key))
    return next((place for place in places if place is not None), None)


def _refuse_sensitive(plan: Plan, wanted: State, work: _Work) -> None:
    """Refuse configs that brokers do not show, although their names do not say so."""
    for change in plan.changes:
        if change.after == HIDDEN:
            place = _file_position(ConfigResource.of(change.resource), change.field, wanted)
            work.refused[change.resource] = Failure(
                "sensitive",
                f"{place}: {change.resource}: {change.field} is unknown or sensitive, and a state"
                " file contains no secrets",
                hint="Check the name. Set a sensitive config with alter-configs, and remove"
                " it from the file.",
            )


def _credentials(cluster: Cluster, wanted: State, work: _Work, options: Options) -> Plan | None:
    """Set SCRAM credentials. Generated passwords are shown once, afterwards."""
    if not work.credentials:
        return None

    credentials: list[NewScramCredential] = []
    generated: dict[str, Secret] = {}
    for each in work.credentials:
        mechanism = _mechanism(each.field)
        source = wanted.passwords[each.key, mechanism]
        if source.generate and each.key in generated:
            password = generated[each.key]  # one password for all mechanisms of a user
        else:
            password = options.password(source)
        if source.generate:
            generated[each.key] = password
        count = int(each.after or 0)
        credentials.append(NewScramCredential(each.key, mechanism, password, count))
    secrets = tuple(GeneratedPassword(user, password) for user, password in generated.items())
    return plan_upsert(cluster, credentials).noted(secrets=secrets)
