"""The plan that makes a cluster match a state file."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from msgspec import Struct, field

from kafka_shell.admin.client_configs.model import CONFIGS_TOPIC, REGISTRATIONS_TOPIC
from kafka_shell.admin.configs.model import ConfigAlteration, ConfigOp, ConfigResource, ResourceType
from kafka_shell.admin.topics.model import OF_OTHER_SYSTEMS
from kafka_shell.base.errors import MistakeCollector, Mistakes
from kafka_shell.base.plans import Advice, Effect, Order, Plan, Resource, merge_plans
from kafka_shell.base.results import Failure, Results
from kafka_shell.base.structs import replace
from kafka_shell.base.units import some
from kafka_shell.commands.state.compare import FileDifferences, only_on_cluster
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

if TYPE_CHECKING:
    from kafka_shell.admin.acls.model import AclBinding
    from kafka_shell.admin.topics.change import Growing
    from kafka_shell.admin.users.model import NewScramCredential, ScramMechanism
    from kafka_shell.base.plans import Secret
    from kafka_shell.commands.state.document import DocumentValue
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
    """The differences by the change that they require."""

    create: list[Difference] = field(default_factory=list)
    grow: dict[str, Growing] = field(default_factory=dict)
    replicas: dict[str, int | Replicas] = field(default_factory=dict)
    configs: dict[ConfigResource, list[ConfigAlteration]] = field(default_factory=dict)
    quotas: list[Difference] = field(default_factory=list)
    client_configs: list[Difference] = field(default_factory=list)
    add: list[AclBinding] = field(default_factory=list)
    remove: list[AclBinding] = field(default_factory=list)
    credentials: list[Difference] = field(default_factory=list)
    delete_credentials: list[tuple[str, ScramMechanism]] = field(default_factory=list)
    delete_topics: list[str] = field(default_factory=list)
    pruned: bool = False
    confirm: bool = False
    refused: dict[Resource, Failure] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    mistakes: MistakeCollector = field(default_factory=MistakeCollector)


def plan_state(cluster: Cluster, found: FileDifferences, wanted: State, options: Options) -> Plan:
    """The changes that make the cluster match the file. What matches already is left out.

    Topics come first, then users, quotas, ACLs and the rest; deletions are last. If an item is
    refused, nothing of the plan is sent.
    """
    work = _Work()
    for each in found.found:
        if only_on_cluster(each):
            if options.prune:
                _delete(each, wanted, options, work)
                work.pruned = True
        else:
            _HANDLERS[each.kind](each, wanted, options, work)
    if work.client_configs:  # their plan creates their topics
        work.create = [each for each in work.create if each.key not in STORE]
    _leave_for_later(cluster, work)
    if theirs := [name for name in work.delete_topics if re.fullmatch(OF_OTHER_SYSTEMS, name)]:
        are = "looks like a topic" if len(theirs) == 1 else "look like topics"
        work.warnings.append(f"deletes {some(theirs, 5)}, which {are} of Kafka Streams, Connect,"
                             " MirrorMaker or a schema registry")  # fmt: skip
    plans = [plan for plan in _plans(cluster, wanted, work, options) if plan is not None]
    work.mistakes.check()
    plan = merge_plans(plans) if plans else Plan(Effect.CHANGE, ())
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
        _config(each, wanted, options, work)


def _config(each: Difference, wanted: State, options: Options, work: _Work) -> None:
    key = each.key
    resource = key if isinstance(key, ConfigResource) else ConfigResource(ResourceType.TOPIC, key)
    value = None if each.after is None else str(each.after)
    operation = ConfigOp.DELETE if value is None else ConfigOp.SET
    alterations = work.configs.setdefault(resource, [])
    alterations.append(ConfigAlteration(each.field, operation, value))


def _user(each: Difference, wanted: State, options: Options, work: _Work) -> None:
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


def _quota(each: Difference, wanted: State, options: Options, work: _Work) -> None:
    work.quotas.append(each)


def _client_config(each: Difference, wanted: State, options: Options, work: _Work) -> None:
    work.client_configs.append(each)


def _acl(each: Difference, wanted: State, options: Options, work: _Work) -> None:
    work.add.append(each.key)


_HANDLERS: dict[str, Callable[[Difference, State, Options, _Work], None]] = {
    "topics": _topic,
    "acls": _acl,
    "quotas": _quota,
    "users": _user,
    "client_configs": _client_config,
    "broker_configs": _config,
    "client_metrics": _config,
    "group_configs": _config,
}


def _delete(each: Difference, wanted: State, options: Options, work: _Work) -> None:
    """Delete what is only on the cluster."""
    if each.kind == "topics" and not each.field:
        work.delete_topics.append(each.key)
    elif each.kind == "acls":
        work.remove.append(each.key)
    elif each.kind == "users":
        work.delete_credentials.append((each.key, _mechanism(each.field)))
    else:
        _HANDLERS[each.kind](each, wanted, options, work)


def _mechanism(label: str) -> ScramMechanism:
    from kafka_shell.admin.users.model import ScramMechanism

    return ScramMechanism[label.replace("-", "_")]


def _leave_for_later(cluster: Cluster, work: _Work) -> None:
    """Leave out a min.insync.replicas that is met only when the replicas that are added now are in
    sync: the next apply sets it."""
    if not work.replicas or not work.configs:
        return
    from kafka_shell.admin.topics import min_isr

    requested: dict[str, tuple[str, int]] = {}
    for name, replicas in work.replicas.items():
        topic = ConfigResource(ResourceType.TOPIC, name)
        factor = replicas if isinstance(replicas, int) else min(map(len, replicas))
        for each in work.configs.get(topic, ()):
            if each.key == min_isr.KEY and each.value is not None:
                requested[name] = each.value, factor
    for about, why in min_isr.set_too_early(cluster, requested).items():
        topic = ConfigResource(ResourceType.TOPIC, about.name)
        work.configs[topic] = [each for each in work.configs[topic] if each.key != min_isr.KEY]
        if not work.configs[topic]:
            del work.configs[topic]
        work.warnings.append(f"{why.message}. To set it then, run apply again")


# -- the plans of the families ---------------------------------------------------------------------


def _plans(cluster: Cluster, wanted: State, work: _Work, options: Options) -> Iterable[Plan | None]:
    """The plan of each family, in the order in which they are sent."""
    yield _create(cluster, wanted, work)
    grow = {name: each for name, each in work.grow.items() if name not in work.replicas}
    if grow:
        from kafka_shell.admin.topics.change import plan_growth

        yield plan_growth(cluster, grow)
    yield _credentials(cluster, wanted, work, options)
    if work.configs:
        from kafka_shell.admin.configs.change import plan_alter as alter_configs

        with _collecting(wanted, work):
            plan = alter_configs(cluster, work.configs)
            _refuse_sensitive(plan, wanted, work)
            yield plan
    if work.quotas:
        from kafka_shell.admin.quotas.change import plan_alter as alter_quotas
        from kafka_shell.admin.quotas.model import QuotaAlteration

        yield alter_quotas(
            cluster,
            [
                QuotaAlteration(q.key, q.field, None if q.after is None else float(q.after))
                for q in work.quotas
            ],
        )
    if work.add or work.remove:
        from kafka_shell.admin.acls.change import plan_alter as alter_acls
        from kafka_shell.admin.acls.model import AclFilter

        yield alter_acls(cluster, list(map(AclFilter.exactly, work.remove)), work.add)
    if work.client_configs:
        from kafka_shell.admin.client_configs.change import plan_alter as alter_client_configs
        from kafka_shell.admin.client_configs.model import ClientConfigAlteration

        yield alter_client_configs(
            cluster,
            [
                ClientConfigAlteration(c.key, c.field, None if c.after is None else str(c.after))
                for c in work.client_configs
            ],
        )
    if work.replicas:
        growing = {name: count for name, (count, _) in work.grow.items() if name in work.replicas}
        yield options.move(work.replicas, growing)
    if work.delete_credentials:
        from kafka_shell.admin.users.scram import plan_delete as delete_credentials

        yield delete_credentials(cluster, work.delete_credentials)
    if work.delete_topics:
        from kafka_shell.admin.topics.change import plan_delete as delete_topics

        yield delete_topics(cluster, work.delete_topics)


def _create(cluster: Cluster, wanted: State, work: _Work) -> Plan | None:
    """Create topics, with checked configs."""
    if not work.create:
        return None
    from kafka_shell.admin.topics.change import plan_create, with_checked_configs

    topics = [new_topic(each.key, each.whole) for each in work.create]
    with _collecting(wanted, work):
        checked = with_checked_configs(cluster, topics)
        return plan_create(checked)
    return None


@contextmanager
def _collecting(wanted: State, work: _Work) -> Iterator[None]:
    """Keep the errors for invalid configs, with their resources and positions in the file."""
    from kafka_shell.admin.configs.checks import ConfigRefused

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
    from kafka_shell.admin.configs.model import HIDDEN

    resources = {str(resource): resource for resource in work.configs}
    for change in plan.changes:
        if change.after == HIDDEN:
            place = _file_position(resources[str(change.resource)], change.field, wanted)
            work.refused[change.resource] = Failure(
                "sensitive",
                f"{place}: {change.resource}: {change.field} is unknown or sensitive, and a state"
                " file contains no secrets",
                hint="Check the name. Set a sensitive config with alter-configs, and leave it out"
                " of the file.",
            )


def _credentials(cluster: Cluster, wanted: State, work: _Work, options: Options) -> Plan | None:
    """Set SCRAM credentials. Generated passwords are shown once, afterwards."""
    if not work.credentials:
        return None
    from kafka_shell.admin.users.model import GeneratedPassword, NewScramCredential
    from kafka_shell.admin.users.scram import plan_upsert

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
