"""Whether the records of topics can be decoded without the schemas that are deleted."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from kafka_shell.admin.schemas.subjects import DeleteVersions
from kafka_shell.advice.reads import Reads
from kafka_shell.base.plans import Advice
from kafka_shell.base.units import counted, some
from kafka_shell.wire.metadata_scan import scan

_NAMED = 5  # topics that a remark names
_SUFFIXES = ("-key", "-value")  # of TopicNameStrategy


class Facts(Struct, frozen=True):
    """The topics whose subjects the plan deletes, and whether for ever."""

    topics: Sequence[str]
    permanent: bool


def read(reads: Reads) -> Facts | None:
    """Read which of the topics exist."""
    steps = [step for step in reads.plan.steps if isinstance(step, DeleteVersions)]
    if not steps:
        return None
    subjects = {step.subject for step in steps}
    names = {name[: -len(end)] for name in subjects for end in _SUFFIXES if name.endswith(end)}
    topics = None
    if names:
        topics = reads.attempt("topics", lambda: sorted(scan(reads.cluster, sorted(names)).names))
    return Facts(topics or (), any(step.permanent for step in steps))


def say(facts: Facts) -> Advice:
    """Warn of a permanent deletion."""
    count = counted(len(facts.topics), "topic")
    used = f" of {count} ({some(facts.topics, _NAMED)})" if facts.topics else ""
    if facts.permanent:
        warning = (
            f"records{used} with these IDs can no longer be decoded, unless other subjects have the"
            " same schemas"
        )
        return Advice(warnings=(warning,))
    note = f"records{used} can still be decoded: the registry keeps the schemas by their IDs"
    return Advice(notes=(note,))
