"""Plans applied on a real broker: validation, concurrent changes, guards and the journal."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from uuid import uuid4

import pytest

from kafka_shell.admin import steps
from kafka_shell.admin.configs import change as config_changes
from kafka_shell.admin.configs.model import ConfigAlteration, ConfigOp, ConfigResource, ResourceType
from kafka_shell.admin.quotas import change as quota_changes
from kafka_shell.admin.quotas.model import QuotaAlteration, QuotaEntity
from kafka_shell.admin.topics import change as topic_changes
from kafka_shell.admin.topics.model import NewTopic
from kafka_shell.base.errors import ShellError
from kafka_shell.base.outcome import Outcome
from kafka_shell.base.plans import Plan, apply
from kafka_shell.base.structs import replace
from kafka_shell.run.execute import execute
from kafka_shell.wire import metadata_scan
from kafka_shell.wire.cluster import Cluster
from tests.support.recorded_execution import make_recorded_execution


@pytest.fixture
def topic(cluster: Cluster) -> ConfigResource:
    name = f"t-{uuid4().hex[:8]}"
    assert apply(topic_changes.plan_create([NewTopic(name, 1, 1)]), cluster).ok
    return ConfigResource(ResourceType.TOPIC, name)


def keep(cluster: Cluster, topic: ConfigResource, value: str) -> Plan:
    alteration = ConfigAlteration("retention.ms", ConfigOp.SET, value)
    return config_changes.plan_alter(cluster, {topic: [alteration]})


def test_a_real_change_and_its_journal_entry(
    tmp_path: Path, cluster: Cluster, topic: ConfigResource
) -> None:
    execution = make_recorded_execution(tmp_path, cluster=cluster)
    outcome = execution.run(keep(cluster, topic, "7d"))
    assert outcome.ok
    assert outcome.undo == (f"alter-configs {topic.name} --delete-config retention.ms",)
    (entry,) = execution.journal()
    assert entry.cluster == cluster.cluster_id
    assert entry.changes[0]["after"] == "604800000"


def test_a_real_change_made_meanwhile_by_someone_else(
    tmp_path: Path, cluster: Cluster, topic: ConfigResource
) -> None:
    execution = make_recorded_execution(tmp_path, guard="confirm", cluster=cluster)

    def meddle(_: str) -> str:
        assert apply(keep(cluster, topic, "5"), cluster).ok
        return "y"

    execution.context = replace(execution.context, ask=meddle)
    with pytest.raises(ShellError, match="was 7d, is 5ms"):
        execution.run(keep(cluster, topic, "1d"))


def test_a_real_broker_refuses_in_the_dry_run(
    tmp_path: Path, cluster: Cluster, topic: ConfigResource
) -> None:
    execution = make_recorded_execution(tmp_path, cluster=cluster)
    plan = topic_changes.plan_create(
        [NewTopic(topic.name, 1, 1), NewTopic(f"{topic.name}.new", 1, 1)]
    )
    outcome = execution.run(plan, dry_run=True)
    assert [(d.status, d.failure.name if d.failure else "") for d in outcome.changes] == [
        ("failed", "TOPIC_ALREADY_EXISTS"), ("planned", ""),
    ]  # fmt: skip
    assert f"{topic.name}.new" not in metadata_scan.scan(cluster)


def test_a_real_deletion_by_a_typed_guard(
    tmp_path: Path, cluster: Cluster, topic: ConfigResource
) -> None:
    execution = make_recorded_execution(tmp_path, guard="typed", answers=["prod"], cluster=cluster)
    outcome = execution.run(topic_changes.plan_delete(cluster, [topic.name]))
    assert outcome.ok and outcome.undo == ()
    assert topic.name not in metadata_scan.scan(cluster)
    assert execution.journal()[0].undo == ()


def test_a_password_is_nowhere_in_the_journal(tmp_path: Path, cluster: Cluster) -> None:
    key = "listener.name.plaintext.ssl.key.password"
    broker = ConfigResource(ResourceType.BROKER, "1")
    execution = make_recorded_execution(tmp_path, cluster=cluster)

    def run(alteration: ConfigAlteration, line: str) -> Outcome:
        plan = config_changes.plan_alter(cluster, {broker: [alteration]})
        return execute(
            plan, execution.context, command=line, show=execution.show, reveal=lambda value: None
        )

    try:
        line = f"alter-configs --broker-id 1 {key}=hush-hush"
        outcome = run(ConfigAlteration(key, ConfigOp.SET, "hush-hush"), line)
        assert outcome.ok
        assert outcome.undo == (f"alter-configs --broker-id 1 --delete-config {key}",)
        assert "hush-hush" not in repr(outcome.changes)
    finally:
        gone = run(ConfigAlteration(key, ConfigOp.DELETE), "take it away")
    assert gone.ok and gone.undo == (), "what it was nobody can tell"
    written = [path.read_text() for path in execution.context.paths.journal.glob("*/*.json")]
    assert written and "hush" not in "".join(written)


@pytest.mark.parametrize("module", [config_changes, steps], ids=["configs", "quotas"])
def test_ctrl_c_after_the_brokers_answered_leaves_no_outcome_unknown(
    tmp_path: Path,
    cluster: Cluster,
    topic: ConfigResource,
    module: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """While the program waits until a broker shows the change."""
    if module is config_changes:
        plan = keep(cluster, topic, "7d")
    else:
        limit = QuotaAlteration(QuotaEntity(user=topic.name), "request_percentage", 5.0)
        plan = quota_changes.plan_alter(cluster, [limit])

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    execution = make_recorded_execution(tmp_path, cluster=cluster)
    with monkeypatch.context() as patch:
        patch.setattr(module, "wait_until_visible", interrupted)
        with pytest.raises(ShellError, match="interrupted after all changes were sent"):
            execution.run(plan)
    (entry,) = execution.journal()
    assert entry.status == "done", entry
