"""A step that is inspected but never sent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kafka_shell.plan.model import Change
from kafka_shell.plan.results import Results


@dataclass(frozen=True)
class RecordedStep:
    """Changes to look at. It cannot be sent."""

    changes: tuple[Change, ...]
    validates = False

    def resolved(self, cluster: Any) -> RecordedStep:
        return self

    def reread(self, cluster: Any) -> RecordedStep:
        return self

    def send(self, cluster: Any, *, validate_only: bool) -> Results[Change, Change]:
        raise AssertionError("this step is only looked at")
