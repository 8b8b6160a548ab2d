"""Features and API versions of brokers that differ, as during a rolling upgrade."""

from __future__ import annotations

from kafka_shell.admin.cluster.model import (
    ApiRange,
    ApiSupport,
    Endpoint,
    Feature,
    FeatureRange,
    Features,
    Quorum,
    QuorumReplica,
)
from kafka_shell.base.results import Failure
from tests.support.samples import drawn

OLD_AND_NEW = (FeatureRange(1, 7, 29), FeatureRange(2, 7, 30))


def test_a_quorum_with_an_observer_that_is_behind() -> None:
    at = (Endpoint("CONTROLLER", "c-2", 9093),)
    found = Quorum(
        2, 17, 100,
        (
            QuorumReplica(2, "leader", 100, 0, behind_ms=0, endpoints=at),
            QuorumReplica(4, "observer", 60, 40, behind_ms=2500),
        ),
    )  # fmt: skip
    assert drawn(found) == (
        "metadata quorum   leader 2   epoch 17   high watermark 100\n"
        "\n"
        "ID  ROLE      LOG-END-OFFSET  LAG  BEHIND  ENDPOINTS\n"
        " 2  leader               100    0       -  CONTROLLER://c-2:9093\n"
        " 4  observer              60   40  2500ms  -\n"
    )
    far = QuorumReplica(3, "voter", 10, 90, behind_ms=105_725)
    assert " 1m45s\n" in drawn(Quorum(2, 17, 100, (far,))), "nobody reads 105725ms"
    assert "no leader" in drawn(Quorum(-1, 17, 100, ()))


def test_features_that_can_go_up_or_are_not_everywhere_the_same() -> None:
    found = Features(
        9,
        (
            Feature("group.version", 0, 0, 1),
            Feature("metadata.version", 29, 7, 29, "4.2-IV1", "4.2-IV1", OLD_AND_NEW),
        ),
        ((3, Failure("x", "no answer")),),
    )
    assert drawn(found) == (
        "features   epoch 9   broker 3 could not be read\n"
        "\n"
        "FEATURE           LEVEL  RELEASE  SUPPORTED       NOTE\n"
        "group.version         0  -        0-1             upgradable to 1\n"
        "metadata.version     29  4.2-IV1  7-29 (4.2-IV1)  broker 1: 7-29, broker 2: 7-30\n"
    )


def test_an_endpoint_of_ipv6() -> None:
    assert str(Endpoint("CONTROLLER", "::1", 9093)) == "CONTROLLER://[::1]:9093"


def test_apis_that_differ() -> None:
    rows = (
        ApiSupport(3, "Metadata", 0, 12, (ApiRange(1, 0, 12), ApiRange(2, 0, 13))),
        ApiSupport(92, "DeleteShareGroupOffsets", None, None, (ApiRange(2, 0, 0),), (1,)),
    )
    assert drawn(rows) == (
        "KEY  API                      VERSIONS  DIFFERENCES\n"
        "  3  Metadata                 0-12      broker 1: 0-12, broker 2: 0-13\n"
        " 92  DeleteShareGroupOffsets  -         broker 2: 0-0, broker 1: none\n"
    )
