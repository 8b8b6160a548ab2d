"""Plans that add and remove voters (KIP-853; API keys 80, 81)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from kafka_shell.admin.steps import BaseStep, row_failure
from kafka_shell.admin.wire.connection import Cluster
from kafka_shell.admin.wire.error_codes import (
    DUPLICATE_VOTER,
    INVALID_REQUEST,
    UNSUPPORTED_VERSION,
    VOTER_NOT_FOUND,
)
from kafka_shell.admin.wire.failures import as_error
from kafka_shell.admin.wire.propagation import wait_until_visible
from kafka_shell.admin.wire.requests import Call, response_timeout
from kafka_shell.admin.wire.uuids import uuid_of
from kafka_shell.common.structs import replace
from kafka_shell.errors import ShellError
from kafka_shell.plan.model import Change, Effect, Outcomes, Plan, Resource
from kafka_shell.plan.results import Failure, Results

from .model import Quorum, QuorumReplica, Voter
from .quorum import describe

DEFAULT_TIMEOUT_MS = 30_000
UNKNOWN_DIRECTORY_ID = "unknown-directory-id"
_FAR_BEHIND = 1_000  # records; the leader refuses a voter that has not caught up


class AddVoter(Struct, BaseStep, frozen=True):
    """One AddRaftVoter request (KIP-853, API key 80), done when the new set is committed.

    The leader refuses a voter that has not caught up.
    """

    voter: Voter
    timeout_ms: int

    @property
    def changes(self) -> tuple[Change, ...]:
        return (Change(_resource(self.voter.id), "create", after=_format_voter(self.voter)),)

    def send(self, cluster: Cluster, *, validate_only: bool) -> Outcomes:
        from kafka_shell.admin.wire.schemas.quorum import AddRaftVoterRequest

        request = AddRaftVoterRequest(
            cluster_id=cluster.cluster_id,
            timeout_ms=self.timeout_ms,
            voter_id=self.voter.id,
            voter_directory_id=uuid_of(self.voter.directory_id),
            listeners=[
                AddRaftVoterRequest.Listener(
                    name=endpoint.name, host=endpoint.host, port=endpoint.port
                )
                for endpoint in self.voter.endpoints
            ],
        )
        call = Call(request, check=False, timeout=response_timeout(self.timeout_ms))
        return _send(cluster, call, self.changes[0], self.voter, votes=True)


class RemoveVoter(Struct, BaseStep, frozen=True):
    """One RemoveRaftVoter request (KIP-853, API key 81). A leader that removes itself resigns."""

    voter: Voter

    @property
    def changes(self) -> tuple[Change, ...]:
        return (Change(_resource(self.voter.id), "delete", before=_format_voter(self.voter)),)

    def reread(self, cluster: Cluster) -> RemoveVoter:
        for replica in describe(cluster).voters:
            if (replica.id, replica.directory_id) == (self.voter.id, self.voter.directory_id):
                return RemoveVoter(_voter(replica))
        raise as_error(_no_voter(self.voter, "it was removed"))

    def send(self, cluster: Cluster, *, validate_only: bool) -> Outcomes:
        from kafka_shell.admin.wire.schemas.quorum import RemoveRaftVoterRequest

        request = RemoveRaftVoterRequest(
            cluster_id=cluster.cluster_id,
            voter_id=self.voter.id,
            voter_directory_id=uuid_of(self.voter.directory_id),
        )
        call = Call(request, check=False)
        return _send(cluster, call, self.changes[0], self.voter, votes=False)


def plan_alter(
    cluster: Cluster,
    add: Sequence[Voter] = (),
    remove: Sequence[Voter] = (),
    *,
    timeout_ms: int = DEFAULT_TIMEOUT_MS,
) -> Plan:
    """Add and remove voters, one after the other: a quorum changes by one at a time (API keys 80,
    81).

    Missing parts are looked up: the directory ID of an observer or voter, the name of a
    controller's listener. Additions come first, so that the quorum is not smaller than needed;
    only a voter that is replaced with another directory is removed before.
    """
    quorum = describe(cluster)
    if not any(voter.directory_id for voter in quorum.voters):
        requested = {_resource(voter.id): _STATIC for voter in (*add, *remove)}
        return Plan(Effect.CHANGE, (), refused=Results({}, requested))
    refused: dict[Resource, Failure] = {}
    adding, removing = [], []
    for voter in remove:
        found = _voter_to_remove(quorum, voter)
        if isinstance(found, Failure):
            refused[_resource(voter.id)] = found
        else:
            removing.append(RemoveVoter(found))
    if removing and len(removing) == len(quorum.voters) and not add:
        refused |= {_resource(step.voter.id): _LAST for step in removing}
        removing = []
    replaced = {step.voter.id for step in removing}
    for voter in add:
        found = _voter_to_add(quorum, voter, replaced)
        if isinstance(found, Failure):
            refused[_resource(voter.id)] = found
        else:
            adding.append(AddVoter(found, timeout_ms))
    back = {step.voter.id for step in adding}
    first = [step for step in removing if step.voter.id in back]
    last = [step for step in removing if step.voter.id not in back]
    return Plan(
        Effect.DESTROY if removing else Effect.CHANGE,
        (*first, *adding, *last),
        chained=True,
        touches=frozenset({"brokers"}),
        fresh=describe,
        warnings=tuple(_warnings(quorum, adding, removing)),
        refused=Results({}, refused),
    )


def _voter_to_remove(quorum: Quorum, voter: Voter) -> Voter | Failure:
    candidates = [each for each in quorum.voters if each.id == voter.id]
    found = [
        candidate for candidate in candidates if voter.directory_id in ("", candidate.directory_id)
    ]
    if not candidates:
        ids = ", ".join(map(str, sorted(each.id for each in quorum.voters)))
        return _no_voter(voter, f"the voters are {ids}")
    if not found:
        return _no_voter(voter, f"its directory ID is {candidates[0].directory_id}")
    return _voter(found[0])


def _no_voter(voter: Voter, failure: str) -> Failure:
    directory = f" with directory ID {voter.directory_id}" if voter.directory_id else ""
    return Failure(
        "VOTER_NOT_FOUND",
        f"voter {voter.id}{directory} does not exist: {failure}",
        VOTER_NOT_FOUND,
        see=Resource("voter"),
    )


def _voter_to_add(quorum: Quorum, voter: Voter, replaced: Iterable[int]) -> Voter | Failure:
    """The voter with its missing parts, as known to the quorum."""
    if any(each.id == voter.id for each in quorum.voters) and voter.id not in replaced:
        return Failure(
            "DUPLICATE_VOTER", f"controller {voter.id} is already a voter", DUPLICATE_VOTER,
            see=Resource("voter"),
        )  # fmt: skip
    directory = voter.directory_id
    if not directory:
        known = {r.directory_id for r in quorum.replicas if r.id == voter.id and not r.votes}
        if len(known) != 1 or known == {""}:
            why = "it is not an observer of the quorum"
            if known:
                several = len(known) > 1
                why = "more than one observer has this ID" if several else "it is not reported"
            return Failure(
                UNKNOWN_DIRECTORY_ID,
                f"the directory ID of controller {voter.id} is unknown: {why}",
                hint="Start the controller first: it must catch up before it can be a voter. Or"
                " specify its directory ID.",
            )
        (directory,) = known
    name = next((endpoint.name for r in quorum.voters for endpoint in r.endpoints), "CONTROLLER")
    endpoints = tuple(replace(each, name=each.name or name) for each in voter.endpoints)
    return Voter(voter.id, directory, endpoints)


def _warnings(
    quorum: Quorum, adding: Sequence[AddVoter], removing: Sequence[RemoveVoter]
) -> Iterable[str]:
    ids = [step.voter.id for step in adding]
    for replica in quorum.replicas:
        if replica.id in ids and not replica.votes and replica.lag > _FAR_BEHIND:
            yield (
                f"observer {replica.id} is {replica.lag:,} records behind the leader and cannot be"
                " added until it catches up"
            )
    if removing:
        left = len(quorum.voters) + len(adding) - len(removing)
        failures = max(left - 1, 0) // 2
        voters = "1 voter is" if left == 1 else f"{left} voters are"
        tolerated = {0: "no failure", 1: "1 failure"}.get(failures, f"{failures} failures")
        yield f"{voters} left: the quorum then tolerates {tolerated}"


_LAST = Failure(
    "INVALID_REQUEST",
    "the last voter of the quorum cannot be removed",
    INVALID_REQUEST,
    "Add another voter first, as ID@HOST:PORT.",
    Resource("voter"),
)


_STATIC = Failure(
    "UNSUPPORTED_VERSION",
    "the quorum of this cluster is static (kraft.version is 0)",
    UNSUPPORTED_VERSION,
    "Set the feature kraft.version to 1 first.",
    Resource("feature"),
)


def _send(cluster: Cluster, call: Call, change: Change, voter: Voter, *, votes: bool) -> Outcomes:
    (row,) = cluster.send_all([call])
    about = change.resource
    failure = row_failure(row, about, requires="ALTER on the cluster", see=Resource("voter"))
    if failure is None:
        wait_until_visible(lambda: _votes(cluster, voter) is votes)
    return Results.of([change], [failure])


def _votes(cluster: Cluster, voter: Voter) -> bool | None:
    """Whether it is a voter; None while the quorum has no leader: the next step needs one."""
    try:
        now = describe(cluster).voters
    except ShellError as error:
        if error.code == "CLUSTER_AUTHORIZATION_FAILED":
            raise
        return None
    return any((each.id, each.directory_id) == (voter.id, voter.directory_id) for each in now)


def _resource(id: int) -> Resource:
    return Resource("voter", str(id))


def _voter(replica: QuorumReplica) -> Voter:
    return Voter(replica.id, replica.directory_id, replica.endpoints)


def _format_voter(voter: Voter) -> str:
    """`CONTROLLER://host:port:directory ID`, as in `--add ID@...`."""
    return f"{','.join(map(str, voter.endpoints))}:{voter.directory_id}"
