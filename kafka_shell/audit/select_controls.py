"""Choose controls by ID, family or tag."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kafka_shell.audit.control import FAMILIES, Control, Level
from kafka_shell.audit.policy import DRIFT
from kafka_shell.audit.policy import ID as POLICY
from kafka_shell.base.errors import UsageError, did_you_mean


def select_controls(
    controls: Mapping[str, Control], words: Iterable[str], threshold: str = ""
) -> tuple[Control, ...]:
    """Return the controls with these IDs, families or tags (default: all) of at least a severity.

    Raises UsageError for an unknown word.
    """
    wanted = [word.strip() for word in words if word.strip()]
    chosen = (
        {id for word in wanted for id in _matching(controls, word)} if wanted else set(controls)
    )
    lowest = Level[threshold.upper()] if threshold else max(Level)
    return tuple(
        control for id, control in controls.items() if id in chosen and control.severity <= lowest
    )


def _matching(controls: Mapping[str, Control], word: str) -> set[str]:
    if word.upper() in (POLICY, *DRIFT) and word.upper() not in controls:
        return set()  # of --policy and --against
    found = {
        id
        for id, control in controls.items()
        if word.upper() == id or word.lower() in (control.family, *map(str.lower, control.tags))
    }
    if not found and word.lower() not in FAMILIES.values():
        tags = {tag for control in controls.values() for tag in control.tags}
        raise UsageError(
            f"unknown control, family or tag {word!r}",
            hint=did_you_mean(
                word, [*controls, *FAMILIES.values(), *sorted(tags)],
                f"Families: {', '.join(FAMILIES.values())}.",
            ),
            code="no-control",
        )  # fmt: skip
    return found
