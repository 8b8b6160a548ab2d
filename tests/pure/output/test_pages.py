from __future__ import annotations

from kafka_shell.admin.cluster.model import (
    ClusterMetadata,
    Finding,
    Health,
    HealthDetails,
    Quorum,
    QuorumReplica,
    Severity,
)
from kafka_shell.admin.configs.model import ConfigResource, ConfigSource, ResourceType
from kafka_shell.admin.topics.model import TopicDescription
from kafka_shell.base.outcome import EntryDetails, JournalEntry
from kafka_shell.base.results import Failure
from kafka_shell.base.units import ConfigType
from kafka_shell.commands.program.render import SandboxReport
from kafka_shell.output.humanize import local_time
from kafka_shell.wire.model import Broker, Partition, Topic, TopicSummary
from tests.support.samples import BROKER, ENTRIES, TOPIC, drawn, entry

TOPIC_PAGE = """\
topic orders   3 partitions   replication factor 3   1 offline   2 under-replicated   \
id VtX0mX9HSZ2p1J8mG7qk3A

PARTITION  LEADER  EPOCH  REPLICAS  ISR    OFFLINE
        0       1      5  1,2,3     1,2,3  -
        1       3      5  2,3,1     3,1    -
        2       -      6  3,1,2     -      3,1,2

CONFIG          VALUE
cleanup.policy  compact
"""


def test_a_topic() -> None:
    assert drawn(TopicDescription(TOPIC, ENTRIES[:1])) == TOPIC_PAGE


def test_a_filter_leaves_the_partitions_it_left() -> None:
    shown = TopicDescription(TOPIC, shown=TOPIC.partitions[1:2])
    lines = drawn(shown).splitlines()
    assert [line.split() for line in lines[2:]] == [
        ["PARTITION", "LEADER", "EPOCH", "REPLICAS", "ISR"],
        ["1", "3", "5", "2,3,1", "3,1"],
    ]


def test_topics_are_parted_by_a_blank_line() -> None:
    page = TopicDescription(TOPIC, ENTRIES[:1])
    assert drawn([page, page]) == TOPIC_PAGE + "\n" + TOPIC_PAGE


def test_the_summary_flows_on_a_narrow_terminal() -> None:
    lines = drawn(TopicDescription(TOPIC), width=60).splitlines()
    assert lines[:2] == [
        "topic orders   3 partitions   replication factor 3",
        "  1 offline   2 under-replicated   id VtX0mX9HSZ2p1J8mG7qk3A",
    ]


def test_the_cluster() -> None:
    brokers = (
        Broker(1, "kafka-1", 9092, "a", False, "4.3"),
        Broker(2, "kafka-2", 9092, "b", True, "4.3"),
    )
    assert drawn(ClusterMetadata("5L6g", 2, brokers, 41, 2, 3120)) == (
        "cluster 5L6g   controller 2   2 brokers   41 topics (2 internal)   3,120 partitions\n"
        "\n"
        "BROKER  HOST     PORT  RACK  VERSION  ROLE\n"
        "     1  kafka-1  9092  a     4.3      -\n"
        "     2  kafka-2  9092  b     4.3      controller\n"
    )


def test_a_cluster_without_controller_is_marked() -> None:
    assert "no controller" in drawn(ClusterMetadata("5L6g", None, (), 0, 0, 0))


def test_the_quorum() -> None:
    replicas = (QuorumReplica(2, "leader", 100, 0), QuorumReplica(1, "voter", 97, 3))
    assert drawn(Quorum(2, 17, 100, replicas)) == (
        "metadata quorum   leader 2   epoch 17   high watermark 100\n"
        "\n"
        "ID  ROLE    LOG-END-OFFSET  LAG\n"
        " 2  leader             100    0\n"
        " 1  voter               97    3\n"
    )


def test_health_is_worst_first_with_the_command_that_looks_closer() -> None:
    findings = (
        Finding(Severity.NOTE, "off-preferred", "leaders are off their preferred replica", 2),
        Finding(
            Severity.CRITICAL,
            "offline",
            "12 partitions have no leader",
            12,
            ("orders-2", "orders-3"),
        ),
    )
    assert drawn(Health("5L6g", 3, 41, 312, findings)) == (
        "unhealthy: 1 critical   cluster 5L6g: 3 brokers, 41 topics, 312 partitions\n"
        "\n"
        "CRITICAL     12 partitions have no leader\n"
        "             orders-2, orders-3 and 10 more\n"
        "             describe-topic --unavailable-partitions\n"
        "NOTE         1 note: health --verbose\n"
    )
    assert drawn(HealthDetails("5L6g", 3, 41, 312, findings)).startswith(
        "unhealthy: 1 critical   cluster 5L6g: 3 brokers, 41 topics, 312 partitions\n"
        "\n"
        "NOTE         leaders are off their preferred replica\n"
        "             elect-leaders --all-topic-partitions --dry-run\n"
    )


def test_health_counts_its_verdicts() -> None:
    bad, doubt, unread = (
        Finding(s, "x", "y", 1) for s in (Severity.CRITICAL, Severity.WARNING, Severity.NOT_CHECKED)
    )
    for findings, verdict in (
        ((bad, bad, doubt), "unhealthy: 2 critical, 1 warning "),
        ((doubt, doubt), "unhealthy: 2 warnings "),
        ((doubt, unread), "unhealthy: 1 warning, 1 not checked "),
        ((unread,), "unknown: 1 not checked "),
    ):
        health = Health("5L6g", 3, 41, 312, findings)
        assert drawn(health).startswith(verdict) and not health.ok


def test_an_entry_of_the_journal_has_whole_lines_to_be_copied() -> None:
    undo = ("alter-configs b " + "k=v " * 40 + "z=1", "delete-topic a")
    of_first = ("0123abcd", 1.5, "5L6g", "b:9092", "the command", "done", (), undo)
    entries = (
        JournalEntry(*of_first),
        JournalEntry("0123abce", 1.0, "5L6g", "b:9092", "another", "failed", (), ()),
    )
    first = f"0123abcd  {local_time(1000)}  b:9092  done  the command\n"
    listed = f"{first}0123abce  {local_time(1000)}  b:9092  failed  another\n"
    assert drawn(iter(entries)) == listed
    wrapped = first.replace("the command", "the\n          command")
    assert drawn(entries[:1], width=60) == wrapped, "between words"
    page = f"{first}  undo:\n  {undo[0]}\n  delete-topic a\n"
    assert drawn((EntryDetails(*of_first),), width=60) == page


def test_health_is_friendly_when_all_is_well() -> None:
    assert drawn(Health("5L6g", 1, 2, 3, ())) == (
        "healthy   cluster 5L6g: 1 broker, 2 topics, 3 partitions\n"
    )
    note = Finding(Severity.NOTE, "moves", "1 partition being reassigned", 1)
    assert drawn(Health("5L6g", 1, 2, 3, (note,))).startswith("healthy, 1 note ")


def test_configs_of_one_resource() -> None:
    assert drawn(ENTRIES) == (
        "KEY             VALUE    SOURCE\n"
        "cleanup.policy  compact  topic\n"
        "retention.ms    7d       default\n"
        "segment.bytes   1GiB     static broker\n"
    )


def test_configs_of_several_resources_have_headings_marks_and_documentation() -> None:
    secret = entry("ssl.key.password", None, ConfigSource.STATIC_BROKER, BROKER, sensitive=True)
    fixed = entry("node.id", "1", ConfigSource.STATIC_BROKER, BROKER, read_only=True)
    told = entry(
        "x.list", "", resource=BROKER, type=ConfigType.LIST, documentation="What it is.\n\nMore."
    )
    unset = entry("y", None, resource=BROKER)
    assert drawn([ENTRIES[0], secret, fixed, told, unset]) == (
        "topic orders\n"
        "KEY             VALUE    SOURCE\n"
        "cleanup.policy  compact  topic\n"
        "\n"
        "broker 1\n"
        "KEY               VALUE        SOURCE         NOTE\n"
        "ssl.key.password  (sensitive)  static broker  -\n"
        "node.id           1            static broker  read-only\n"
        'x.list            ""           default        -\n'
        "    What it is.\n"
        "\n"
        "    More.\n"
        "y                 -            default        -\n"
    )


def test_configs_are_stacked_where_keys_leave_no_room() -> None:
    long = entry("follower.replication.throttled.replicas", "0:1,0:2,1:1,1:2,2:1,2:2,3:1,3:2")
    assert drawn([long], width=50) == (
        "KEY  VALUE                            SOURCE\n"
        "follower.replication.throttled.replicas\n"
        "     0:1,0:2,1:1,1:2,2:1,2:2,3:1,3:2  default\n"
    )


def test_configs_keep_a_line_each_where_key_and_value_fit() -> None:
    entries = [
        entry("cleanup.policy", "compact", ConfigSource.STATIC_BROKER),
        entry("flush.messages", "9223372036854775807"),
        entry("message.timestamp.after.max.ms", "3600000", type=ConfigType.LONG),
        entry("retention.ms", "1", ConfigSource.DYNAMIC_TOPIC, read_only=True),
        entry("segment.ms", "2"),
    ]
    assert drawn(entries, width=48) == (
        "KEY             VALUE                SOURCE\n"
        "cleanup.policy  compact              static bro…\n"
        "flush.messages  9223372036854775807  default\n"
        "message.timestamp.after.max.ms\n"
        "                1h                   default\n"
        "retention.ms    1ms                  topic\n"
        "segment.ms      2ms                  default\n"
    )
    assert drawn(entries[:3], width=61).splitlines()[3] == (
        "message.timestamp.after.max.ms  1h                   default"
    )
    assert all(len(line) <= 40 for line in drawn(entries, width=40).splitlines())


def test_levels_of_loggers_have_no_source() -> None:
    logger = ConfigResource(ResourceType.BROKER_LOGGER, "1")
    level = entry("kafka.log", "INFO", ConfigSource.DYNAMIC_BROKER_LOGGER, logger)
    assert drawn([level]) == "KEY        VALUE\nkafka.log  INFO\n"


def test_empty_facts_are_left_out() -> None:
    assert drawn(SandboxReport("up", "/s", kafka_version="4.3.1", brokers=1)) == (
        "state          up\nfolder         /s\nkafka-version  4.3.1\nbrokers        1\n"
    )


def test_partitions_with_different_replication_factors_are_mixed() -> None:
    topic = Topic(
        "t", "", False, (Partition("t", 0, 1, 0, (1,), (1,)), Partition("t", 1, 1, 0, (1, 2), (1,)))
    )
    assert "replication factor mixed (1-2)" in drawn(TopicDescription(topic))
    summary = TopicSummary("t", "", False, 2, 1, max_replication_factor=2)
    assert " mixed (1-2)" in drawn((summary,))


def test_a_controller_that_could_not_be_read_is_not_known() -> None:
    why = Failure("CLUSTER_AUTHORIZATION_FAILED", "denied", 31, "Requires DESCRIBE on the cluster.")
    broker = Broker(1, "h", 9092, state="up")
    found = ClusterMetadata("5L6g", None, (broker,), 0, 0, 0, not_read=(("controller", why),))
    assert "controller unknown" in drawn(found) and "not read: controller: denied" in drawn(found)
    assert not found.ok, "what was not read is not fine"
    assert "no controller" in drawn(ClusterMetadata("5L6g", None, (broker,), 0, 0, 0))
    absent = Broker(4, "", 0, state="absent")
    assert "absent" in drawn(ClusterMetadata("5L6g", 1, (broker, absent), 0, 0, 0))
