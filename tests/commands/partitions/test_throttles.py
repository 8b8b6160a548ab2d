"""Throttles that are set for good, on three real brokers: moves put them back, however they end."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest

from kafka_shell.admin.configs import change as config_changes
from kafka_shell.admin.configs.model import ConfigAlteration, ConfigOp, ConfigResource, ResourceType
from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.admin.partitions.reassignment import plan_cancel
from kafka_shell.admin.wire.connection import Cluster
from kafka_shell.admin.wire.metadata_scan import scan
from kafka_shell.plan.apply import apply
from kafka_shell.sandbox.state import Sandbox
from tests import moving
from tests.admin.helpers import connect, wait_for
from tests.moving import MB, RATE, fill, placed
from tests.program import Program, Run

FOLLOWERS = "follower.replication.throttled.replicas"
LEADER_RATE = "leader.replication.throttled.rate"
LEADERS = "leader.replication.throttled.replicas"
FOR_GOOD = {f"broker 3 {RATE}": "9000000"}
SLOW = ("--throttle", "200kB/s")


@pytest.fixture(scope="module")
def cluster(three_brokers: Sandbox) -> Iterator[Cluster]:
    with connect(three_brokers) as cluster:
        yield cluster


@pytest.fixture
def kafka(
    three_brokers: Sandbox, cluster: Cluster, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Program]:
    """A shell, where what broker 3 takes in is limited for good."""
    put(cluster, ConfigResource(ResourceType.BROKER, "3"), RATE, "9000000")
    yield Program(tmp_path_factory.mktemp("home"), three_brokers.bootstrap)
    names = [name for name in scan(cluster).names if name.startswith("move.")]
    kinds = {"broker": ResourceType.BROKER, "topic": ResourceType.TOPIC}
    for what in moving.throttles(cluster, *names):
        kind, name, key = what.split()
        put(cluster, ConfigResource(kinds[kind], name), key, None)


@pytest.fixture
def colleague(three_brokers: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Program:
    """Another shell, which knows nothing of the first one's moves."""
    return Program(tmp_path_factory.mktemp("home"), three_brokers.bootstrap)


@pytest.fixture
def topics(three_brokers: Sandbox, cluster: Cluster) -> Iterator[tuple[str, str]]:
    """Two topics on brokers 1 and 2, with so much in them that a slow move goes on and on."""
    both = placed(cluster, (1, 2)), placed(cluster, (1, 2))
    for topic in both:
        fill(three_brokers, topic, 5 * MB)
    yield both
    apply(plan_cancel(cluster, [TopicPartition(topic, 0) for topic in both]), cluster)


def put(cluster: Cluster, resource: ConfigResource, key: str, value: str | None) -> None:
    op = ConfigOp.DELETE if value is None else ConfigOp.SET
    assert apply(config_changes.plan_alter(cluster, {resource: [ConfigAlteration(key, op, value)]}),
                 cluster).ok  # fmt: skip


def move(shell: Program, topic: str, *words: str, to: Sequence[list[int]] = ([2, 3],)) -> Run:
    """Each of its partitions goes to these brokers: its only one to 2 and 3."""
    rows = [
        {"topic": topic, "partition": number, "replicas": brokers}
        for number, brokers in enumerate(to)
    ]
    file = shell.home / f"{topic}.json"
    file.write_text(json.dumps({"version": 1, "partitions": rows}))
    return shell.ok("reassign-partitions", "--reassignment-json-file", str(file), *words)


def own_file(run: Run) -> str:
    """The file that the shell wrote of a move."""
    (look,) = (row for row in run.stderr.splitlines() if row.startswith("look:"))
    return look.split()[-1]


def at_three(cluster: Cluster) -> dict[str, str]:
    return moving.throttles(cluster, brokers=(3,))


@pytest.mark.parametrize("by", ["file", "users-file", "topic"])
def test_a_cancelled_move_puts_back_the_rate_it_replaced(
    kafka: Program, cluster: Cluster, topics: tuple[str, str], by: str
) -> None:
    topic, _ = topics
    put(cluster, ConfigResource(ResourceType.TOPIC, topic), FOLLOWERS, "0:3,7:1")
    started = move(kafka, topic, *SLOW)
    assert "follower.replication.throttled.rate: 9MB/s -> 200kB/s" in started.stderr
    what = {
        "file": ("--reassignment-json-file", own_file(started)),
        "users-file": ("--reassignment-json-file", str(kafka.home / f"{topic}.json")),
        "topic": ("--topics", topic),
    }
    cancelled = kafka.ok("reassign-partitions", "--cancel", *what[by])
    assert "200kB/s -> 9MB/s" in cancelled.stderr, str(cancelled)
    assert moving.throttles(cluster, topic) == FOR_GOOD | {f"topic {topic} {FOLLOWERS}": "0:3,7:1"}


@pytest.mark.parametrize("last", [0, 1], ids=["the-first-ends-last", "the-second-ends-last"])
def test_the_last_of_two_moves_puts_back_what_stood_there_before_both(
    kafka: Program, cluster: Cluster, topics: tuple[str, str], last: int
) -> None:
    move(kafka, topics[0], *SLOW)
    begun = move(kafka, topics[1], "--throttle", "300kB/s")
    assert "throttled.rate: 200kB/s -> 300kB/s" in begun.stderr, "the plan hides what stands"
    assert "is not known" not in begun.stderr
    kafka.ok("reassign-partitions", "--cancel", "--topics", topics[1 - last])
    own = ("200000", "300000")[last]
    assert at_three(cluster) == {f"broker 3 {RATE}": own}, "the other move lost its throttle"
    kafka.ok("reassign-partitions", "--cancel", "--topics", topics[last])
    assert moving.throttles(cluster, *topics) == FOR_GOOD


def test_a_rate_that_a_move_has_set_again_is_not_lost_when_it_is_raised(
    kafka: Program, cluster: Cluster, topics: tuple[str, str]
) -> None:
    topic, _ = topics
    put(cluster, ConfigResource(ResourceType.BROKER, "3"), RATE, "200000")
    move(kafka, topic, *SLOW)
    move(kafka, topic, "--additional", "--throttle", "50MB/s", "--wait")
    assert moving.throttles(cluster, topic) == {f"broker 3 {RATE}": "200000"}


def test_a_move_that_loses_a_part_lifts_its_throttle_all_the_same(
    kafka: Program, cluster: Cluster, colleague: Program, topics: tuple[str, str]
) -> None:
    rows = [{"topic": topic, "partition": 0, "replicas": [2, 3]} for topic in topics]
    file = kafka.home / "both.json"
    file.write_text(json.dumps({"version": 1, "partitions": rows}))
    words = ("reassign-partitions", "--reassignment-json-file", str(file), *SLOW, "--wait")
    with ThreadPoolExecutor() as pool:
        running = pool.submit(kafka, *words)
        wait_for("both move", lambda: all(moving.moving(cluster, topic) for topic in topics))
        colleague.ok("reassign-partitions", "--cancel", "--topics", topics[1])
        for broker in "123":  # and now the rest may end
            for key in (LEADER_RATE, RATE):
                put(cluster, ConfigResource(ResourceType.BROKER, broker), key, "90000000")
        run = running.result()
    assert run.status == 1 and f"partition {topics[1]}:0 is on" in run.stderr, str(run)
    left = moving.throttles(cluster, *topics)
    # What nobody's throttle had set at these brokers stays, as it is neither's.
    assert not [what for what in left if "replicas" in what], f"lists are left: {left}"
    assert left[f"broker 3 {RATE}"] == "9000000", f"the throttle is left: {left}"


def test_a_throttle_that_was_raised_gives_way_to_what_stood_there_before(
    kafka: Program, cluster: Cluster, topics: tuple[str, str]
) -> None:
    topic, _ = topics
    move(kafka, topic, *SLOW)
    raised = move(kafka, topic, "--additional", "--throttle", "50MB/s")
    assert FOLLOWERS not in raised.stderr, "the plan tells what does not change"
    finished = kafka.ok("verify-reassign-partitions", "--finish")
    assert "50MB/s -> 9MB/s" in finished.stderr, str(finished)
    assert moving.throttles(cluster, topic) == FOR_GOOD


def test_a_lost_shells_throttle_is_put_back_without_its_file(
    kafka: Program, cluster: Cluster
) -> None:
    topic = placed(cluster, (1, 2))
    put(cluster, ConfigResource(ResourceType.TOPIC, topic), FOLLOWERS, "7:1")
    move(kafka, topic, "--throttle", "5MB/s")
    finished = kafka.ok("verify-reassign-partitions", "--finish")
    assert "5MB/s -> 9MB/s" in finished.stderr, str(finished)
    assert f"{FOLLOWERS}: 7:1 (no change: it stood there before the move" in finished.stderr
    assert moving.throttles(cluster, topic) == FOR_GOOD | {f"topic {topic} {FOLLOWERS}": "7:1"}


def test_a_rate_that_no_list_names_is_no_leftover(
    kafka: Program, cluster: Cluster, colleague: Program
) -> None:
    topic = placed(cluster, (1, 2))
    put(cluster, ConfigResource(ResourceType.TOPIC, topic), FOLLOWERS, "*")
    assert kafka.ok("verify-reassign-partitions").stdout == ""
    assert "throttles" not in kafka("health").stdout
    move(colleague, topic, "--throttle", "5MB/s")  # and it is never seen again
    put(cluster, ConfigResource(ResourceType.TOPIC, topic), LEADERS, None)
    found = colleague("verify-reassign-partitions")
    assert found.status == 1 and "broker 3" in found.stdout, "its own rate is not found"
    colleague.ok("verify-reassign-partitions", "--finish")
    assert moving.throttles(cluster, topic) == FOR_GOOD | {f"topic {topic} {FOLLOWERS}": "*"}


def test_a_plan_says_where_nobody_knows_what_to_put_back(
    kafka: Program, cluster: Cluster, colleague: Program, topics: tuple[str, str]
) -> None:
    first, second = topics
    move(colleague, first, *SLOW)
    begun = move(kafka, second, "--throttle", "300kB/s")
    assert "what stood there before is not known" in begun.stderr, str(begun)
    kafka.ok("reassign-partitions", "--cancel", "--topics", second)
    assert at_three(cluster) == {f"broker 3 {RATE}": "200000"}, "the other's move is let loose"
    colleague.ok("reassign-partitions", "--cancel", "--topics", first)
    assert moving.throttles(cluster, first, second) == FOR_GOOD
    kafka.ok("verify-reassign-partitions", "--finish")
    assert moving.throttles(cluster, first, second) == FOR_GOOD, "an old record was believed"


def test_a_move_without_throttle_does_not_hold_anothers(
    kafka: Program, cluster: Cluster, topics: tuple[str, str]
) -> None:
    first, second = topics
    # As slow as its leaders send, and whatever broker 3 takes in.
    put(cluster, ConfigResource(ResourceType.TOPIC, first), LEADERS, "0:1,0:2")
    for broker in "12":
        put(cluster, ConfigResource(ResourceType.BROKER, broker), LEADER_RATE, "200000")
    move(kafka, first)
    move(kafka, second, "--throttle", "400kB/s")
    assert at_three(cluster) == {f"broker 3 {RATE}": "400000"}
    kafka.ok("reassign-partitions", "--cancel", "--topics", second)
    assert at_three(cluster) == FOR_GOOD, "the other move was taken for a throttled one"


def test_a_topic_deleted_while_it_moves_leaves_no_throttle(
    kafka: Program, cluster: Cluster, topics: tuple[str, str]
) -> None:
    topic, _ = topics
    move(kafka, topic, *SLOW)
    kafka.ok("delete-topic", topic, "--yes")
    wait_for("the move is forgotten", lambda: not moving.moving(cluster, topic))
    assert kafka("verify-reassign-partitions").stdout.count("200kB/s") == 3
    kafka.ok("verify-reassign-partitions", "--finish")
    assert moving.throttles(cluster) == FOR_GOOD


@pytest.mark.parametrize("then", ["cancelled", "raised"])
def test_of_a_move_that_is_half_done_nothing_is_forgotten(
    kafka: Program, cluster: Cluster, three_brokers: Sandbox, then: str
) -> None:
    topic, aim = placed(cluster, (1, 2), (1, 3)), ([2, 3], [3, 2])
    fill(three_brokers, topic, 8 * MB)
    put(cluster, ConfigResource(ResourceType.BROKER, "2"), RATE, "9000000")
    file = own_file(move(kafka, topic, *SLOW, to=aim))
    # The half that is done: its copy is let through.
    put(cluster, ConfigResource(ResourceType.BROKER, "3"), RATE, "90000000")
    for broker in "123":
        put(cluster, ConfigResource(ResourceType.BROKER, broker), LEADER_RATE, "90000000")
    wait_for("half is done", lambda: list(moving.moving(cluster, topic)) == [1])
    verified = kafka("verify-reassign-partitions")
    assert "throttles that no move needs" not in verified.stdout, "its end lifts them"
    if then == "cancelled":
        kafka.ok("reassign-partitions", "--cancel", "--reassignment-json-file", file)
    else:
        move(kafka, topic, "--additional", "--throttle", "50MB/s", "--wait", to=aim)
    assert moving.throttles(cluster, topic) == FOR_GOOD | {f"broker 2 {RATE}": "9000000"}


def test_a_leftover_is_not_what_stood_there_before_the_next_move(
    kafka: Program, cluster: Cluster
) -> None:
    first, second = placed(cluster, (1, 2)), placed(cluster, (1, 2))
    begun = move(kafka, first, "--throttle", "5MB/s")  # and nobody lifts that
    wait_for("it is there", lambda: not moving.moving(cluster, first))
    move(kafka, second, "--throttle", "6MB/s", "--wait")
    assert at_three(cluster) == FOR_GOOD, "the leftover was put back"
    kafka.ok("verify-reassign-partitions", "--finish")
    assert moving.throttles(cluster, first, second) == FOR_GOOD
    put(cluster, ConfigResource(ResourceType.BROKER, "3"), RATE, "5000000")
    file = own_file(begun)
    kafka.ok("verify-reassign-partitions", "--finish", "--reassignment-json-file", file)
    assert at_three(cluster) == {f"broker 3 {RATE}": "5000000"}, "it was lifted a second time"


def test_a_move_without_throttle_lifts_nobodys(kafka: Program, cluster: Cluster) -> None:
    topic, other = placed(cluster, (1, 2)), placed(cluster, (1, 2))
    put(cluster, ConfigResource(ResourceType.TOPIC, other), FOLLOWERS, "0:3")
    standing = FOR_GOOD | {f"topic {other} {FOLLOWERS}": "0:3"}
    file = own_file(move(kafka, topic))
    kafka.ok("verify-reassign-partitions", "--finish", "--reassignment-json-file", file)
    kafka.ok("verify-reassign-partitions", "--finish", "--topics", topic)
    assert moving.throttles(cluster, topic, other) == standing


def test_a_move_at_the_rate_that_stands_for_good_leaves_it(
    kafka: Program, cluster: Cluster
) -> None:
    topic = placed(cluster, (1, 2))
    put(cluster, ConfigResource(ResourceType.BROKER, "1"), RATE, "9000000")
    move(kafka, topic, "--throttle", "9MB/s")
    kafka.ok("verify-reassign-partitions", "--finish")
    assert moving.throttles(cluster, topic) == FOR_GOOD | {f"broker 1 {RATE}": "9000000"}
    assert kafka.ok("verify-reassign-partitions").stdout == ""


def test_a_topic_that_lists_all_its_replicas_holds_nobodys_throttle(
    kafka: Program, cluster: Cluster, topics: tuple[str, str]
) -> None:
    first, _ = topics
    second = placed(cluster, (1, 2))
    put(cluster, ConfigResource(ResourceType.TOPIC, first), FOLLOWERS, "*")
    put(cluster, ConfigResource(ResourceType.TOPIC, first), LEADERS, "0:1,0:2")
    for broker in "12":
        put(cluster, ConfigResource(ResourceType.BROKER, broker), LEADER_RATE, "100000")
    move(kafka, first)
    move(kafka, second, "--throttle", "100kB/s", "--wait")
    assert moving.moving(cluster, first), "the other move was too fast to say anything"
    assert at_three(cluster) == FOR_GOOD


def test_a_move_that_goes_elsewhere_takes_its_first_throttle_with_it(
    kafka: Program, cluster: Cluster, three_brokers: Sandbox
) -> None:
    topic = placed(cluster, (1,))
    fill(three_brokers, topic, 5 * MB)
    move(kafka, topic, *SLOW, to=([3],))
    elsewhere = ("--additional", "--throttle", "50MB/s", "--wait")
    move(kafka, topic, *elsewhere, to=([2],))
    assert moving.throttles(cluster, topic) == FOR_GOOD


def test_the_end_of_an_earlier_move_leaves_the_rate_of_a_later_one(
    kafka: Program, cluster: Cluster, topics: tuple[str, str]
) -> None:
    first, (second, _) = placed(cluster, (1, 2)), topics
    file = own_file(move(kafka, first, "--throttle", "5MB/s"))
    move(kafka, second, *SLOW)
    kafka.ok("verify-reassign-partitions", "--finish", "--reassignment-json-file", file)
    assert at_three(cluster) == {f"broker 3 {RATE}": "200000"}, "the later one was let loose"
    kafka.ok("reassign-partitions", "--cancel", "--topics", second)
    assert moving.throttles(cluster, first, second) == FOR_GOOD


def test_what_a_colleague_removes_unknowing_is_put_back_by_who_knows(
    kafka: Program, cluster: Cluster, colleague: Program, topics: tuple[str, str]
) -> None:
    topic, _ = topics
    move(kafka, topic, *SLOW)
    raised = move(colleague, topic, "--additional", "--throttle", "50MB/s", "--wait")
    assert "is not known" in raised.stderr
    kafka.ok("verify-reassign-partitions", "--finish")
    assert moving.throttles(cluster, topic) == FOR_GOOD
