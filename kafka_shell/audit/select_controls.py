"""Choose controls by ID, family or tag."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kafka_shell.audit.control import FAMILIES, Control, Level
from kafka_shell.audit.policy import DRIFT, STATE
from kafka_shell.base.errors import UsageError, did_you_mean

ALL = "all"


def select_controls(
    controls: Mapping[str, Control], words: Iterable[str], threshold: str = ""
) -> tuple[Control, ...]:
    """Return the controls with these IDs, families or tags of at least a severity: by default all
    but opinions, with the word `all` all.

    Raises UsageError for an unknown word.
    """
    wanted = [word.strip() for word in words if word.strip()]
    if wanted:
        chosen = {id for word in wanted for id in _matching(controls, word)}
    else:
        chosen = {id for id, control in controls.items() if not control.is_opinion}
    lowest = Level[threshold.upper()] if threshold else max(Level)
    return tuple(
        control for id, control in controls.items() if id in chosen and control.severity <= lowest
    )


def _matching(controls: Mapping[str, Control], word: str) -> set[str]:
    if word.upper() in (STATE, *DRIFT):
        return set()  # of --against
    if word.lower() == ALL:
        return set(controls)
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
