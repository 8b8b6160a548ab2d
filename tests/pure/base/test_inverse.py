"""A change is a value with an inverse."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from kafka_shell.base.plans import Change, Resource, Value, inverse, net
from kafka_shell.base.structs import replace

# A state: resources with their fields; a resource without any may be there, too.
State = dict[Resource, dict[str, Value]]

KINDS = {  # the kinds with an inverse; those of the second list are created and deleted
    True: ("topic", "acl", "token", "voter"),
    False: ("broker", "user", "client-config", "group-offsets", "feature", "replica"),
}
resources = st.sampled_from(
    [Resource(kind, name) for kinds in KINDS.values() for kind in kinds for name in "ab"]
)
values = st.none() | st.integers(0, 2)


def applied(state: State, changes: Sequence[Change]) -> State:
    """The state after the changes, each of which begins at what is there."""
    now = {resource: dict(fields) for resource, fields in state.items()}
    for change in changes:
        if change.verb == "create":
            assert change.resource not in now
            now[change.resource] = {}
        elif change.verb == "delete":
            del now[change.resource]
        else:
            fields = now.setdefault(change.resource, {})
            assert fields.get(change.field) == change.before
            fields[change.field] = change.after
    return now


def known(state: State) -> State:
    """The state without what is not set, and without what only names its fields."""
    return {
        resource: fields
        for resource, every in state.items()
        if (fields := {name: value for name, value in every.items() if value is not None})
        or resource.kind in KINDS[True]
    }


@st.composite
def cases(draw: st.DrawFn) -> tuple[State, list[Change]]:
    """A state, and changes that follow one another from it."""
    state: State = {
        resource: dict.fromkeys(("x", "y"), draw(values))
        for resource in draw(st.lists(resources, unique=True, max_size=6))
    }
    now, changes = {resource: dict(fields) for resource, fields in state.items()}, []
    for resource in draw(st.lists(resources, max_size=12)):
        if resource.kind in KINDS[True] and (resource not in now or draw(st.booleans())):
            there = resource in now
            if there and any(change.resource == resource for change in changes):
                continue  # what the new one had would be lost
            change = Change(resource, "delete" if there else "create", reversible=not there)
        else:
            field = draw(st.sampled_from("xy"))
            before = now.get(resource, {}).get(field)
            change = Change(resource, "alter", field, before, draw(values))
        changes.append(change)
        now = applied(now, [change])
    return state, changes


@given(cases())
def test_changes_and_their_inverse_leave_the_state_as_it_was(
    case: tuple[State, list[Change]],
) -> None:
    state, changes = case
    kept = [change for change in changes if change.reversible]
    gone = {change.resource for change in changes if not change.reversible}
    kept = [change for change in kept if change.resource not in gone]
    before = {resource: fields for resource, fields in state.items() if resource not in gone}
    there = applied(before, kept)
    assert known(applied(there, inverse(kept))) == known(before)


@given(cases())
def test_the_inverse_of_the_inverse_makes_the_changes_again(
    case: tuple[State, list[Change]],
) -> None:
    altered = [change for change in case[1] if change.field and change.resource.kind == "broker"]
    again = inverse(inverse(altered))
    assert {(c.resource, c.field, c.before, c.after) for c in again} == {
        (c.resource, c.field, c.before, c.after) for c in net(altered)
    }


@given(cases())
def test_what_is_irreversible_has_no_inverse(case: tuple[State, list[Change]]) -> None:
    assert inverse([replace(change, reversible=False) for change in case[1]]) == ()
