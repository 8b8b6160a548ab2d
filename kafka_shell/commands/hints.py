"""Hints that name options; the core does not name any."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from kafka_shell.common.quoting import quote
from kafka_shell.common.structs import replace
from kafka_shell.language.selectors import is_glob_or_regex, text_of_pattern
from kafka_shell.plan.model import Plan
from kafka_shell.plan.results import Failure, Results

K = TypeVar("K")


def with_hint(plan: Plan, name: str, hint: str) -> Plan:
    """The plan with this hint instead of the core's for items refused with this error name."""
    failures = {
        resource: replace(failure, hint=hint) if failure.name == name and failure.hint else failure
        for resource, failure in plan.refused.failures.items()
    }
    return replace(plan, refused=Results(plan.refused.values, failures))


def with_group_pattern_hints(failures: Mapping[K, Failure]) -> dict[K, Failure]:
    """The failures, with a hint for unknown groups whose name looks like a pattern: names of groups
    may contain * themselves, so that patterns do not select any."""
    return {key: _group_pattern_hint(key, failure) for key, failure in failures.items()}


def _group_pattern_hint(key: object, failure: Failure) -> Failure:
    name = str(getattr(key, "name", key))
    if failure.name != "GROUP_ID_NOT_FOUND" or not is_glob_or_regex(name):
        return failure
    hint = f"To filter group names, run list-groups | grep {quote(text_of_pattern(name))}"
    return replace(failure, hint=hint, see=None)
