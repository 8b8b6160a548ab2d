"""export, diff and apply on real clusters."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

import pytest

from kafka_shell.admin.acls.change import CreateAcls
from kafka_shell.admin.client_configs.model import CONFIGS_TOPIC
from kafka_shell.admin.records import read as log
from kafka_shell.wire.cluster import Cluster
from tests.support.in_process_shell import Shell
from tests.support.program import Program


@pytest.fixture
def state(tmp_path: Path) -> Callable[[str], str]:
    """A state file with this text."""

    def write(text: str) -> str:
        path = tmp_path / "state.yaml"
        path.write_text(f"version: 1\n{text}")
        return str(path)

    return write


@pytest.fixture
def name() -> str:
    return f"st-{uuid4().hex[:8]}"


def test_the_json_of_a_difference_has_only_what_is_known(
    kafka: Program, state: Callable[[str], str], name: str
) -> None:
    file = state(f"scope: {{topics: ['{name}*']}}\ntopics: {{}}\n")
    kafka.ok("create-topic", f"{name}.old", "--partitions", "2")
    (change,) = kafka("diff", file, "--output", "json").json["changes"]
    assert change["verb"] == "delete" and change["resource"] == f"topic {name}.old"
    assert set(change) == {"resource", "verb", "field", "before", "after"}
    kafka.ok("delete-topic", f"{name}.old", "--yes")


def test_an_export_of_a_topic_that_does_not_exist_has_no_text(kafka: Program, name: str) -> None:
    """`export state.yaml` would otherwise write a state without topics."""
    lost = kafka("export", f"{name}.yaml")
    assert (lost.status, lost.stdout, lost.stderr.count("\n")) == (1, "", 1)
    assert f"error: topic {name}.yaml does not exist" in lost.stderr


def test_client_configs_of_a_newer_format_are_reported_and_kept(
    kafka: Program, cluster: Cluster, state: Callable[[str], str], name: str
) -> None:
    kafka.ok("alter-client-configs", "--user", name, "acks=all", "--yes")
    key = f'{{"version":1,"user":"{name}","client_id":null,"key":"acks"}}'.encode()
    odd = f'{{"version":2,"user":"{name}"}}'.encode()
    log.append(cluster, CONFIGS_TOPIC, [(key, b'{"version":2,"value":["x"]}'), (odd, b"{}")])
    try:
        exported = kafka("export", "--only", "client-configs")
        assert exported.status == 1 and name not in exported.stdout
        assert f"user {name} acks" in exported.stderr and "record at offset" in exported.stderr
        assert "its format version is 2, expected 1" in exported.stderr
        for line in (
            "describe-client-configs",
            f"describe-client-configs {name} --client-id x --resolve",
            f"config-command --entity-type users --entity-name {name} --describe",
        ):
            run = kafka(*line.split())
            assert run.status == 1 and name not in run.stdout, str(run)
            assert f"user {name} acks" in run.stderr and "record at offset" in run.stderr, str(run)
            assert "no dynamic" not in run.stderr, "what cannot be decoded is not missing"
        page = kafka("describe-user", name)
        assert page.status == 1 and "2 client configs could not be decoded" in page.stdout
        file = state(f"scope: {{client_configs: [user {name}]}}\nclient_configs: {{}}\n")
        compared = kafka("diff", file)
        assert compared.status == 1 and "2 not compared" in compared.stdout
        applied = kafka("apply", file, "--prune", "--yes")
        assert applied.status == 1 and "cannot be compared with the file" in applied.stderr
        plain = state(f"client_configs: {{user {name}: {{acks: '1'}}}}\n")
        assert kafka("apply", plain).status == 1
    finally:
        log.append(cluster, CONFIGS_TOPIC, [(key, None), (odd, None)])
    file = state(f"scope: {{client_configs: [user {name}]}}\n")
    assert kafka.ok("diff", file).stdout.startswith("no differences")


def test_passwords_are_shown_though_the_apply_is_interrupted(
    shell: Shell, state: Callable[[str], str], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = state(
        f"users: {{{name}: {{SCRAM-SHA-512: {{generate: true}}}}}}\n"
        f"acls: {{topic {name}: [allow User:bob Read]}}\n"
    )

    def interrupted(step: CreateAcls, cluster: object, *, validate_only: bool) -> object:
        raise KeyboardInterrupt

    monkeypatch.setattr(CreateAcls, "send", interrupted)
    run = shell(f"apply {file}")
    assert run.status == 130 and f"password of user {name}" in run.out


def test_an_interrupted_apply_continues_when_it_is_run_again(
    shell: Shell, state: Callable[[str], str], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = state(
        f"topics: {{{name}: {{partitions: 1}}}}\n"
        f"acls: {{topic {name}: [allow User:bob Read]}}\n"
        f"quotas: {{user {name}: {{producer_byte_rate: 1}}}}\n"
    )

    def interrupted(step: CreateAcls, cluster: object, *, validate_only: bool) -> object:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(CreateAcls, "send", interrupted)
        run = shell(f"apply {file}")
    assert run.status == 130 and "interrupted" in run.err
    assert f"To continue: apply {file}" in run.err
    left = shell(f"diff {file}")
    assert left.status == 1 and "1 difference in 1 ACL: 1 created" in left.out
    shell.ok(f"apply {file}")
    assert shell(f"diff {file}").status == 0
