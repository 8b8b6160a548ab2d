"""--unmask opens only the masks of profiles that allow it."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kafka_shell.base.errors import ShellError
from kafka_shell.commands.records.read_records import mask_of
from kafka_shell.context import Context
from kafka_shell.settings import load
from tests.support.recorded_execution import make_recorded_execution

CONFIG = """
[profiles.dev]
bootstrap = "dev:9092"
command-config = "client.properties"
%s
[profiles.prod]
bootstrap = "prod:9092"
%s
topics."customers".mask = "value.email"
"""
ALLOWED = "unmask = true"


def _context(folder: Path, dev: str, prod: str, *, profile: str, broker: str) -> Context:
    cluster: Any = SimpleNamespace(cluster_id="cluster-1", brokers=list)
    context = make_recorded_execution(folder, cluster=cluster).context
    file = context.paths.config_file
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(CONFIG % (dev, prod))
    file.with_name("client.properties").write_text("unmask=true\n")
    flags = {"profile": profile, **({"broker": broker} if broker else {})}
    found = context.with_settings(load(flags, {}, file))
    found.session.cluster = cluster
    return found


@pytest.mark.parametrize(
    ("dev", "prod", "profile", "broker", "opens"),
    [
        ("", "", "prod", "", False),
        ("", ALLOWED, "prod", "", True),
        (ALLOWED, "", "dev", "prod:9092", False),
        ("", "", "dev", "prod:9092", False),  # the properties file of dev does not say it
        ("", ALLOWED, "dev", "prod:9092", True),
        ("", "", "dev", "", True),  # nothing is masked
    ],
)
def test_the_profile_that_masks_allows_it(
    tmp_path: Path, dev: str, prod: str, profile: str, broker: str, opens: bool
) -> None:
    context = _context(tmp_path, dev, prod, profile=profile, broker=broker)
    if opens:
        assert mask_of(context, True).of("customers") == ()
    else:
        with pytest.raises(ShellError, match="not allowed"):
            mask_of(context, True)
