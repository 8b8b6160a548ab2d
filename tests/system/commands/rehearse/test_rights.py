"""`rehearse` without rights is no promise, and shows nothing that its user may not see."""

# ruff: noqa: F401, F811

from __future__ import annotations

from kafka_shell.base.plans import Secret
from kafka_shell.sandbox.security import passwords
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire import coordinators
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.endpoint import ConnectionConfig, Sasl, parse_addresses
from tests.live.test_rights import nobody, run, topic
from tests.support.program import Program
from tests.support.waiting import wait_for


def test_a_rehearsal_is_no_promise_without_rights(nobody: Program, topic: str) -> None:
    tried = run(nobody, f"rehearse create-topic {topic}.rehearsed")
    assert tried.status == 4, str(tried)
    assert "unknown: may require CREATE on the cluster or on the topic" in tried.stdout
    assert "not copied: hidden topics, acls" in tried.stderr, str(tried)


def test_a_rehearsal_does_not_show_what_the_user_may_not_change(
    nobody: Program, topic: str, secure_sandbox: Sandbox
) -> None:
    """Not in the difference and not in the undo, and other items of the same command are."""
    properties = str(secure_sandbox.client_properties["admin-sasl-plaintext"])
    broker = secure_sandbox.bootstraps["SASL_PLAINTEXT"]
    acls = f"""
create-topic {topic}.own --partitions 2
alter-acls --topic {topic} --topic {topic}.own --add 'allow User:nobody Describe,DescribeConfigs'
alter-acls --topic {topic}.own --add 'allow User:nobody Alter,AlterConfigs,Delete'
alter-acls --cluster --add 'allow User:nobody Describe,DescribeConfigs'
"""
    words = ("--broker", broker, "--command-config", properties)
    made = nobody(*words, stdin=acls)
    assert made.status == 0, str(made)
    script = nobody.home / "lines.kafka"
    script.write_text(f"""
alter-configs {topic} retention.ms=99d
alter-topic {topic} --partitions 12
alter-quotas --user alice producer_byte_rate=5MB/s
alter-configs {topic},{topic}.own flush.ms=1000
alter-topic {topic} {topic}.own --partitions 7
delete-topic {topic} && create-topic {topic}.never
alter-configs {topic}.own retention.ms=99d
""")
    config = str(nobody.home / "nobody.properties")
    options = ("--command-config", config, "--output", "json", "rehearse", "--keep-going")
    tried = nobody(*options, str(script))
    page = nobody(*options[:2], "rehearse", f"alter-configs {topic} retention.ms=99d")
    deleted = nobody(*options, f"delete-topic {topic} {topic}.own")
    undo = f"delete-topic {topic}.own --yes\nalter-acls --remove-principal User:nobody --yes\n"
    ended = nobody(*words, stdin=undo)
    assert ended.status == 0, str(ended)
    assert [(each["status"], each["error"]) for each in tried.json["lines"]] == [
        ("failed", f"requires ALTER_CONFIGS on topic {topic}"),
        ("failed", f"requires ALTER on topic {topic}"),
        ("failed", "requires ALTER_CONFIGS on the cluster"),
        ("failed", f"requires ALTER_CONFIGS on topic {topic}"),
        ("failed", f"requires ALTER on topic {topic}"),
        ("failed", f"requires DELETE on topic {topic}"),
        ("ok", None),
    ], str(tried)
    changed = tried.json["diff"]["changes"]
    assert {each["resource"] for each in changed} == {f"topic {topic}.own"}, str(tried)
    assert {each["field"] for each in changed} >= {"partitions", "flush.ms", "retention.ms"}
    assert all(f"{topic}.own" in line for line in tried.json["undo"]), str(tried)
    assert "no differences between before and after" in page.stdout, str(page)
    assert "undo:" not in page.stdout
    assert [each["resource"] for each in deleted.json["diff"]["changes"]] == [f"topic {topic}.own"]


def test_a_rehearsal_knows_who_may_alter_the_configs_of_a_group(
    nobody: Program, topic: str, secure_sandbox: Sandbox
) -> None:
    properties = str(secure_sandbox.client_properties["admin-sasl-plaintext"])
    admin = ("--broker", secure_sandbox.bootstraps["SASL_PLAINTEXT"],
             "--command-config", properties)  # fmt: skip
    line = f"alter-configs --group {topic} consumer.session.timeout.ms=50000"
    where = parse_addresses(secure_sandbox.bootstraps["SASL_PLAINTEXT"])
    sasl = Sasl("SCRAM-SHA-256", "admin", Secret(passwords(secure_sandbox)["admin"]))
    security = ConnectionConfig(where, security_protocol="SASL_PLAINTEXT", sasl=sasl)
    with Cluster(security) as cluster:  # the first request creates __consumer_offsets
        wait_for("groups have coordinators", lambda: coordinators.find(cluster, [topic]).values)

    def rehearse(*words: str) -> tuple[str, str | None]:
        (one,) = nobody(*words, "--output", "json", "rehearse", line).json["lines"]
        return one["status"], one["error"]

    config = ("--command-config", str(nobody.home / "nobody.properties"))
    needs = f"ALTER_CONFIGS on group {topic}"
    assert rehearse(*admin) == ("ok", None)
    assert rehearse(*config) == ("unknown", f"may require {needs}"), "it may not describe the group"
    rule = f"allow User:nobody {{}} on group {topic}"
    visible = ("allow User:nobody Describe on topic __consumer_offsets",
               "allow User:nobody Describe,DescribeConfigs on cluster")  # fmt: skip
    for other in visible:
        assert nobody(*admin, "alter-acls", "--add", other).status == 0
    try:
        for operation, expected in (("Describe", ("failed", f"requires {needs}")),
                                    ("AlterConfigs", ("ok", None))):  # fmt: skip
            made = nobody(*admin, "alter-acls", "--add", rule.format(operation))
            assert made.status == 0, str(made)
            assert rehearse(*config) == expected
    finally:
        nobody(*admin, "alter-acls", "--remove-principal", "User:nobody", "--yes")
