"""Throttles on three real brokers: those of a reassignment are removed however it ends, and earlier
ones are restored."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator

import pytest

from kafka_shell.admin.configs.model import ConfigResource, ResourceType
from kafka_shell.admin.partitions import sizes as move_sizes
from kafka_shell.admin.wire.connection import Cluster
from kafka_shell.admin.wire.metadata_scan import scan
from kafka_shell.sandbox.state import Sandbox
from tests.support import reassigned_topics
from tests.support.changes import connect
from tests.support.in_process_shell import Answer, Shell
from tests.support.reassigned_topics import LEADER_RATE, RATE, Filled, placed, put
from tests.support.waiting import wait_for

FOLLOWERS = "follower.replication.throttled.replicas"
LEADERS = "leader.replication.throttled.replicas"
FOR_GOOD = {f"broker 3 {RATE}": "9000000"}  # what broker 3 takes in is limited for good
SET_BY_A = {
    f"broker 1 {LEADER_RATE}": "1",
    f"broker 2 {LEADER_RATE}": "1",
    f"broker 3 {RATE}": "1",
    f"topic a {LEADERS}": "0:1,0:2",
    f"topic a {FOLLOWERS}": "0:3",
}


class Moves:
    """Two topics, a and b, on brokers 1 and 2, with so much in them that a move at 1 B/s is held.

    A word does something: `a` moves it to brokers 2 and 3 at 1 B/s.
    """

    def __init__(self, cluster: Cluster, home: Shell, colleague: Shell, topics: list[str]) -> None:
        self.cluster, self.shell, self.colleague = cluster, home, colleague
        self.topics = dict(zip("ab", topics, strict=True))

    def __call__(self, words: str) -> Answer:
        """The last answer of these words; those behind `colleague` are of another shell."""
        for each in words.split(", "):
            who, _, what = each.rpartition("colleague ")
            shell = self.colleague if each != what else self.shell
            assert not who
            verb, _, name = what.rpartition(" ") if what[-2:] in (" a", " b") else (what, "", "")
            if what in self.topics:
                verb, name = "move", what
            answer = self._run(shell, verb, self.topics.get(name, ""))
        return answer

    def _run(self, shell: Shell, verb: str, topic: str) -> Answer:
        if verb == "release":
            reassigned_topics.release(self.cluster)
            wait_for("nothing moves", lambda: not any(map(self.is_moving, self.topics.values())))
            return Answer(verb, 0, "", "")
        lines = {
            "move": f"reassign-partitions {self.to(shell, topic, 2, 3)} --throttle 1",
            "move faster": f"reassign-partitions {self.to(shell, topic, 2, 3)} --throttle 2",
            "raise": f"reassign-partitions {self.to(shell, topic, 2, 3)} --additional --wait"
                     " --throttle 900MB/s",
            "raise a little": f"reassign-partitions {self.to(shell, topic, 2, 3)} --additional"
                              " --throttle 2",
            "elsewhere": f"reassign-partitions {self.to(shell, topic, 3, 2)} --additional",
            "back": f"reassign-partitions {self.to(shell, topic, 1, 2)}",
            "cancel": f"reassign-partitions --cancel --topics {topic}",
            "cancel file": f"reassign-partitions --cancel {self.to(shell, topic, 2, 3)}",
            "finish": "verify-reassign-partitions --finish",
            "finish file": f"verify-reassign-partitions --finish {self.to(shell, topic, 2, 3)}",
            "finish topic": f"verify-reassign-partitions --finish --topics {topic}",
            "delete": f"delete-topic {topic} --yes",
        }  # fmt: skip
        answer = shell.ok(lines[verb])
        if verb == "delete":
            wait_for("its move is forgotten", lambda: not self.is_moving(topic))
        return answer

    def to(self, shell: Shell, topic: str, *brokers: int) -> str:
        """The option with a file that moves the topic to these brokers."""
        rows = [{"topic": topic, "partition": 0, "replicas": brokers}]
        file = shell.home / f"{topic}-to-{'-'.join(map(str, brokers))}.json"
        file.write_text(json.dumps({"version": 1, "partitions": rows}))
        return f"--reassignment-json-file {file}"

    def is_moving(self, topic: str) -> bool:
        return bool(reassigned_topics.moving(self.cluster, topic))

    @property
    def throttles(self) -> dict[str, str]:
        """What is set, with the topics by their letters."""
        there = scan(self.cluster).names
        letters = {name: letter for letter, name in self.topics.items() if name in there}
        found = reassigned_topics.throttles(self.cluster, *letters)
        names = {f"topic {name} ": f"topic {letter} " for name, letter in letters.items()}
        for name, letter in names.items():
            found = {what.replace(name, letter): value for what, value in found.items()}
        return found

    def become(self, wanted: dict[str, str]) -> None:
        """Until the throttles are these: a broker hears of a change a moment after it is made."""
        until = time.monotonic() + 10
        while (found := self.throttles) != wanted and time.monotonic() < until:
            time.sleep(0.05)
        assert found == wanted, "other throttles are set than wanted"

    def list(self, letter: str, key: str, entries: str) -> None:
        put(self.cluster, ConfigResource(ResourceType.TOPIC, self.topics[letter]), key, entries)


@pytest.fixture(scope="module")
def cluster(three_brokers: Sandbox) -> Iterator[Cluster]:
    with connect(three_brokers) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def filled(three_brokers: Sandbox, cluster: Cluster) -> Filled:
    return Filled(three_brokers, cluster)


@pytest.fixture
def moves(
    three_brokers: Sandbox,
    cluster: Cluster,
    filled: Filled,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Moves]:
    monkeypatch.setattr(move_sizes, "SAMPLE_S", 0.01)  # nobody writes to these topics
    homes = [tmp_path_factory.mktemp("home") for _ in range(2)]
    put(cluster, ConfigResource(ResourceType.BROKER, "3"), RATE, "9000000")
    try:
        yield Moves(
            cluster, *(Shell(home, three_brokers.bootstrap) for home in homes), filled.topics(2)
        )
    finally:
        reassigned_topics.restore(cluster)


@pytest.mark.parametrize(
    "words",
    [
        "cancel a",
        "cancel file a",
        "back a",
        "release, finish",
        "release, finish file a",
        "release, finish topic a",
        "raise a",
        "raise a little a, raise a",
        "raise a little a, cancel a",
        "elsewhere a, cancel a",
        "move faster b, cancel a, cancel b",
        "move faster b, cancel b, cancel a",
        "delete a, finish",
    ],
)
def test_the_rate_that_a_throttle_replaced_is_back_after_it(moves: Moves, words: str) -> None:
    moves.list("a", FOLLOWERS, "7:1")
    before = moves.throttles
    moves("a")
    during = before | SET_BY_A | {f"topic a {FOLLOWERS}": "7:1,0:3"}
    moves.become(during)
    moves(words)
    if "delete a" in words:
        del before[f"topic a {FOLLOWERS}"]
    moves.become(before)


@pytest.mark.parametrize(
    "words",
    [
        "a, colleague move faster b, cancel a, colleague cancel b, finish",
        "a, colleague move faster b, colleague cancel b, cancel a",
        "a, colleague raise a little a, cancel a",
    ],
)
def test_of_two_shells_the_first_brings_the_rate_back(moves: Moves, words: str) -> None:
    """They know nothing of each other. The second takes the rate of the first for the one that
    was there before; once that is back, the first shell finds it."""
    moves(words)
    moves.become(FOR_GOOD)


def test_what_an_earlier_shell_left_is_not_what_a_later_move_restores(moves: Moves) -> None:
    moves("a, release, raise b")
    lists = {what: value for what, value in SET_BY_A.items() if what.startswith("topic a")}
    moves.become(FOR_GOOD | lists)  # the lists are still to be finished
    moves("finish")
    moves.become(FOR_GOOD)


def test_the_entries_and_rates_of_a_move_are_all_that_is_set(moves: Moves) -> None:
    moves("a")
    moves.become(SET_BY_A)


def test_entries_that_were_listed_before_stay(moves: Moves) -> None:
    moves.list("a", FOLLOWERS, "0:3,7:1")
    before = moves.throttles
    moves("a, cancel a")
    moves.become(before)
    moves("a, raise a")
    moves.become(before)


def test_another_target_of_a_move_under_way_needs_additional(moves: Moves) -> None:
    moves("a")
    run = moves.shell(f"reassign-partitions {moves.to(moves.shell, moves.topics['a'], 1, 3)}")
    assert run.status == 1 and "use --additional" in run.err, str(run)


@pytest.mark.parametrize("source", ["--broker-list 2,3", "--drain 1"])
def test_the_same_move_by_the_planner_changes_the_throttle(moves: Moves, source: str) -> None:
    line = f"reassign-partitions --topics {moves.topics['a']} {source}"
    moves.shell.ok(f"{line} --throttle 1")
    # A broker that lags shows what is empty and has moved at once with three replicas.
    refused = moves.shell(f"{line} --throttle 2")
    assert refused.status == 1 and "use --additional" in refused.err, str(refused)
    assert refused.err.count("hint: ") == 1, "the hint is the same for all partitions"
    assert moves.throttles[f"broker 3 {RATE}"] == "1"
    again = moves.shell.ok(f"{line} --throttle 2 --additional")
    assert "throttled.rate: 1 -> 2" in again.err, str(again)
    assert moves.throttles[f"broker 3 {RATE}"] == "2"
    assert moves.is_moving(moves.topics["a"])
    assert "nothing to change" in moves.shell.ok(line).err, "nothing else was asked for"


def test_a_rate_that_another_move_uses_stays(moves: Moves) -> None:
    planned = moves("a, move faster b")
    assert "throttled.rate: 1 -> 2" in planned.err, "the plan hides the rate that is set"
    assert "throttle" not in moves.shell("verify-reassign-partitions").out, "both are in use"
    ended = moves("cancel a")
    assert f"throttle broker 3 {RATE}" not in ended.err
    moves.become({what.replace("topic a", "topic b"): value.replace("1", "2", value == "1")
                  for what, value in SET_BY_A.items()})  # fmt: skip


def test_a_rate_that_was_changed_after_the_move_stays(moves: Moves) -> None:
    moves("a, release")
    for key in (FOLLOWERS, LEADERS):
        put(moves.cluster, ConfigResource(ResourceType.TOPIC, moves.topics["a"]), key, None)
    put(moves.cluster, ConfigResource(ResourceType.BROKER, "3"), RATE, "5000000")
    moves("finish")
    assert moves.throttles[f"broker 3 {RATE}"] == "5000000"
    moves("b, cancel b, finish")
    assert moves.throttles[f"broker 3 {RATE}"] == "5000000", "an old record was used"


def test_a_move_at_the_rate_that_is_set_already_leaves_it(moves: Moves) -> None:
    put(moves.cluster, ConfigResource(ResourceType.BROKER, "1"), LEADER_RATE, "1")
    moves("a, cancel a")
    moves.become(FOR_GOOD | {f"broker 1 {LEADER_RATE}": "1"})


def test_a_move_without_throttle_removes_no_other_throttle(moves: Moves) -> None:
    moves.list("b", FOLLOWERS, "0:3")
    before = moves.throttles
    for line in ("reassign-partitions", "verify-reassign-partitions --finish"):
        moves.shell.ok(f"{line} {moves.to(moves.shell, moves.topics['a'], 2, 3)}")
    moves("finish topic a")
    moves.become(before)


def test_a_wildcard_throttle_is_never_a_leftover(moves: Moves) -> None:
    moves.list("a", FOLLOWERS, "*")
    before = moves.throttles
    assert moves.shell.ok("verify-reassign-partitions").out == ""
    assert "throttle" not in moves.shell("health").out
    moves("a")
    assert moves.throttles[f"topic a {FOLLOWERS}"] == "*"
    moves("cancel a")
    moves.become(before)


def test_what_moved_without_its_shell_is_reported_and_finished_by_another(moves: Moves) -> None:
    """A colleague has no record of the rate that was replaced: it is removed."""
    moves("colleague a, release")
    found = moves.shell("verify-reassign-partitions")
    assert found.status == 1 and f"topic {moves.topics['a']}" in found.out, str(found)
    assert all(f"broker {id} " in found.out for id in (1, 2, 3)), str(found)
    assert "leftover replication throttles" in moves.shell("health").out
    planned = moves.shell.ok("verify-reassign-partitions --finish --dry-run")
    assert "900MB/s -> (removed)" in planned.out, str(planned)
    moves("finish")
    moves.become({})
    assert moves.shell.ok("verify-reassign-partitions").out == ""
    moves("colleague finish")
    moves.become({})


def test_a_part_that_somebody_cancels_does_not_keep_the_throttle_of_the_rest(moves: Moves) -> None:
    rows = [{"topic": topic, "partition": 0, "replicas": [2, 3]} for topic in moves.topics.values()]
    file = moves.shell.home / "both.json"
    file.write_text(json.dumps({"version": 1, "partitions": rows}))
    moves.shell.ok(f"reassign-partitions --reassignment-json-file {file} --throttle 1")
    moves("colleague cancel b")
    assert moves.throttles[f"topic a {LEADERS}"] == "0:1,0:2", "the rest lost its throttle"
    moves("release")
    ended = moves.shell(f"verify-reassign-partitions --finish --reassignment-json-file {file}")
    assert ended.status == 1 and f"partition {moves.topics['b']}:0" in ended.err, str(ended)
    moves.become(FOR_GOOD)


@pytest.mark.parametrize("end", ["--cancel", "--additional --throttle 900MB/s --wait"])
def test_a_move_of_which_a_part_is_done_removes_all_at_its_end(moves: Moves, end: str) -> None:
    empty = placed(moves.cluster, (1, 2))
    file = moves.shell.home / "half.json"
    rows = [{"topic": t, "partition": 0, "replicas": [2, 3]} for t in (empty, moves.topics["a"])]
    file.write_text(json.dumps({"version": 1, "partitions": rows}))
    line = f"reassign-partitions --reassignment-json-file {file}"
    moves.shell.ok(f"{line} --throttle 1")
    wait_for("the empty half is done", lambda: not moves.is_moving(empty))
    assert moves.is_moving(moves.topics["a"]), "the other half was not held"
    moves.shell.ok(f"{line} {end}")
    assert reassigned_topics.throttles(moves.cluster, empty) | moves.throttles == FOR_GOOD


def test_a_topic_that_moves_and_cannot_be_throttled_is_not_moved(moves: Moves) -> None:
    """The record cannot be written: nothing is set that nobody would remove."""
    (moves.shell.home / "state").mkdir(exist_ok=True)
    (moves.shell.home / "state" / "throttles").write_text("no folder")
    topic = moves.topics["a"]
    run = moves.shell(f"reassign-partitions {moves.to(moves.shell, topic, 2, 3)} --throttle 1")
    assert run.status == 1 and "cannot read" in run.err, str(run)
    assert moves.throttles == FOR_GOOD and not moves.is_moving(topic)
