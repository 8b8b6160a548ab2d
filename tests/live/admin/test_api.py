"""`kafka_shell.admin` as used by Python programs: the example of every family, threads, errors."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import kafka_shell.admin
from kafka_shell.admin import AclFilter, Admin, NewTopic, ShellError
from kafka_shell.admin.calls import Family
from kafka_shell.admin.client import TokensApi
from kafka_shell.sandbox.state import Sandbox
from tests.api_reference import example_of, families


@pytest.fixture(scope="module")
def admin(sandbox: Sandbox) -> Iterator[Admin]:
    with Admin(sandbox.bootstrap) as found:
        yield found


@pytest.fixture(scope="module")
def logged_in(secure_sandbox: Sandbox) -> Iterator[Admin]:
    file = secure_sandbox.folder / "clients" / "admin-sasl-plaintext.properties"
    with Admin.from_file(file) as found:
        yield found


@pytest.mark.parametrize("family", families(), ids=lambda family: family.__name__)
def test_the_example_of_a_family_runs(
    family: type[Family], admin: Admin, request: pytest.FixtureRequest
) -> None:
    if family is TokensApi:  # tokens are for those who log in
        admin = request.getfixturevalue("logged_in")
    names = {name: getattr(kafka_shell.admin, name) for name in kafka_shell.admin.__all__}
    try:
        exec(compile(example_of(family), family.__name__, "exec"), {**names, "admin": admin})
    finally:
        mine = [each.name for each in admin.topics.list() if each.name.startswith("example.")]
        admin.topics.plan_delete(mine).apply()


def test_methods_may_be_called_from_many_threads(admin: Admin) -> None:
    answers: list[Any] = []

    def ask() -> None:
        for _ in range(5):
            answers.append(admin.cluster.metadata().cluster_id)
            answers.append(admin.topics.describe(["no-such-topic"]).failures["no-such-topic"].name)

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 80
    assert set(answers) == {admin.cluster_id, "UNKNOWN_TOPIC_OR_PARTITION"}


def test_a_plan_is_validated_and_nothing_is_made(admin: Admin) -> None:
    plan = admin.topics.plan_create([NewTopic("api.validated", partitions=1, replication_factor=9)])
    (failure,) = plan.validate().failures.values()
    assert failure.name == "INVALID_REPLICATION_FACTOR"
    assert "api.validated" not in [topic.name for topic in admin.topics.list()]


def test_a_plan_that_destroys_is_applied_whole_or_not_at_all(admin: Admin) -> None:
    assert admin.topics.plan_create([NewTopic("api.kept", partitions=1)]).apply().ok
    plan = admin.topics.plan_delete(["api.kept", "api.missing"])
    assert [resource.name for resource in plan.refused.failures] == ["api.missing"]
    with pytest.raises(ShellError, match="nothing was sent: 1 of 2 items"):
        plan.apply()
    assert "api.kept" in [topic.name for topic in admin.topics.list()]
    assert admin.topics.plan_delete(["api.kept"]).apply().ok


def test_java_properties_and_their_errors(sandbox: Sandbox, tmp_path: Path) -> None:
    file = tmp_path / "client.properties"
    file.write_text(f"bootstrap.servers={sandbox.bootstrap}\nsecurity.protocol=PLAINTEXT\n")
    with Admin.from_file(file, timeout=20) as admin:
        assert admin.acls.describe(AclFilter(principal="User:nobody-there")) == ()
    with pytest.raises(ShellError, match=r"security\.protocol=TLS"):
        Admin({"bootstrap.servers": sandbox.bootstrap, "security.protocol": "TLS"}).topics.list()
    with pytest.raises(ShellError) as unreachable:
        Admin("127.0.0.1:1", timeout=5).topics.list()
    assert unreachable.value.code == "refused"


def test_importing_it_loads_neither_kafka_nor_a_terminal() -> None:
    code = (
        "import sys, kafka_shell.admin; kafka_shell.admin.Admin;"
        " print(sorted({'kafka', 'prompt_toolkit', 'ssl', 'asyncio'} & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
