"""Asking many groups' coordinators at once: one FindCoordinator, then one request a coordinator.

A group whose coordinator has just moved, or whose broker is gone, is looked for again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct, field

from kafka_shell.plan.results import Failure, Results

from .connection import Cluster
from .failures import COORDINATION, failure, needs
from .metadata_scan import is_missing
from .requests import Call, CoordinatorKind, Node

_MANY_KEYS = 4  # the first version of FindCoordinator that takes them (Kafka 3.0)
_TOPIC_DENIED = 29
_OFFSETS_TOPIC = "__consumer_offsets"
_PATIENCE_S = 15.0  # a broker that died is named as the coordinator for a while
_NOT_REACHED = frozenset({"refused", "connect-timeout", "unknown-broker"})  # so nothing was done


class Question(Struct, frozen=True):
    """An API that takes many groups: its request for some, and (group, row) of each in its answer.

    A row has an `error_code`. `permission` is what it takes on the group.
    """

    request: Callable[[Sequence[str]], Any]
    rows: Callable[[Any], Iterable[tuple[str, Any]]]
    permission: str = "Describe"
    lowest: int | None = None
    highest: int | None = None


class Answer(Struct):
    """What was told of one group: a row or a Failure by question; its coordinator's id, or -1."""

    coordinator: int = -1
    told: dict[Question, Any] = field(default_factory=dict)


Answers = dict[str, Answer]


def find(cluster: Cluster, groups: Sequence[str]) -> Results[str, int]:
    """The broker that coordinates each group, or why none is known (FindCoordinator, API key 10).

    A group need not exist to have one.
    """
    results: Results[str, int] = Results()
    if not groups:
        return results
    from kafka.protocol.metadata import FindCoordinatorRequest

    request = FindCoordinatorRequest(
        key_type=int(CoordinatorKind.GROUP), coordinator_keys=list(groups)
    )
    for row in cluster.send(request, lowest=_MANY_KEYS, check=False).coordinators:
        if row.error_code:
            results.failures[row.key] = _why(row.key, row.error_code, row.error_message, "Describe")
        else:
            results.values[row.key] = row.node_id
    return results


def ask(cluster: Cluster, wanted: Mapping[str, Sequence[Question]]) -> Answers:
    """Put each group's questions to its coordinator: all coordinators and questions at once.

    Where nobody has used a group yet, there are no coordinators, and asking for one would make
    their topic: then there is no such group.
    """
    if wanted and is_missing(cluster, _OFFSETS_TOPIC):
        return {
            group: Answer(-1, dict.fromkeys(asked, not_found(group)))
            for group, asked in wanted.items()
        }
    answers: Answers = {group: Answer() for group in wanted}
    left = list(wanted)
    for _ in cluster.attempts(_PATIENCE_S):
        left = _round(cluster, {group: wanted[group] for group in left}, answers)
        if not left:
            break
    return answers


def _round(
    cluster: Cluster, wanted: Mapping[str, Sequence[Question]], answers: Answers
) -> list[str]:
    """Ask once, into `answers`; the groups that are worth asking about again."""
    found = find(cluster, list(wanted))
    for group, why in found.failures.items():
        answers[group] = Answer(-1, dict.fromkeys(wanted[group], why))
    batches: dict[tuple[int, Question], list[str]] = {}
    for group, node in found.values.items():
        answers[group].coordinator = node
        for question in wanted[group]:
            batches.setdefault((node, question), []).append(group)
    calls = [
        Call(question.request(groups), Node(node), lowest=question.lowest, highest=question.highest)
        for (node, question), groups in batches.items()
    ]
    for (_, question), groups, answer in zip(
        batches, batches.values(), cluster.send_all(calls), strict=True
    ):
        for group, told in _each(question, groups, answer).items():
            answers[group].told[question] = told
    return [group for group in wanted if any(map(_passing, answers[group].told.values()))]


def _each(question: Question, groups: Sequence[str], answer: Any) -> dict[str, Any]:
    """What the answer tells of each group: a row or a Failure."""
    if isinstance(answer, Failure):
        return dict.fromkeys(groups, answer)
    rows = dict(question.rows(answer))
    told: dict[str, Any] = {}
    for group in groups:
        row = rows.get(group)
        if row is None:
            told[group] = Failure("UNKNOWN", f"the broker's answer does not mention group {group}")
        elif row.error_code:
            message = getattr(row, "error_message", None)
            told[group] = _why(group, row.error_code, message, question.permission)
        else:
            told[group] = row
    return told


def not_found(name: str) -> Failure:
    """There is no such group, whatever its protocol."""
    return Failure("GROUP_ID_NOT_FOUND", f"there is no group {name}", 69)


def _passing(told: Any) -> bool:
    if not isinstance(told, Failure):
        return False
    return told.code in COORDINATION or (told.code is None and told.name in _NOT_REACHED)


def _why(group: str, code: int, message: str | None, permission: str) -> Failure:
    what = f"{permission} on group {group}"
    if code == _TOPIC_DENIED:
        what = "Describe on every topic that its members read"
    return failure(code, message, about=f"group {group}", hint=needs(code, what))
