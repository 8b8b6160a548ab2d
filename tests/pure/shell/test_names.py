"""Completion of groups, users, quotas, rules, features and times."""

from __future__ import annotations

from pathlib import Path
from types import MappingProxyType

import pytest
from prompt_toolkit.document import Document

from kafka_shell.admin.cluster.model import Feature
from kafka_shell.admin.configs.model import ConfigResource, ResourceType
from kafka_shell.admin.quotas.model import DEFAULT, Quota, QuotaEntity
from kafka_shell.base.results import Failure
from kafka_shell.base.structs import replace
from kafka_shell.commands.acls.rules import ACL_RULE, parse_rule
from kafka_shell.commands.quotas.spec import QUOTA_KEY, QUOTA_PAIR
from kafka_shell.language import kinds
from kafka_shell.language.kinds import Fragment, Kind
from kafka_shell.language.tokens import tokenize
from kafka_shell.view.match import NameIndex
from kafka_shell.view.view import Part, TopicsOf
from tests.pure.shell.test_completer import NOW, VIEW, Bench

NAMED = replace(
    VIEW,
    groups=Part(NameIndex(["billing", "shipping"]), NOW),
    principals=Part(NameIndex(["User:alice", "User:bob", "User:*"]), NOW),
    users=Part(NameIndex(["alice", "bob"]), NOW),
    client_ids=Part(NameIndex(["checkout"]), NOW),
    client_metrics=Part(NameIndex(["slow"]), NOW),
    transactional_ids=Part(NameIndex(["ledger-1", "ledger-2"]), NOW),
    log_dirs=Part(NameIndex(["/data/a", "/data/b"]), NOW),
    tokens=Part(NameIndex(["QWx9", "Zk3f"]), NOW),
    quotas=Part(
        (
            Quota(QuotaEntity(user="alice"), "producer_byte_rate", 5_000_000.0),
            Quota(QuotaEntity(user=DEFAULT), "request_percentage", 200.0),
            Quota(QuotaEntity(ip="10.1.2.3"), "connection_creation_rate", 10.0),
        ),
        NOW,
    ),
    features=Part(
        (
            Feature("metadata.version", 20, 7, 29, release="4.0-IV3"),
            Feature("share.version", 0, 0, 1),
        ),
        NOW,
    ),
)  # fmt: skip


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path, NAMED)


@pytest.mark.parametrize(
    ("text", "offered"),
    [
        ("describe-group ", ["billing", "shipping"]),
        ("describe-user a", ["alice"]),
        ("describe-quotas --client-id ch", ["checkout"]),
        ("describe-quotas --ip ", ["10.1.2.3"]),
        ("list-acls --principal User:b", ["User:bob"]),
        ("describe-transactions ", ["ledger-1", "ledger-2"]),
        ("fence-producer ledger-2", ["ledger-2"]),
        ("describe-configs --client-metrics s", ["slow"]),
        ("alter-log-dirs orders:0 --log-dir ", ["/data/a", "/data/b"]),
        ("describe-log-dirs --log-dir /data/b", ["/data/b"]),
        ("expire-token Q", ["QWx9"]),
        ("list-acls --delegation-token z", ["Zk3f"]),
        ("config-command --entity-type users --entity-name ", ["alice", "bob"]),
        ("describe-producers ord", ["orders", "payments.orders"]),
        ("describe-producers orders:", ["0", "1", "2"]),
        ("describe-producers orders:0,", ["0", "1", "2"]),
        ("describe-producers orders:0-2", ["2"]),
    ],
)
def test_names_of_the_cluster(bench: Bench, text: str, offered: list[str]) -> None:
    assert list(bench.menu(text)) == offered


def test_a_partition_goes_behind_its_topic(bench: Bench) -> None:
    assert bench.lines("describe-producers orders:0,1") == ["describe-producers orders:0,1"]
    assert "find-hanging-transactions orders:2" in bench.lines("find-hanging-transactions orders:")


def test_quota_keys_have_descriptions_and_values(bench: Bench) -> None:
    menu = bench.menu("alter-quotas --user alice ")
    assert next(iter(menu)) == "producer_byte_rate=", "what is set comes first"
    assert menu["producer_byte_rate="] == "bytes sent per second  now 5MB/s"
    assert "connection_creation_rate=" not in menu, "that is for addresses"
    assert list(bench.menu("alter-quotas --ip 10.1.2.3 ")) == ["connection_creation_rate="]
    assert "now 200%" in bench.menu("alter-quotas --user-default ")["request_percentage="]
    assert list(bench.menu("alter-quotas --user alice --delete-config ")) == ["producer_byte_rate"]
    given = bench.menu("alter-quotas --user alice producer_byte_rate=1MB/s prod")
    assert "producer_byte_rate=" not in given


def test_quota_values(bench: Bench) -> None:
    values = bench.menu("alter-quotas --user alice producer_byte_rate=")
    assert values["5MB/s"] == "now"
    assert "10MB/s" in values


def test_the_same_in_config_command(bench: Bench) -> None:
    line = "config-command --alter --entity-type users --entity-name alice --add-config "
    assert bench.menu(line)["producer_byte_rate="].endswith("now 5MB/s")
    assert "retention.ms=" not in bench.menu(line)


def test_a_quota_is_documented(bench: Bench) -> None:
    for line in ("alter-quotas --user alice producer_byte_rate=", "describe-quotas "):
        found = bench.completer.known(Document(line), "producer_byte_rate")
        assert found is not None
        key, _, text = found
        assert (key, "per second" in text) == ("producer_byte_rate", True)
    assert bench.completer.known(Document("describe-topic orders"), "retention.ms") is None


def test_a_rule_is_completed_word_by_word(bench: Bench) -> None:
    line = "alter-acls --topic orders --add "
    assert bench.lines(line) == [f"{line}'allow ", f"{line}'deny "]
    assert bench.lines(f"{line}'al") == [f"{line}'allow "]
    assert f"{line}'allow User:bob " in bench.lines(f"{line}'allow ")
    operations = bench.menu(f"{line}'allow User:bob ")
    assert {"Read", "Write", "All"} <= set(operations)
    assert "ClusterAction" not in operations, "nobody does that to a topic"
    assert bench.lines(f"{line}'allow User:bob Read,Wr")[0] == f"{line}'allow User:bob Read,Write'"
    assert bench.lines(f"{line}'allow User:bob Read ") == [f"{line}'allow User:bob Read from "]
    cluster = bench.menu("alter-acls --cluster --remove 'deny User:bob ")
    assert "ClusterAction" in cluster and "Read" not in cluster


@pytest.mark.parametrize("name", ["User:CN=Bob Smith,O=x", "User:O'Brien", 'User:a"b\\c'])
@pytest.mark.parametrize("typed", ["'allow ", "'allow User:", "'allow \"User:", '"allow User:'])
def test_any_principal_is_one_word_of_a_rule(tmp_path: Path, name: str, typed: str) -> None:
    bench = Bench(tmp_path, replace(VIEW, principals=Part(NameIndex([name]), NOW)))
    (line,) = bench.lines(f"alter-acls --topic orders --add {typed}")
    completed = bench.lines(f"{line}Rea")[0]
    assert completed == f"{line}Read{typed[0]}"
    assert parse_rule(tokenize(completed).words[-1].text).principal == name


def test_features_and_their_levels(bench: Bench) -> None:
    menu = bench.menu("update-features ")
    assert menu["metadata.version="] == "level 20 (4.0-IV3)  up to 29"
    assert menu["share.version="] == "off  up to 1"
    levels = bench.menu("update-features metadata.version=")
    assert next(iter(levels.items())) == ("29", "highest level")
    assert levels["20"] == "now 4.0-IV3"
    assert list(bench.menu("update-features share.version=")) == ["1", "0"]


def test_times(bench: Bench) -> None:
    menu = bench.menu("list-offsets --time ")
    assert {"earliest", "-1h", "now"} <= set(menu)
    assert menu["-1h"] == "one hour ago"


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("describe-group ", "groups"),
        ("alter-quotas --user alice ", "quotas"),
        ("alter-acls --topic orders --add 'allow ", "principals"),
        ("update-features ", "features"),
        ("fence-producer ", "transactional_ids"),
        ("alter-log-dirs orders --log-dir ", "log_dirs"),
        ("renew-token ", "tokens"),
        ("config-command --alter --entity-type clients --entity-name a --add-config ", "quotas"),
    ],
)
def test_a_part_is_requested_when_a_line_needs_it(tmp_path: Path, text: str, part: str) -> None:
    bench = Bench(tmp_path, VIEW)
    bench.menu(text)
    assert part in bench.cache.wishes
    assert bench.completer.waits_for(Document(text)), "the menu is not drawn again when it comes"
    bench = Bench(tmp_path, VIEW)
    bench.menu("describe-topic ord")
    assert bench.cache.wishes == []


@pytest.mark.parametrize(
    ("kind", "text", "fragment"),
    [
        (kinds.TOPIC_PARTITIONS, "orders", Fragment(0)),
        (kinds.TOPIC_PARTITIONS, "orders:", Fragment(7, "partition", "orders")),
        (kinds.TOPIC_PARTITIONS, "orders:0,3-", Fragment(11, "partition", "orders")),
        (ACL_RULE, "", Fragment(0, "permission", "")),
        (ACL_RULE, "allow ", Fragment(6, "principal", "allow")),
        (ACL_RULE, "allow User:b Read,", Fragment(18, "operation", "allow User:b")),
        (ACL_RULE, "allow User:b Read from ", Fragment(23, "host", "allow User:b Read from")),
        (ACL_RULE, "a b c d e f", Fragment(10, "done", "a b c d e")),
        (QUOTA_PAIR, "producer_byte_rate=5", Fragment(19, "value", "producer_byte_rate")),
        (QUOTA_KEY, "a,b", Fragment(2)),
    ],
)
def test_the_part_that_is_being_typed(kind: Kind, text: str, fragment: Fragment) -> None:
    assert kind.last_fragment(text) == fragment


def test_why_there_are_no_names_is_said(tmp_path: Path) -> None:
    why = Failure("CLUSTER_AUTHORIZATION_FAILED", "not authorized", hint="Requires DESCRIBE.")
    refused = replace(VIEW, users=Part(NameIndex(), NOW, why))
    bench = Bench(tmp_path, refused)
    said = bench.completer.unread(Document("describe-user "))
    assert said == "users could not be read: not authorized. Requires DESCRIBE."
    assert bench.completer.unread(Document("describe-group ")) == ""


def test_an_incomplete_list_is_marked(tmp_path: Path) -> None:
    why = Failure("no-answer", "broker 2 has not responded for 10 s")
    orders = ConfigResource(ResourceType.TOPIC, "orders")
    view = replace(
        NAMED,
        transactional_ids=Part(NameIndex(["ledger-1"]), NOW, why),
        log_dirs=Part(NameIndex(), NOW, why),
        configs=MappingProxyType({orders: Part({}, NOW, why)}),
        group_topics=MappingProxyType({TopicsOf("billing"): Part((), NOW, why)}),
    )
    unread = Bench(tmp_path, view).completer.unread
    about = f": {why.message}"
    line = "describe-transactions "
    assert unread(Document(line)) == "some transactional IDs may be missing" + about
    line = "alter-log-dirs orders:0 --log-dir "
    assert unread(Document(line)) == "log directories could not be read" + about
    line = "alter-configs orders "
    assert unread(Document(line)) == "configs of topic orders could not be read" + about
    line = "reset-offsets billing --topic "
    assert unread(Document(line)) == "topics of billing could not be read" + about


def test_where_offsets_can_be_reset_to(bench: Bench) -> None:
    line = "reset-offsets billing --to "
    assert {"earliest", "latest", "-1h", "group:", "file:"} <= set(bench.menu(line))
    assert bench.lines(f"{line}group:sh") == [f"{line}group:shipping"]
    assert {"latest", "-1h"} <= set(bench.menu("delete-records orders:0 --to "))
    assert "Ongoing" in bench.menu("list-transactions --state On")


def test_groups_after_a_comma_are_single_names(tmp_path: Path) -> None:
    names = ["billing", "a,b", "", "x*", "/a"]
    bench = Bench(tmp_path, replace(NAMED, groups=Part(NameIndex(names), NOW)))
    assert set(bench.menu("describe-group billing,")) == {"billing", "x*", "/a"}
    assert "a,b" in bench.menu("describe-group ")
    assert "a,b" in bench.menu("describe-group --group ")
    assert bench.lines("describe-group billing,x") == ["describe-group billing,'x*'"]
    assert bench.completer.preview(Document("describe-group b*")) == "1 group: billing"


def test_the_condition_of_a_wait(bench: Bench) -> None:
    assert set(bench.menu("wait-until ")) >= {"healthy", "lag"}
    assert bench.lines('wait-until "lag sh') == ['wait-until "lag shipping < 1000"']
    assert bench.lines("wait-until 'lag sh") == ["wait-until 'lag shipping < 1000'"]
