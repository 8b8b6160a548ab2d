"""A pasted line of a Kafka tool is answered with the equivalent command."""

import re

import pytest

from kafka_shell.base.errors import UsageError
from kafka_shell.commands import REGISTRY
from kafka_shell.language.argv import split, without_prefix
from kafka_shell.language.parse import parse
from kafka_shell.language.render import render
from kafka_shell.language.tokens import tokenize
from kafka_shell.pasted.kafka_tools import translate
from tests.support.places import ROOT

AT = " --bootstrap-server h:9092"


def here(text: str) -> str | None:
    return translate([word.text for word in tokenize(text).words], REGISTRY)


@pytest.mark.parametrize(
    ("pasted", "line"),
    [
        ("kafka-topics.sh --list", "list-topics"),
        ("bin/kafka-topics.sh --exclude-internal --list" + AT,
         "list-topics --exclude-internal --broker h:9092"),
        ("/opt/kafka/bin/kafka-topics.sh --describe --topic x.y", "describe-topic x.y"),
        ("kafka-topics --describe --topic=x --unavailable-partitions",
         "describe-topic x --unavailable-partitions"),
        ("kafka-topics.sh --describe --under-replicated-partitions --zookeeper z:2181",
         "describe-topic --under-replicated-partitions"),
        ("kafka-topics.sh --describe --topic 'pay.*,orders'", "describe-topic '/pay.*/,orders'"),
        ("kafka-topics.sh --create --topic t --partitions 3 --replication-factor 2 --config "
         "retention.ms=1000 --config cleanup.policy=compact,delete --if-not-exists",
         "create-topic t --partitions 3 --replication-factor 2 --config retention.ms=1000 "
         "--config cleanup.policy=compact,delete --if-not-exists"),
        ("kafka-topics.sh --create --topic t --replica-assignment 1:2,2:1",
         "create-topic t --replica-assignment 1:2,2:1"),
        ("kafka-topics.sh --alter --topic t --partitions 6 --command-config a.properties",
         "alter-topic t --partitions 6 --command-config a.properties"),
        ("kafka-topics.sh --alter --topic t --config a=b --delete-config c,d",
         "alter-topic t --config a=b --delete-config c,d"),
        ("kafka-topics.sh --delete --topic t --if-exists", "delete-topic t --if-exists"),
        ("kafka-configs.sh --describe --entity-type topics --entity-name t" + AT,
         "describe-configs t --broker h:9092"),
        ("kafka-configs.sh --describe --topic t --all", "describe-configs t --all"),
        ("kafka-console-consumer.sh --topic t --from-beginning --max-messages 5" + AT,
         "read-records t --from earliest --limit 5 --follow --broker h:9092"),
        ("kafka-console-consumer --topic t --partition 1 --offset 7 --timeout-ms 1000 --property"
         " print.key=true --consumer.config c.properties",
         "read-records t:1 --from 7 --command-config c.properties"),
        ("kafka-console-consumer --topic t --partition 1 --offset 123456789012",
         "read-records t:1 --from offset:123456789012 --follow"),
        ("kafka-console-consumer.sh --topic t --timeout-ms 1000",
         "read-records t --from latest --follow"),
        ("kafka-console-consumer.sh --topic t --from-beginning --timeout-ms 1000",
         "read-records t --from earliest"),
        ("kafka-console-consumer.sh --include 'a.*' --isolation-level read_committed",
         "read-records '/a.*/' --from latest --follow --isolation-level read_committed"),
        ("kafka-console-producer.sh --topic t --compression-codec gzip" + AT,
         "write-record t --from-file=- --lines --compression-type gzip --broker h:9092"),
        ("kafka-client-metrics.sh --list" + AT,
         "list-configs client-metrics --broker h:9092"),
        ("kafka-client-metrics.sh --describe", "describe-configs --client-metrics '*'"),
        ("kafka-client-metrics.sh --alter --name m --interval 1000 --metrics org.a,org.b",
         "alter-configs --client-metrics m interval.ms=1000 metrics=org.a,org.b"),
        ("kafka-client-metrics.sh --delete --name m",
         "alter-configs --client-metrics m --delete-config interval.ms,match,metrics"),
        ("kafka-configs.sh --describe --entity-type topics", "describe-configs '*'"),
        ("kafka-configs.sh --entity-type brokers --entity-name 1 --describe --all",
         "describe-configs --broker-id 1 --all"),
        ("kafka-configs.sh --describe --broker 1" + AT,
         "describe-configs --broker-id 1 --broker h:9092"),
        ("kafka-configs.sh --entity-type brokers --entity-default --describe",
         "describe-configs --broker-default"),
        ("kafka-configs.sh --broker-defaults --describe", "describe-configs --broker-default"),
        ("kafka-configs.sh --entity-type brokers --describe", "describe-configs --broker-id '*'"),
        ("kafka-configs.sh --describe --broker-logger 2", "describe-configs --logger 2"),
        ("kafka-configs.sh --describe --group g", "describe-configs --group g"),
        ("kafka-configs.sh --describe --client-metrics c", "describe-configs --client-metrics c"),
        ("kafka-configs.sh --alter --entity-type topics --entity-name t --add-config "
         "'a=1,cleanup.policy=[compact,delete]' --delete-config c,d",
         "alter-configs t a=1 cleanup.policy=compact,delete --delete-config c,d"),
        ("kafka-configs.sh --alter --entity-type brokers --entity-default --add-config a=1 --force",
         "alter-configs --broker-default --yes a=1"),
        ("kafka-configs.sh --alter --broker-logger 1 --add-config kafka.log=DEBUG",
         "alter-configs --logger 1 kafka.log=DEBUG"),
        ("kafka-configs.sh --alter --topic t --add-config-file f.properties" + AT,
         "config-command --topic t --alter --add-config-file f.properties "
         "--bootstrap-server h:9092"),
        ("kafka-configs.sh --describe --entity-type groups",
         "config-command --entity-type groups --describe"),
    ],
)  # fmt: skip
def test_topics_and_configs(pasted: str, line: str) -> None:
    assert here(pasted) == line
    parse(tokenize(line), REGISTRY)


@pytest.mark.parametrize(
    ("pasted", "line"),
    [
        ("kafka-consumer-groups.sh --list" + AT, "list-groups --broker h:9092"),
        ("kafka-consumer-groups.sh --list --state", "list-groups --long"),
        ("kafka-consumer-groups.sh --list --state Stable,Empty --type consumer",
         "list-groups --type consumer --state Stable --state Empty"),
        ("kafka-groups.sh --list --group-type share", "list-groups --type share"),
        ("kafka-share-groups.sh --list", "list-groups --type share"),
        ("kafka-streams-groups.sh --list --state", "list-groups --type streams --long"),
        ("kafka-consumer-groups.sh --describe --group g --group h", "describe-group g h"),
        ("kafka-consumer-groups.sh --describe --all-groups --timeout 9000 --state",
         "describe-group --state"),
        ("kafka-consumer-groups.sh --describe --group g --members --verbose",
         "describe-group g --members"),
        ("kafka-consumer-groups.sh --describe --group g --offsets", "describe-group g --offsets"),
        ("kafka-share-groups.sh --describe --group g", "describe-group g"),
        ("kafka-consumer-groups.sh --delete --group g --group h", "delete-group g h"),
        ("kafka-consumer-groups.sh --delete-offsets --group g --topic t:0,1",
         "delete-offsets g --topic t:0,1"),
        ("kafka-consumer-groups.sh --reset-offsets --group g --topic t --shift-by -5 --execute",
         "reset-offsets g --topic t --shift-by=-5"),
        ("kafka-consumer-groups.sh --reset-offsets --group g --all-topics --to-earliest",
         "reset-offsets g --to-earliest --dry-run"),
        ("kafka-consumer-groups.sh --reset-offsets --group g --topic t:0 --topic u:1,2 "
         "--to-offset 7 --execute", "reset-offsets g --topic t:0 --topic u:1,2 --to-offset 7"),
        ("kafka-consumer-groups.sh --reset-offsets --group g --all-topics --execute "
         "--by-duration P1DT2H", "reset-offsets g --by-duration 1d2h"),
        ("kafka-consumer-groups.sh --reset-offsets --group g --topic t --execute "
         "--to-datetime 2026-01-31T10:00:00.000",
         "reset-offsets g --topic t --to-datetime 2026-01-31T10:00:00.000"),
        ("kafka-consumer-groups.sh --reset-offsets --group g --topic t --execute "
         "--to-datetime 2026-01-31T10:00:00.000-03:00",
         "reset-offsets g --topic t --to-datetime 2026-01-31T10:00:00.000-03:00"),
        ("kafka-consumer-groups.sh --reset-offsets --group g --from-file f.csv --execute",
         "reset-offsets g --from-file f.csv"),
        ("kafka-consumer-groups.sh --reset-offsets --group g --all-topics --to-current --export",
         "reset-offsets g --to-current --dry-run"),
        ("kafka-share-groups.sh --reset-offsets --group g --topic t --to-latest --execute",
         "reset-offsets g --topic t --to-latest"),
    ],
)  # fmt: skip
def test_groups(pasted: str, line: str) -> None:
    assert here(pasted) == line
    parse(tokenize(line), REGISTRY)


@pytest.mark.parametrize(
    ("pasted", "line"),
    [
        ("kafka-leader-election.sh --election-type PREFERRED --topic t --partition 3" + AT,
         "elect-leaders t:3 --election-type preferred --broker h:9092"),
        ("kafka-leader-election.sh --election-type PREFERRED --topic t --partition 3 --partition 4",
         "elect-leaders t:3 t:4 --election-type preferred"),
        ("kafka-leader-election.sh --election-type unclean --all-topic-partitions",
         "elect-leaders --election-type unclean --all-topic-partitions"),
        ("kafka-leader-election.sh --election-type preferred --path-to-json-file f.json "
         "--admin.config a.properties",
         "elect-leaders --election-type preferred --path-to-json-file f.json "
         "--command-config a.properties"),
        ("kafka-preferred-replica-election.sh --path-to-json-file f.json" + AT,
         "preferred-replica-leader-election --path-to-json-file f.json --broker h:9092"),
        ("kafka-log-dirs.sh --describe --broker-list 1,2 --topic-list t,u",
         "describe-log-dirs t,u --broker-id 1,2"),
        ("kafka-get-offsets.sh --topic t", "list-offsets t --time latest"),
        ("kafka-get-offsets.sh --topic t --partitions 0,1 --time -2 --exclude-internal-topics",
         "list-offsets t:0,1 --time earliest --exclude-internal"),
        ("kafka-get-offsets.sh --topic-partitions t:0,u:1-4 --time 1700000000000",
         "list-offsets t:0 u:1-3 --time 1700000000000"),
        ("kafka-get-offsets.sh --topic-partitions 't:0-3,foo.*:0,u:-2,v'",
         "list-offsets t:0-2 '/foo.*/:0' u:0,1 v --time latest"),
        ("kafka-get-offsets.sh --topic-partitions :2", "list-offsets '*:2' --time latest"),
        ("kafka-delete-records.sh --offset-json-file f.json" + AT,
         "delete-records --offset-json-file f.json --broker h:9092"),
    ],
)  # fmt: skip
def test_partitions(pasted: str, line: str) -> None:
    assert here(pasted) == line
    parse(tokenize(line), REGISTRY)


@pytest.mark.parametrize("text", ["", "list-topics", "kafka.sh --list-topics", "./kafka.sh x"])
def test_what_is_no_tool_of_kafka(text: str) -> None:
    assert here(text) is None


@pytest.mark.parametrize(
    ("pasted", "hint"),
    [
        ("kafka-topics.sh", "kafka-topics.sh has no equivalent"),
        ("kafka-topics.sh --describe --topic-id x", "closest command is describe-topic"),
        ("kafka-topics.sh --create --partitions 3", "closest command is create-topic"),
        ("kafka-configs.sh --describe --bootstrap-controller h:1 --topic t",
         "closest command is describe-configs"),
        ("kafka-configs.sh --alter --topic t --add-config x", "must be k1=v1"),
        ("kafka-consumer-groups.sh --validate-regex x", "has no equivalent"),
        ("kafka-consumer-groups.sh --reset-offsets --all-groups --all-topics --to-latest",
         "closest command is reset-offsets"),
        ("kafka-streams-groups.sh --delete --group g --delete-internal-topic t",
         "closest command is delete-group"),
        ("kafka-leader-election.sh --election-type preferred --topic a --topic b --partition 0",
         "each --topic requires a --partition"),
        ("kafka-get-offsets.sh --topic-partitions t:3-", "partitions 3- of a topic have no"),
        ("kafka-console-share-consumer.sh --topic t", "has no equivalent"),
        ("kafka-producer-perf-test.sh --topic t", "kafka.sh has no equivalent of"),
        ("bin/kafka-verifiable-consumer.sh --topic t", "kafka.sh has no equivalent of"),
        ("kafka-topic.sh --list", "Did you mean kafka-topics.sh?"),
        ("kafka-console-consumer.sh --topic t --group g", "reads without a group"),
        ("kafka-console-producer.sh --topic t --property parse.key=true", "write-record"),
        ("kafka-configs.sh --alter --entity-type topics --add-config retention.ms=1",
         "--alter requires the name of an entity"),
        ("kafka-configs.sh --alter --entity-type brokers --delete-config a", "requires the name"),
        ("kafka-configs.sh --alter --topic --add-config retention.ms=1", "requires the name"),
        ("kafka-configs.sh --alter --entity-type users --entity-type clients --entity-name u"
         " --add-config producer_byte_rate=1", "the name of an entity for each"),
        ("kafka-configs.sh --alter --entity-type topics --entity-default --add-config"
         " retention.ms=1", "topics have no default entity"),
        ("kafka-configs.sh --alter --entity-type broker-loggers --entity-default --add-config"
         " kafka=DEBUG", "broker-loggers have no default entity"),
        ("kafka-configs.sh --alter --entity-type client-metrics --entity-default"
         " --delete-config match", "client-metrics have no default entity"),
        ("kafka-client-metrics.sh --delete", "require --name"),
        ("kafka-client-metrics.sh --alter --interval 1000", "require --name"),
    ],
)  # fmt: skip
def test_what_has_no_line_says_so(pasted: str, hint: str) -> None:
    with pytest.raises(UsageError) as caught:
        here(pasted)
    assert hint in caught.value.hint
    assert caught.value.code == "pasted"


@pytest.mark.parametrize(
    ("pasted", "command"),
    [
        ("kafka-configs.sh --describe --entity-type users --entity-name u", "config-command"),
        ("kafka-configs.sh --alter --user u --add-config 'SCRAM-SHA-256=[password=p]'",
         "scram-credentials"),
        ("kafka-configs.sh --alter --client c --add-config producer_byte_rate=1", "alter-quotas"),
        ("kafka-consumer-groups.sh --list", "list-groups"),
        ("kafka-consumer-groups.sh --describe --group g", "describe-group"),
        ("kafka-consumer-groups.sh --reset-offsets --group g --topic t --shift-by -5 --execute",
         "reset-offsets"),
        ("kafka-reassign-partitions.sh --verify --reassignment-json-file f",
         "verify-reassign-partitions"),
        ("kafka-leader-election.sh --election-type preferred", "elect-leaders"),
        ("kafka-log-dirs.sh --describe --broker-list 1", "describe-log-dirs"),
        ("kafka-metadata-quorum.sh --bootstrap-server h:1 describe --status", "describe-quorum"),
        ("kafka-features.sh describe", "describe-features"),
        ("kafka-broker-api-versions.sh", "api-versions"),
        ("kafka-transactions.sh abort --topic t", "abort-transaction"),
        ("kafka-get-offsets.sh --topic t", "list-offsets"),
        ("kafka-delete-records.sh --offset-json-file f", "delete-records"),
    ],
)  # fmt: skip
def test_the_command_for_it_is_named_even_while_it_is_not_here(pasted: str, command: str) -> None:
    try:
        answer = here(pasted)
    except UsageError as error:
        answer = error.hint
    assert answer is not None
    assert command in answer


@pytest.mark.parametrize(
    ("pasted", "line"),
    [
        ("kafka-acls.sh --list" + AT, "list-acls --broker h:9092"),
        ("kafka-acls.sh --list --topic t", "list-acls --topic t --resource-pattern-type literal"),
        ("kafka-acls.sh --list --topic t --resource-pattern-type MATCH --principal User:b",
         "list-acls --topic t --resource-pattern-type match --principal User:b"),
        ("kafka-acls.sh --add --allow-principal User:b --operation Read --operation Write"
         " --topic t",
         "alter-acls --topic t --add 'allow User:b Read,Write'"),
        ("kafka-acls.sh --add --allow-principal User:* --deny-principal User:eve --group g"
         " --deny-host 1.2.3.4 --deny-host 1.2.3.5 --resource-pattern-type prefixed",
         "alter-acls --group g --add 'allow User:* All' --add"
         " 'deny User:eve All from 1.2.3.4,1.2.3.5' --resource-pattern-type prefixed"),
        ("kafka-acls.sh --remove --allow-principal User:b --allow-host '*' --cluster --force",
         "alter-acls --cluster --remove 'allow User:b All' --yes"),
        ("kafka-acls.sh --remove --topic t --force", "alter-acls --topic t --remove --yes"),
        ("kafka-acls.sh --add --allow-principal User:b --producer --idempotent --topic t",
         "alter-acls --topic t --add --allow-principal User:b --producer --idempotent"),
        ("kafka-acls.sh --add --allow-principal User:b --consumer --topic t --group g",
         "alter-acls --topic t --group g --add --allow-principal User:b --consumer"),
        ("kafka-delegation-tokens.sh --create --max-life-time-period -1"
         " --renewer-principal User:b",
         "create-token --renewer-principal User:b --max-life-time-period=-1"),
        ("kafka-delegation-tokens.sh --describe --owner-principal User:b",
         "describe-tokens --owner-principal User:b"),
    ],
)  # fmt: skip
def test_acls_and_tokens(pasted: str, line: str) -> None:
    assert here(pasted) == line
    assert render(parse(tokenize(line), REGISTRY)) == line


@pytest.mark.parametrize(
    ("pasted", "line"),
    [
        ("kafka-configs.sh --alter --entity-type users --entity-name u --add-config"
         " acks=-1,linger.ms=5 --delete-config batch.size" + AT,
         "alter-client-configs acks=-1 linger.ms=5 --user u --delete-config batch.size"
         " --broker h:9092"),
        ("kafka-configs.sh --alter --entity-type users --entity-name u --entity-type clients"
         " --entity-name=-c --add-config acks=all",
         "alter-client-configs acks=all --user u --client-id=-c"),
        ("kafka-configs.sh --alter --user u --delete-config SCRAM-SHA-256,SCRAM-SHA-512",
         "scram-credentials --username u --delete SCRAM-SHA-256,SCRAM-SHA-512"),
        ("kafka-configs.sh --alter --user u --client-defaults --add-config consumer_byte_rate=9",
         "config-command --user u --client-defaults --alter --add-config consumer_byte_rate=9"),
        ("kafka-configs.sh --alter --entity-type users --entity-default"
         " --add-config consumer_byte_rate=9",
         "alter-quotas consumer_byte_rate=9 --user-default"),
        ("kafka-configs.sh --alter --entity-type users --entity-default --entity-type clients"
         " --entity-default --add-config consumer_byte_rate=9",
         "alter-quotas consumer_byte_rate=9 --user-default --client-id-default"),
        ("kafka-configs.sh --alter --entity-type users --entity-default --entity-type clients"
         " --entity-name c --add-config consumer_byte_rate=9",
         "config-command --entity-type users --entity-type clients --entity-name '' --entity-name c"
         " --alter --add-config consumer_byte_rate=9"),
        ("kafka-configs.sh --alter --entity-type users --entity-type clients --entity-name u"
         " --entity-default --add-config consumer_byte_rate=9",
         "config-command --entity-type users --entity-type clients --entity-name u --entity-name ''"
         " --alter --add-config consumer_byte_rate=9"),
        ("kafka-configs.sh --describe --entity-type users --entity-name u",
         "config-command --entity-type users --entity-name u --describe"),
        ("kafka-configs.sh --describe --entity-type ips --entity-name 10.0.0.1",
         "describe-quotas --ip 10.0.0.1"),
        ("kafka-topics.sh --describe --topic t --broker h:9092" + AT,
         "describe-topic t --broker h:9092"),
        ("kafka-metadata-quorum.sh describe --status" + AT, "describe-quorum --broker h:9092"),
        ("kafka-metadata-quorum.sh describe --replication --human-readable", "describe-quorum"),
        ("kafka-consumer-groups.sh --delete --group=--group=orders --group=--yes",
         "delete-group --group=--group=orders --group=--yes"),
    ],
)  # fmt: skip
def test_clients_clusters_and_names_with_dashes(pasted: str, line: str) -> None:
    assert here(pasted) == line
    assert render(parse(tokenize(line), REGISTRY)) == line


def test_two_clusters_are_named() -> None:
    with pytest.raises(UsageError) as caught:
        here("kafka-topics.sh --describe --topic t --broker other:1" + AT)
    assert "--broker other:1 and --bootstrap-server h:9092" in caught.value.hint


@pytest.mark.parametrize("tool", ["kafka-consumer-groups.sh", "bin/kafka-consumer-groups.sh"])
def test_a_tool_in_argv_keeps_its_options(tool: str) -> None:
    words = [tool, "--bootstrap-server", "B:1", "--reset-offsets", "--group", "g", "--to-earliest"]
    assert split(words, REGISTRY).command == tuple(words)


def test_a_pasted_hmac_is_not_repeated() -> None:
    line = here("kafka-delegation-tokens.sh --expire --hmac c2VjcmV0 --expiry-time-period -1")
    assert line == "expire-token --hmac '***' --expiry-time-period=-1"


def test_a_pasted_password_is_left_out_and_asked_for() -> None:
    at = "kafka-configs.sh --alter --entity-type users --entity-name joe --add-config "
    for pair in ("iterations=4096,password=joe", "password=joe"):
        line = here(f"{at}'SCRAM-SHA-512=[{pair}]'")
        assert line is not None and "joe]" not in line and "password" not in line
        parse(tokenize(line), REGISTRY)
    assert here(f"{at}'SCRAM-SHA-512=[iterations=4096,password=joe]'") == (
        "scram-credentials --username joe --add 'SCRAM-SHA-512=[iterations=4096]'"
    )


@pytest.mark.parametrize(
    ("typed", "tool"),
    [
        ("sudo -u kafka /opt/kafka/bin/kafka-topics.sh --list", "/opt/kafka/bin/kafka-topics.sh"),
        ("sudo kafka-topics.sh --list", "kafka-topics.sh"),
        ("KAFKA_OPTS='-Da=b -Dc=d' JMX_PORT=9 kafka-topics.sh --list", "kafka-topics.sh"),
        ("env KAFKA_OPTS=x rpk topic list", "rpk"),
        ("list-topics rpk", "list-topics"),
        ("sudo systemctl restart kafka", "sudo"),
    ],
)
def test_what_runs_a_tool_is_left_out(typed: str, tool: str) -> None:
    assert without_prefix(tuple(tokenize(typed).words))[0].text == tool


def test_read_records_names_its_own_words_for_the_options_of_other_tools() -> None:
    for option, hint in (("--offset 5", "--from 5"), ("--partition 0", "orders:0")):
        with pytest.raises(UsageError) as caught:
            parse(tokenize(f"read-records orders {option}"), REGISTRY)
        assert hint in caught.value.hint


@pytest.mark.parametrize(
    ("typed", "hint"),
    [("sudo", ""), ("unde", "undo"), ("delte-topic", "delete-topic"), ("topic-delete", "delete-t"),
     ("reste-offsets", "reset-offsets"), ("lst-topcs", "list-topics")],
)  # fmt: skip
def test_a_command_that_changes_something_is_suggested_only_if_close(typed: str, hint: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse(tokenize(typed), REGISTRY)
    suggested = "Did you mean" in caught.value.hint
    assert suggested == bool(hint) and hint in caught.value.hint, caught.value.hint


def test_the_page_on_other_tools_names_the_commands_of_this_table() -> None:
    page = (ROOT / "docs" / "other-tools.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`.+?`) \| `(.+?)` \|", page, re.MULTILINE)
    assert len(rows) > 25
    for pasted, line in rows:
        command = parse(tokenize(line), REGISTRY).command
        for each in re.findall(r"`([^`]+)`", pasted):
            assert parse(tokenize(here(each) or ""), REGISTRY).command is command, each
