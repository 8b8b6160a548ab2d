"""Replication throttles of moves, lifted: what stood there before is put back."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from kafka_shell.admin.configs.read import Entries
from kafka_shell.admin.wire.connection import Cluster
from kafka_shell.errors import ShellError
from kafka_shell.plan.model import Change
from kafka_shell.plan.results import Failure, Results

from .throttle_configs import (
    GONE,
    RATES,
    REPLICAS,
    Busy,
    Config,
    Needed,
    busy,
    entries,
    idle,
    is_needed,
    joined,
    named,
    needed,
    read,
    set_in,
    topic_of,
)
from .throttle_ledger import FORGETFUL, NOTHING, Ledger, Recorded, Setting
from .throttles import alter

_LATER = "Lift it later: verify-reassign-partitions --finish"
_NEEDED = "left as it is: a move under way needs it"
_EARLIER = "back to the rate of a move that is still under way"
_HELD = "kept, so that the rate of its broker is found: that could not be put back"
_ANEW = "left as it is: it was set anew since"

Now = Mapping[Config, str]


@dataclass(frozen=True)
class LiftThrottle:
    """Put back what stood there before a move.

    A rate that limits a move under way stays, or becomes again what that move has set; replicas
    that still move stay, and those on a broker whose rate could not be put back: by its list it is
    found again. A rate that is not the move's any more was set by somebody since.
    """

    settings: tuple[Setting, ...]
    ledger: Ledger = FORGETFUL
    validates = False

    @property
    def changes(self) -> tuple[Change, ...]:
        """One change a config."""
        return tuple(
            Change(each.about, "alter", each.key, each.value, each.before, note=each.note)
            for each in self.settings
        )

    def again(self, cluster: Cluster) -> LiftThrottle:
        """The same: nothing is read again before it is sent."""
        return self

    def send(self, cluster: Cluster, *, validate_only: bool) -> Results[Change, Change]:
        """Put back. What is gone already counts as done; of what is left its outcome tells."""
        from .progress import under_way

        moving = list(under_way(cluster))
        found = read(cluster, [*(each.resource for each in self.settings), *map(topic_of, moving)])
        now, need = set_in(found), needed(found, moving)
        outcome = _Outcome()
        recorded = self.ledger.read()
        rates = dict(_rates(self.settings, now, need, recorded, outcome))
        outcome.failed.update(alter(cluster, _changed(rates, now)).failures)
        up = {f":{broker.id}" for broker in cluster.brokers()}
        stay = up.intersection(_suffixes(found, outcome.failed))
        partitions = busy(each.topic_partition for each in moving)
        lists = dict(_lists(self.settings, now, partitions, stay, recorded, outcome))
        outcome.failed.update(alter(cluster, _changed(lists, now)).failures)
        return self._told(found, outcome)

    def _told(self, found: Entries, outcome: _Outcome) -> Results[Change, Change]:
        results: Results[Change, Change] = Results()
        over = []
        for each, change in zip(self.settings, self.changes, strict=True):
            why = outcome.failed.get(each) or found.failures.get(each.resource)
            if why is not None and why.code not in GONE:
                results.failures[change] = replace(why, hint=f"{why.hint}\n{_LATER}".strip())
            elif each in outcome.left:
                then, note = outcome.left[each]
                results.values[change] = replace(change, after=then, note=note)
            else:
                results.values[change] = change
                over.append(each)
        self.ledger.forget(over)
        if earlier := [each for each in outcome.earlier if each not in outcome.failed]:
            self._remember(earlier)
        return results

    def _remember(self, earlier: Sequence[Setting]) -> None:
        """What stands there is another move's rate again."""
        with suppress(ShellError):  # it is lifted by that move's end all the same
            self.ledger.keep(
                [replace(each, value=each.earlier, now=None, throttle_id="") for each in earlier]
            )


@dataclass
class _Outcome:
    """What is left, with its value and why; of that, what is another move's rate again; what
    failed."""

    earlier: list[Setting] = field(default_factory=list)
    left: dict[Setting, tuple[str, str]] = field(default_factory=dict)
    failed: dict[Setting, Failure] = field(default_factory=dict)


def _rates(
    settings: Sequence[Setting],
    now: Now,
    need: Needed,
    recorded: Recorded,
    outcome: _Outcome,
) -> Iterable[tuple[Setting, str | None]]:
    """What the rates become; what is left as it is is told to the outcome."""
    listed = _named_by_own(settings, now)
    for each in settings:
        value = now.get(each.config)
        if each.key not in RATES:
            continue
        last = recorded.get(each.config)
        if value is None:
            # Somebody who did not know what stood there has lifted it first.
            if last and each.is_missed:
                yield each, each.before
        elif is_needed(need, each.config, each.before):
            is_last = last is not None and last.throttle_id == each.throttle_id
            if is_last and each.earlier and value == each.value:
                outcome.earlier.append(each)
                outcome.left[each] = each.earlier, _EARLIER
                yield each, each.earlier
            else:
                outcome.left[each] = value, _NEEDED
        elif value == each.value or each.config in listed:
            yield each, each.before
        elif value != each.before:
            outcome.left[each] = value, _ANEW


def _lists(
    settings: Sequence[Setting],
    now: Now,
    moving: Busy,
    stay: Collection[str],
    recorded: Recorded,
    outcome: _Outcome,
) -> Iterable[tuple[Setting, str | None]]:
    """The throttled replicas without the moves' own, but for those that move, and those that
    `stay` (`:3`, on broker 3)."""
    for each in settings:
        value = now.get(each.config)
        if each.key not in REPLICAS or value is None:
            continue
        at_rest = each.own.intersection(idle(each.resource.name, value, moving))
        held = {entry for entry in at_rest if f":{entry.partition(':')[2]}" in stay}
        then = joined(entry for entry in entries(value) if entry not in at_rest - held)
        known = recorded.get(each.config)
        if (each.own | (known.own if known else frozenset())).intersection(entries(then)):
            outcome.left[each] = then or "", _HELD if held else _NEEDED
        yield each, then


def _changed(wanted: Mapping[Setting, str | None], now: Now) -> dict[Setting, str | None]:
    return {each: to for each, to in wanted.items() if to != now.get(each.config)}


def _suffixes(found: Entries, failed: Iterable[Setting]) -> set[str]:
    resources = [*found.failures, *(each.resource for each in failed)]
    return {f":{each.name}" for each in resources if each.kind == "broker"}


def _named_by_own(settings: Iterable[Setting], now: Now) -> frozenset[Config]:
    """The rates that the entries name which moves have added to these lists, and which stand."""
    lists = (each for each in settings if each.key in REPLICAS)
    return named(
        {each.config: each.own.intersection(entries(now.get(each.config))) for each in lists}
    )


def still_set(
    cluster: Cluster, settings: Sequence[Setting], recorded: Recorded = NOTHING
) -> tuple[Setting, ...]:
    """Those of which something is still there to be put back, or that cannot be read. A rate that
    is neither the move's nor goes with a list of its replicas was set by somebody since."""
    found = read(cluster, [each.resource for each in settings])
    now = set_in(found)
    listed = _named_by_own([*settings, *recorded.values()], now)
    left = []
    for each in settings:
        value = now.get(each.config)
        if each.resource in found.failures:
            left.append(each)
        elif value is None:
            left += [each] if each.is_missed else []
        elif each.key in REPLICAS:
            left += [each] if each.own.intersection(entries(value)) else []
        elif value != each.before and (value == each.value or each.config in listed):
            left.append(replace(each, value=value))
    return tuple(left)


def missed(cluster: Cluster, recorded: Recorded) -> tuple[Setting, ...]:
    """The rates of which nothing stands, as somebody lifted them who did not know what stood there
    before; here that is known."""
    rates = [each for each in recorded.values() if each.is_missed]
    now = set_in(read(cluster, [each.resource for each in rates]))
    return tuple(each for each in rates if each.config not in now)
