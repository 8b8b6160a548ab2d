"""An audit of fifty clusters: failures of some do not affect the others."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kafka_shell.sandbox.security import passwords
from kafka_shell.sandbox.state import Sandbox
from tests.support import short_jvm
from tests.support.tcp_proxy import Proxy
from tests.support.waiting import wait_for
from tests.system.audit.test_distributed import ROOT, environment

WRONG = "wrong-fleet-password"
CLUSTERS = 50
CONTROLS = "T01,S01"


def login(sandbox: Sandbox, password: str) -> dict[str, str]:
    module = "org.apache.kafka.common.security.plain.PlainLoginModule required"
    return {
        "bootstrap": f"127.0.0.1:{sandbox.brokers[0].ports['SASL_PLAINTEXT']}",
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "PLAIN",
        "sasl.jaas.config": f'{module} username="admin" password="{password}";',
    }


def audited(home: Path, profiles: Mapping[str, Mapping[str, str]]) -> Any:
    """What one audit of these profiles answers, with an event log of Spark."""
    config = home / "config" / "config.toml"
    config.parent.mkdir()
    config.write_text(
        "".join(
            f"[profiles.{name}]\n" + "".join(f'"{k}" = {json.dumps(v)}\n' for k, v in of.items())
            for name, of in profiles.items()
        )
    )
    events = home / "events"
    events.mkdir()
    confs = {
        "spark.driver.extraJavaOptions": short_jvm.options(),
        "spark.eventLog.enabled": "true",
        "spark.eventLog.compress": "false",
        "spark.eventLog.dir": events.as_uri(),
    }
    words = [word for key, value in confs.items() for word in ("--conf", f"{key}={value}")]
    return subprocess.run(
        [sys.executable, "-m", "kafka_shell", "spark", "audit", "--clusters", ",".join(profiles),
         "--controls", CONTROLS, "--output", "json", *words],
        env=environment(KAFKA_SH_HOME=str(home), PYTHONPATH=str(ROOT)), cwd=home,
        capture_output=True, text=True, timeout=300, check=False, stdin=subprocess.DEVNULL,
    )  # fmt: skip


def test_the_others_are_judged_and_no_secret_is_written_anywhere(
    own_demo: Sandbox, secure_sandbox: Sandbox, tmp_path: Path
) -> None:
    """The demo has many names; of these many topics, executors read the tables."""
    right = passwords(secure_sandbox)["admin"]
    with Proxy() as slow:
        slow.target = int(own_demo.bootstrap.rpartition(":")[2])
        slow.delay = 2.0
        troubled = {
            "gone": {"bootstrap": "127.0.0.1:1"},
            "wrong": login(secure_sandbox, WRONG),
            "secure": login(secure_sandbox, right),
            "slow": {"bootstrap": slow.address},
        }
        names = [f"c{number:02}" for number in range(CLUSTERS - len(troubled))]
        bootstrap = {"bootstrap": own_demo.bootstrap}
        done = audited(tmp_path, dict.fromkeys(names, bootstrap) | troubled)
    assert done.returncode == 3, done.stderr[-3000:]
    answer = json.loads(done.stdout)
    assert set(answer["unread"]) == {"gone", "wrong"}
    assert "127.0.0.1:1" in answer["unread"]["gone"]
    found: dict[str, set[tuple[str, str, str]]] = {}
    for each in answer["findings"]:
        of = found.setdefault(each["cluster"], set())
        of.add((each["control"], each["resource"], each["status"]))
    assert set(found) == {*names, "slow", "secure"}
    assert len(found["slow"]) > 40
    assert ("S01", "broker 1 SASL_PLAINTEXT", "alarm") in found["secure"]
    assert all(found[name] == found["slow"] for name in names)

    wait_for("Spark has ended", lambda: not any(tmp_path.rglob("*.inprogress")))
    written = [
        file for file in tmp_path.rglob("*") if file.is_file() and file.name != "config.toml"
    ]
    events = b"".join(file.read_bytes() for file in written if "events" in file.parts)
    assert b"kafka_sh" in events and b"collection_status" in events, written
    said = [done.stdout.encode(), done.stderr.encode(), *(file.read_bytes() for file in written)]
    assert not [
        secret for secret in (right, WRONG) if any(secret.encode() in each for each in said)
    ]
