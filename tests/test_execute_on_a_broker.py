"""Plans carried out on a real broker: validated, meddled with, guarded, journalled."""

from __future__ import annotations

from pathlib import Path
from uuid import uuid4

import pytest

from kafka_shell.admin.configs import change as config_changes
from kafka_shell.admin.configs.model import ConfigAlteration, ConfigOp, ConfigResource, ResourceType
from kafka_shell.admin.topics import change as topic_changes
from kafka_shell.admin.topics.model import NewTopic
from kafka_shell.admin.wire import metadata_scan
from kafka_shell.admin.wire.connection import Cluster
from kafka_shell.errors import ShellError
from kafka_shell.execute import execute
from kafka_shell.plan.apply import apply
from kafka_shell.plan.model import Plan
from kafka_shell.plan.outcome import Outcome
from kafka_shell.structs import replace
from tests.staging import make_stage

pytestmark = pytest.mark.quick


@pytest.fixture
def topic(cluster: Cluster) -> ConfigResource:
    name = f"t-{uuid4().hex[:8]}"
    assert apply(topic_changes.plan_create([NewTopic(name, 1, 1)]), cluster).ok
    return ConfigResource(ResourceType.TOPIC, name)


def keep(cluster: Cluster, topic: ConfigResource, value: str) -> Plan:
    alteration = ConfigAlteration("retention.ms", ConfigOp.SET, value)
    return config_changes.plan_alter(cluster, {topic: [alteration]})


def test_a_real_change_and_its_fresh_state(
    tmp_path: Path, cluster: Cluster, topic: ConfigResource
) -> None:
    stage = make_stage(tmp_path, cluster=cluster)
    outcome = stage.run(keep(cluster, topic, "7d"))
    assert outcome.ok
    assert [entry.value for entry in outcome.fresh[topic]] == ["604800000"]
    assert outcome.undo == (f"alter-configs {topic.name} --delete-config retention.ms",)
    (entry,) = stage.journal()
    assert entry.cluster == cluster.cluster_id
    assert entry.changes[0]["after"] == "604800000"


def test_a_real_change_made_meanwhile_by_someone_else(
    tmp_path: Path, cluster: Cluster, topic: ConfigResource
) -> None:
    stage = make_stage(tmp_path, guard="confirm", cluster=cluster)

    def meddle(_: str) -> str:
        assert apply(keep(cluster, topic, "5"), cluster).ok
        return "y"

    stage.context = replace(stage.context, ask=meddle)
    with pytest.raises(ShellError, match="was 604800000, is 5"):
        stage.run(keep(cluster, topic, "1d"))


def test_a_real_broker_refuses_in_the_dry_run(
    tmp_path: Path, cluster: Cluster, topic: ConfigResource
) -> None:
    stage = make_stage(tmp_path, cluster=cluster)
    plan = topic_changes.plan_create(
        [NewTopic(topic.name, 1, 1), NewTopic(f"{topic.name}.new", 1, 1)]
    )
    outcome = stage.run(plan, dry_run=True)
    assert [(d.status, d.failure.name if d.failure else "") for d in outcome.changes] == [
        ("failed", "TOPIC_ALREADY_EXISTS"), ("planned", ""),
    ]  # fmt: skip
    assert f"{topic.name}.new" not in metadata_scan.scan(cluster)


def test_a_real_deletion_by_a_typed_guard(
    tmp_path: Path, cluster: Cluster, topic: ConfigResource
) -> None:
    stage = make_stage(tmp_path, guard="typed", answers=["prod"], cluster=cluster)
    outcome = stage.run(topic_changes.plan_delete(cluster, [topic.name]))
    assert outcome.ok and outcome.undo == ()
    assert topic.name not in metadata_scan.scan(cluster)
    assert stage.journal()[0].undo == ()


def test_a_password_is_nowhere_in_the_journal(tmp_path: Path, cluster: Cluster) -> None:
    key = "listener.name.plaintext.ssl.key.password"
    broker = ConfigResource(ResourceType.BROKER, "1")
    stage = make_stage(tmp_path, cluster=cluster)

    def run(alteration: ConfigAlteration, line: str) -> Outcome:
        plan = config_changes.plan_alter(cluster, {broker: [alteration]})
        return execute(
            plan, stage.context, command=line, show=stage.show, reveal=lambda value: None
        )

    try:
        line = f"alter-configs --broker-id 1 {key}=hush-hush"
        outcome = run(ConfigAlteration(key, ConfigOp.SET, "hush-hush"), line)
        assert outcome.ok
        assert outcome.undo == (f"alter-configs --broker-id 1 --delete-config {key}",)
        assert "hush-hush" not in repr(outcome.changes) + repr(outcome.fresh)
    finally:
        gone = run(ConfigAlteration(key, ConfigOp.DELETE), "take it away")
    assert gone.ok and gone.undo == (), "what it was nobody can tell"
    written = [path.read_text() for path in stage.context.paths.journal.glob("*/*.json")]
    assert written and "hush" not in "".join(written)
