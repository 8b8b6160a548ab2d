"""Starting a local Spark: the environment of its JVM, and why it did not start."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kafka_shell.audit import jvm, session
from kafka_shell.audit.server import Server
from kafka_shell.base.errors import ShellError, Status

NO_HOST = """\
WARNING: Using incubator modules: jdk.incubator.vector
Exception in thread "main" java.lang.ExceptionInInitializerError
	at org.apache.spark.deploy.SparkSubmit.main(SparkSubmit.scala)
Caused by: java.net.UnknownHostException: box: box: Name or service not known
	at java.base/java.net.InetAddress.getLocalHost(InetAddress.java:1671)
Caused by: java.net.UnknownHostException: box: Name or service not known
	at java.base/java.net.Inet6AddressImpl.lookupAllHostAddr(Native Method)
	... 17 more
"""
NO_MASTER = (
    'Exception in thread "main" org.apache.spark.SparkException: Could not parse Master URL\n'
)
NO_CLASS = "Error: Could not find or load main class org.apache.spark.launcher.Main\n"


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        (NO_HOST, "box: Name or service not known"),
        (NO_MASTER, "Could not parse Master URL"),
        (NO_CLASS, "Could not find or load main class org.apache.spark.launcher.Main"),
        ("Killed\n", ""),
    ],
)
def test_root_cause_of_log_is_reported(text: str, cause: str, tmp_path: Path) -> None:
    (tmp_path / "spark.log").write_text(text)
    assert jvm.cause_in(tmp_path / "spark.log") == cause


def test_wrong_spark_home_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPARK_HOME", str(tmp_path))
    with pytest.raises(ShellError, match=r"^SPARK_HOME is not") as caught:
        jvm.spark_java()
    assert caught.value.status is Status.WRONG


@pytest.mark.parametrize(("given", "expected"), [(None, "127.0.0.1"), ("10.0.0.1", "10.0.0.1")])
def test_local_spark_is_bound_to_loopback(
    given: str | None, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SPARK_LOCAL_IP", raising=False)
    if given:
        monkeypatch.setenv("SPARK_LOCAL_IP", given)
    before = dict(os.environ)
    with session._environment(jvm.LOOPBACK):
        assert os.environ["SPARK_LOCAL_IP"] == expected
    assert dict(os.environ) == before


@pytest.mark.parametrize(
    ("remote", "expected"),
    [
        ("sc://localhost:7/;token=t", "ipv4:127.0.0.1:7"),
        ("sc://localhost", "ipv4:127.0.0.1:15002"),
        (Server(1, 7, "t", 60, 0).remote, "ipv4:127.0.0.1:7"),
        ("sc://spark.example:7/;token=t", "spark.example:7"),
        ("sc://localhost:7/;use_ssl=true;token=t", "localhost:7"),  # the name in its certificate
    ],
)
def test_name_of_this_machine_is_one_address(remote: str, expected: str) -> None:
    assert session.channel(remote).endpoint == expected
