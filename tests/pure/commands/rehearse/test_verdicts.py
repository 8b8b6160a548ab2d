"""What a line that ran on a twin says about the original."""

from __future__ import annotations

from kafka_shell.admin.schemas.registry import no_registry
from kafka_shell.commands.rehearse.render import UNKNOWN
from kafka_shell.commands.rehearse.twins import OriginalState
from kafka_shell.commands.rehearse.verdicts import LineObserver, verdict_of
from kafka_shell.commands.state.model import State
from kafka_shell.sandbox.twin.build import Original


def test_a_missing_schema_registry_is_unknown() -> None:
    original = Original("4.3", (), (), None, (), settings={})  # type: ignore[arg-type]
    reading = OriginalState(original, State(), frozenset(), {}, ())
    observed = LineObserver(errors=[no_registry("the section subjects")])
    status, why = verdict_of(observed, 2, (), (), (), reading)
    assert (status, why) == (UNKNOWN, "a twin has no schema registry")
