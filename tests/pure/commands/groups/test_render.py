"""Tables and pages of groups."""

from __future__ import annotations

from kafka_shell.admin.groups.model import (
    Group,
    GroupListing,
    GroupOffset,
    GroupTotals,
    GroupType,
    Member,
    Task,
)
from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.base.structs import replace
from tests.support.samples import drawn

MEMBER = Member(
    "billing", "m-1", "app", "10.0.0.1", epoch=4,
    assignment=(TopicPartition("a", 0), TopicPartition("a", 1), TopicPartition("b", 0)),
)  # fmt: skip
OFFSETS = (
    GroupOffset(
        "billing",
        "a",
        0,
        5,
        8,
        3,
        client_id="app",
        host="10.0.0.1",
        member_id="m-1",
        time_lag_ms=200_000,
    ),
    GroupOffset("billing", "a", 1, None, 8, client_id="app", host="10.0.0.1", member_id="m-1"),
    GroupOffset("billing", "gone", 0, 7, note="no such topic"),
)
GROUP = Group(
    "billing", GroupType.CONSUMER, "Stable", "consumer", "uniform", 2, (MEMBER,), 4, 3, OFFSETS
)
PAGE = """\
group billing   Stable   consumer   1 member   lag 3 in 1 of 3 partitions, unknown in 2   \
assignor uniform   coordinator 2   epoch 4, assigned 3

TOPIC  PARTITION  CURRENT-OFFSET  LOG-END-OFFSET  LAG  TIME-LAG  NOTE
a              0               5               8    3     3m20s  -
a              1               -               8    -         -  -
gone           0               7               -    -         -  no such topic

CLIENT-ID  HOST      PARTITIONS  ASSIGNMENT  EPOCH  MEMBER
app        10.0.0.1           3  a:0,1 b:0       4  m-1
"""


def test_a_group() -> None:
    assert drawn(GROUP) == PAGE


def test_of_several_the_totals_come_first() -> None:
    other = Group("crm", GroupType.CLASSIC, "Empty", "", "", 1, offsets=())
    text = drawn((GROUP, other))
    totals, _, pages = text.partition("\n\n")
    assert [line.split()[:7] for line in totals.splitlines()] == [
        ["GROUP", "STATE", "TYPE", "MEMBERS", "PARTITIONS", "LAG", "TIME-LAG"],
        ["billing", "Stable", "consumer", "1", "3", "3", "3m20s"],
        ["crm", "Empty", "classic", "0", "0", "-", "-"],
    ]
    assert "  lag unknown in 2 of 3 partitions  " in totals.splitlines()[1]
    assert pages.startswith(PAGE)
    assert text.endswith("\n\ngroup crm   Empty   classic   0 members   coordinator 1\n")


def test_what_does_not_fit_is_left_out_before_what_matters() -> None:
    text = drawn(OFFSETS, width=60)
    heading, below, first, *_ = text.splitlines()
    assert heading.split() == ["GROUP", "TOPIC", "PARTITION", "CURRENT-", "LAG", "TIME-", "NOTE"]
    assert below.split() == ["OFFSET", "LAG"]
    assert first.split() == ["billing", "a", "0", "5", "3", "3m20s", "-"]
    hidden = "hidden (narrow terminal): LOG-END-OFFSET, CLIENT-ID, HOST, MEMBER"
    assert hidden in " ".join(text.split())


def test_members_of_other_kinds() -> None:
    worker = Member("s", "w-1", "", "h", tasks=(Task("0", 0, "active"), Task("0", 1, "active"),
                                                Task("1", 0, "standby")))  # fmt: skip
    assert "active:0:0,1 standby:1:0" in drawn((worker,))
    moving = replace(MEMBER, target=())
    assert "moving" in drawn((moving,))
    connect = Group("c", GroupType.CLASSIC, "Stable", "connect", "", 1)
    assert "classic (connect)" in drawn(connect)


def test_lines() -> None:
    listing = GroupListing("billing", GroupType.SHARE, "Empty", "share", 3)
    assert drawn((listing,)) == (
        "GROUP    TYPE   STATE  PROTOCOL  COORDINATOR\n"
        "billing  share  Empty  share               3\n"
    )
    assert "billing" in drawn((GroupTotals.of(GROUP),))
    assert GROUP.lag == 3
    assert replace(GROUP, offsets=()).lag is None
