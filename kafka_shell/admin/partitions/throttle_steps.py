"""Steps that set and remove replication throttles, by the rules of `throttles`."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import suppress

from msgspec import Struct, field

from kafka_shell.admin.configs.change import AlterConfigs
from kafka_shell.admin.configs.model import ConfigAlteration, ConfigOp, ConfigResource
from kafka_shell.admin.configs.read import by_target
from kafka_shell.admin.partitions.progress import under_way
from kafka_shell.admin.partitions.throttle_configs import (
    RATES,
    Config,
    Moving,
    Record,
    ThrottleConfigs,
    Throttled,
    ThrottleRecord,
    entries_of,
)
from kafka_shell.admin.partitions.throttles import left_behind, on_down_brokers
from kafka_shell.admin.steps import BaseStep
from kafka_shell.admin.wire.chunks import in_requests
from kafka_shell.admin.wire.connection import Cluster
from kafka_shell.admin.wire.propagation import wait_until_visible
from kafka_shell.common.structs import replace
from kafka_shell.errors import ShellError
from kafka_shell.plan.model import Change, Outcomes, Resource
from kafka_shell.plan.results import Failure, Results, as_failure

_IN_USE = "unchanged: another partition reassignment uses it"
_NOT_OURS = "unchanged: modified after the throttle was set"
_STILL_SET = "The throttle is still set."
_THROTTLE = Resource("throttle")
_UNKNOWN = ("deadline", "outcome-unknown", "REQUEST_TIMED_OUT")  # it may have been set


class SetThrottle(Struct, BaseStep, frozen=True):
    """Set a throttle: IncrementalAlterConfigs requests (API key 44) for the topics, and one per
    broker. If one fails, the others are undone. Replaced rates are not read again."""

    rows: tuple[Throttled, ...]
    record: ThrottleRecord = field(default_factory=ThrottleRecord)
    validates = True

    @property
    def changes(self) -> tuple[Change, ...]:
        return tuple(row.change(row.now, row.when_set) for row in self._changed)

    @property
    def _changed(self) -> list[Throttled]:
        return [row for row in self.rows if row.now != row.when_set]

    @property
    def removal(self) -> RemoveThrottle:
        """The step that removes the throttle."""
        rows = (replace(row, now=row.when_set) for row in self.rows)
        return RemoveThrottle(tuple(rows), self.record)

    def send(self, cluster: Cluster, *, validate_only: bool) -> Outcomes:
        """Raises ShellError if a config cannot be set, or the record cannot be written."""
        if not validate_only:
            self.record.update(self._recorded)
        values = {row.config: row.when_set for row in self._changed}
        failures = _alter(cluster, values, validate_only)
        results = Results.of(self.changes, (failures.get(row.config) for row in self._changed))
        if results.failures and not validate_only:
            change, failure = next(iter(results.failures.items()))
            error = ShellError(
                f"{change.resource} could not be set: {failure.message}",
                hint=failure.hint
                or "No partition was moved. Omit the throttle to move at any rate.",
                code=failure.name,
                see=failure.see,
            )
            nothing_set = len(results.failures) == len(self._changed) and not any(
                each.name in _UNKNOWN for each in results.failures.values()
            )
            if not self.removal.attempt(cluster) and not nothing_set:
                note_still_set(error)
            raise error
        return results

    def _recorded(self, record: Record) -> Record:
        new = dict(record)
        for row in self.rows:
            both = {**(record[row.config].entries if row.config in record else {}), **row.entries}
            new[row.config] = replace(row, value=",".join(both) or row.value)
        return new


class RemoveThrottle(Struct, BaseStep, frozen=True):
    """Remove a throttle by the three rules. The configs are read again when it is sent."""

    rows: tuple[Throttled, ...]
    record: ThrottleRecord = field(default_factory=ThrottleRecord)

    @property
    def changes(self) -> tuple[Change, ...]:
        return tuple(row.change(row.now, row.when_removed) for row in self._changed)

    @property
    def _changed(self) -> list[Throttled]:
        return [row for row in self.rows if row.now != row.when_removed]

    def send(self, cluster: Cluster, *, validate_only: bool) -> Outcomes:
        """Configs that are removed already count as removed; notes explain those that are kept."""
        moving = under_way(cluster).values
        resources = [row.resource for row in self.rows]
        with suppress(ShellError):  # a record that cannot be read is reported where it is used
            resources += [each for each, key in self.record.read() if key not in RATES]
        configs = ThrottleConfigs.read(cluster, resources, moving)
        still = configs.still_set({row.config: row for row in self.rows})
        used = configs.in_use(moving)
        target: dict[Config, str | None] = {}
        notes: dict[Config, str] = {}
        for config, row in still.items():
            if config in used:
                notes[config] = _IN_USE
            elif row.resource not in configs.failures:
                current = replace(row, now=configs.values[config])
                ended = current.only(lambda each: each not in moving)
                target[config] = (ended if row.entries else current).when_removed
        changed = {c: value for c, value in target.items() if value != configs.values[c]}
        failed = _alter(cluster, changed)
        after = configs.values | {c: changed[c] for c in changed.keys() - failed.keys()}
        results: Outcomes = Results()
        for row, change in zip(self._changed, self.changes, strict=True):
            config, value = row.config, after.get(row.config)
            if failure := failed.get(config) or configs.failures.get(row.resource):
                about = with_still_set(failure)
                results.failures[change] = replace(about, see=failure.see or _THROTTLE)
            else:
                own = config in still or row.entries or value is None
                note = notes.get(config, "" if own else _NOT_OURS)
                results.values[change] = replace(change, after=value, note=note)
        kept = failed.keys() | notes.keys()
        done = {row.config for row in self.rows if row.resource not in configs.failures} - kept
        with suppress(ShellError):  # a row that stays in the record too long is harmless (rule 3)
            self.record.update(lambda record: {
                config: row for config, row in record.items() if row.resource not in configs.gone
                and (config not in done
                     or row.entries.keys() & entries_of(after.get(config)).keys())
            })  # fmt: skip
        return results

    def attempt(self, cluster: Cluster) -> bool:
        """Remove a throttle for which nothing was moved. Returns whether that worked; the record
        has the configs that are still set."""
        try:
            return self.send(cluster, validate_only=False).ok
        except ShellError:
            return False


def note_still_set(error: ShellError) -> None:
    """Add to an error that the throttle is still set."""
    error.hint, error.see = f"{error.hint} {_STILL_SET}".strip(), _THROTTLE


def with_still_set(failure: Failure) -> Failure:
    """A failure that also says that the throttle is still set."""
    return replace(failure, hint=f"{failure.hint} {_STILL_SET}".strip(), see=_THROTTLE)


class ReportLeft(Struct, BaseStep, frozen=True):
    """Sends nothing: it fails for the rates in the record that cannot be removed, as their brokers
    are down."""

    record: ThrottleRecord

    @property
    def changes(self) -> tuple[Change, ...]:
        return ()

    def send(self, cluster: Cluster, *, validate_only: bool) -> Outcomes:
        """Returns what it found as failed changes."""
        down = on_down_brokers(cluster, under_way(cluster).values, self.record.read())
        return Results({}, {
            row.change(row.value, row.when_removed): Failure(
                "broker-down", f"broker {row.resource.name} is down", hint=_STILL_SET,
                see=_THROTTLE,
            )
            for row in down
        })  # fmt: skip


def own_left(
    cluster: Cluster, record: ThrottleRecord, topics: Collection[str], moving: Moving
) -> tuple[Throttled, ...]:
    """What the record has of these topics, and the rates, as far as nothing needs it."""
    recorded = record.read()
    if not recorded:
        return ()
    named = {each.name for each, key in recorded if key not in RATES}.intersection(topics)
    rows, _ = left_behind(cluster, moving, recorded, named)
    return tuple(row for row in rows if row.config in recorded)


def remove_own(cluster: Cluster, record: ThrottleRecord, topics: Collection[str]) -> Outcomes:
    """Remove what `record` says was set, on topics that are not being reassigned."""
    own = own_left(cluster, record, topics, under_way(cluster).values)
    return RemoveThrottle(own, record).send(cluster, validate_only=False) if own else Results()


def _alter(
    cluster: Cluster, target: Mapping[Config, str | None], validate_only: bool = False
) -> dict[Config, Failure]:
    """Set or delete (None) each config. Returns the failures."""
    by_resource: dict[ConfigResource, list[ConfigAlteration]] = {}
    for (resource, key), value in target.items():
        op = ConfigOp.DELETE if value is None else ConfigOp.SET
        by_resource.setdefault(resource, []).append(ConfigAlteration(key, op, value))
    failed: dict[Config, Failure] = {}
    requests = (
        request
        for group in by_target(by_resource).values()
        for request in in_requests(group, lambda resource: len(by_resource[resource]))
    )
    for group in requests:
        step = AlterConfigs(tuple((each, tuple(by_resource[each])) for each in group), ())
        configs = [(each, alteration.key) for each in group for alteration in by_resource[each]]
        try:
            failures = step.send(cluster, validate_only=validate_only).failures
        except ShellError as error:
            failed |= dict.fromkeys(configs, as_failure(error))
            continue
        pairs = zip(configs, step.changes, strict=True)
        failed |= {config: failures[change] for config, change in pairs if change in failures}
    done = {config: value for config, value in target.items() if config not in failed}
    if done and not validate_only:  # later removals depend on these values

        def visible() -> bool:
            values = ThrottleConfigs.read(cluster, by_resource).values
            return all(values.get(config) == value for config, value in done.items())

        wait_until_visible(visible)
    return failed
