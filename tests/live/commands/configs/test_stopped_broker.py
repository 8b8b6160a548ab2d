"""Deleting configs of a broker that is not running: they cannot be listed."""

from __future__ import annotations

import pytest

from tests.support.in_process_shell import Shell


@pytest.mark.parametrize("keys", ["'*,log.retention.ms'", "'*' --delete-config log.retention.ms"])
def test_all_configs_and_others_are_refused(shell: Shell, keys: str) -> None:
    """Before: a config named * was deleted, which succeeded, and the others stayed."""
    run = shell(f"alter-configs --broker-id 99 --delete-config {keys} --yes")
    assert run.status == 2, str(run)
    assert "'*' cannot be used with other configs of a stopped broker" in run.err
    assert "Use '*' alone" in run.err
