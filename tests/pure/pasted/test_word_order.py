"""Reordered words and lines of other tools are answered with a command that can be run."""

import pytest

from kafka_shell.commands import REGISTRY
from kafka_shell.language.tokens import tokenize
from kafka_shell.pasted.kafka_tools import translate
from kafka_shell.pasted.other_tools import reorder


def words(text: str) -> list[str]:
    return [word.text for word in tokenize(text).words]


@pytest.mark.parametrize(
    ("typed", "line"),
    [
        ("describe topic Orders", "describe-topic Orders"),
        ("list topics", "list-topics"),
        ("topic list", "list-topics"),
        ("topics list --long", "list-topics --long"),
        ("get topics 'pay.*'", "list-topics 'pay.*'"),
        ("delete topic foo", "delete-topic foo"),
        ("rm topic foo", "delete-topic foo"),
        ("create topic x --partitions 3", "create-topic x --partitions 3"),
        ("create topic", "help create-topic"),
        ("topics list --nonsense", "help list-topics"),
        ("list brokers", "cluster-metadata"),
        ("describe cluster", "cluster-metadata"),
        ("list users", "scram-credentials --describe"),
        ("describe user alice", "describe-user alice"),
        ("create user alice", "help scram-credentials"),
        ("list configs", "help describe-configs"),
        ("describe configs orders.placed", "describe-configs orders.placed"),
        ("list configs group", "list-configs group"),
        ("describe consumer group g", "describe-group g"),
        ("describe log dirs", "describe-log-dirs"),
        ("delete broker 3", "unregister-broker 3"),
        ("list features", "describe-features"),
        ("add acl --topic t --add 'allow User:b Read'",
         "alter-acls --topic t --add 'allow User:b Read'"),
        ("reset offsets g --to latest", "reset-offsets g --to latest"),
    ],
)  # fmt: skip
def test_verb_and_noun_in_any_order(typed: str, line: str) -> None:
    assert reorder(words(typed), REGISTRY) == line


@pytest.mark.parametrize(
    "typed", ["", "list", "topic", "topic orders", "orders list", "set pager off", "list nothing"]
)
def test_what_is_not_a_verb_and_a_noun(typed: str) -> None:
    assert reorder(words(typed), REGISTRY) == ""


@pytest.mark.parametrize(
    ("pasted", "line"),
    [
        ("rpk topic list --brokers h:9092", "list-topics --broker h:9092"),
        ("rpk topic create x -p 3 -r 1 -c retention.ms=1000",
         "create-topic x --partitions 3 --replication-factor 1 --config retention.ms=1000"),
        ("rpk group describe g", "describe-group g"),
        ("kaf group reset g --topic orders* --to earliest",
         "reset-offsets g --to earliest --topic 'orders*'"),
        ("rpk group seek g --to start", "reset-offsets g --to earliest"),
        ("rpk group seek start --to=end", "reset-offsets start --to latest"),
        ("rpk group seek g --to 1622505600", "reset-offsets g --to 1622505600000"),
        ("rpk group seek g --to=1622505600", "reset-offsets g --to 1622505600000"),
        ("rpk group seek g --to 1622505600123", "reset-offsets g --to 1622505600123"),
        ("rpk group seek g --to 1622505600123456789", "reset-offsets g --to 1622505600123"),
        ("rpk group seek g --to 42", "help reset-offsets"),
        ("rpk group seek g --to -5", "help reset-offsets"),
        ("rpk cluster info", "cluster-metadata"),
        ("rpk cluster health", "health"),
        ("rpk cluster logdirs describe", "describe-log-dirs"),
        ("rpk security acl list", "list-acls"),
        ("rpk topic consume x", "read-records x --from earliest --follow"),
        ("rpk topic consume x -o end", "read-records x --from latest --follow"),
        ("rpk topic consume x -n 1 -o start", "read-records x --from earliest --limit 1"),
        ("rpk topic consume x -p 2 --offset=7 -n 1 --brokers h:1",
         "read-records x:2 --from 7 --limit 1 --broker h:1"),
        ("rpk topic consume x -o 123456789012",
         "read-records x --from offset:123456789012 --follow"),
        ("kcat -t x -o 123456789012 -e", "read-records x --from offset:123456789012"),
        ("rpk topic consume x -g team", "help read-records"),
        ("kaf produce x", "write-record x --from-file=- --lines"),
        ("kcat -L", "describe-topic"),
        ("kcat -b h:9092 -L -t Orders", "describe-topic Orders --broker h:9092"),
        ("kafkacat -C -t x", "read-records x --from earliest --follow"),
        ("kcat -C -t x -p 2 -o -5 -e -J -b h:9092",
         "read-records x:2 --last 5 --broker h:9092 --output json"),
        ("kcat -t x -oend -q", "read-records x --from latest --follow"),
        ("kcat -P -t x -z zstd", "write-record x --from-file=- --lines --compression-type zstd"),
        ("kcat -G g x", "help read-records"),
        ("kcat -P -t x -H a=b", "help write-record"),
        ("kcat -P -t x -D;", "help write-record"),
        ("kcat -P -t x -D ;", "help write-record"),
        ("kcat -Ct x", "help read-records"),
        ("kcat -Q -t x:0:1", "help list-offsets"),
        ("kcl topic list", "list-topics"),
        ("kcl metadata", "cluster-metadata"),
        ("kaf topics", "list-topics"),
        ("kaf node ls", "cluster-metadata"),
        ("/usr/bin/kaf group describe g", "describe-group g"),
        ("kafkactl get consumer-groups", "list-groups"),
        ("kafkactl alter topic x --partitions 3", "alter-topic x --partitions 3"),
        ("kafkactl reset consumer-group-offset g --oldest", "help reset-offsets"),
    ],
)  # fmt: skip
def test_lines_of_other_tools(pasted: str, line: str) -> None:
    assert translate(words(pasted), REGISTRY) == line
