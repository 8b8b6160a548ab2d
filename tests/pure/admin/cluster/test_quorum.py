"""The metadata quorum: described, and voters added and removed on three controllers."""

from __future__ import annotations

from kafka_shell.admin.cluster.model import Quorum, QuorumReplica


def test_an_answer_without_a_caught_up_time_is_not_behind() -> None:
    assert Quorum(1, 1, 1, (QuorumReplica(1, "leader", 1, 0),)).voters[0].behind_ms == -1


def test_a_voter_that_has_not_fetched_from_this_leader_does_not_keep_up() -> None:
    never, slow, soon = (
        QuorumReplica(2, "voter", 1, 0, behind_ms=ms) for ms in (-1, 10_001, 10_000)
    )
    assert [each.keeps_up for each in (never, slow, soon)] == [False, False, True]
    assert QuorumReplica(1, "leader", 1, 0).keeps_up
