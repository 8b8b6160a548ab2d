"""Read the state of a cluster."""

from __future__ import annotations

from kafka_shell.base.errors import ShellError, Status
from kafka_shell.base.plans import Change
from kafka_shell.base.results import ABSENT, as_failure
from kafka_shell.commands.state.model import State
from kafka_shell.commands.state.render import name_changes
from kafka_shell.commands.state.section import StateRequest, section_of
from kafka_shell.commands.state.sections.configs import TEMPORARY
from kafka_shell.commands.state.spec import KINDS
from kafka_shell.wire.cluster import Cluster


def read_state(cluster: Cluster, request: StateRequest) -> State:
    """The state of a cluster. A kind or resource that cannot be read is in `unread`.

    Raises ShellError if the cluster cannot be reached.
    """
    state = State(sensitive={})
    for kind in KINDS:
        if kind not in request.kinds:
            continue
        section = section_of(kind)
        try:
            failures = len(state.unread)
            part = section.read(cluster, request, state)
            if len(state.unread) == failures:
                state.complete.add(kind)
            if part or kind in state.complete:  # else nothing of it could be read
                state.parts[kind] = part
        except ShellError as error:
            if error.status is not Status.FAILED:
                raise
            missing = error.code in ABSENT and not section.may_exist(cluster)
            (state.absent if missing else state.unread)[kind] = as_failure(error)
    if not request.temporary:
        _leave_out_temporary(state)
    return state


def _leave_out_temporary(state: State) -> None:
    """Leave out the TEMPORARY configs, with one note that names them."""
    left_out: list[Change] = []
    for kind, part in state.parts.items():
        section = section_of(kind)
        for key, fields in list(part.items()) if section.typed else ():
            temporary = sorted(fields.keys() & TEMPORARY)
            if not temporary:
                continue
            left_out += (Change(section.resource(key), "delete", name) for name in temporary)
            part[key] = {name: fields[name] for name in fields if name not in temporary}
            if not part[key] and not section.whole:
                del part[key]
    if left_out:
        state.notes.append(
            f"throttles and cordons are temporary and are excluded: {name_changes(left_out)}"
        )
