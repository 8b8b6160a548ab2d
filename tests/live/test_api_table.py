"""The declared APIs of all commands cover all APIs of a broker.

tests/test_examples.py tests that commands send only requests that they declare.
"""

from __future__ import annotations

from kafka_shell.commands import REGISTRY
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.requests import api_name
from tests.support import api_table as apis
from tests.support.changes import connect


def test_every_api_of_a_broker_has_a_command_or_a_reason(sandbox: Sandbox) -> None:
    with connect(sandbox) as cluster:
        advertised = set(cluster.api_versions())
    known = set(apis.commands_by_api(REGISTRY)) | set(apis.COMMON) | set(apis.EXCLUDED)
    without = [f"{api_name(key)} ({key})" for key in sorted(advertised - known)]
    assert not without, "no command speaks these, and no reason is given"


def test_a_reason_is_given_only_for_what_no_command_speaks() -> None:
    both = set(apis.EXCLUDED) & (set(apis.commands_by_api(REGISTRY)) | set(apis.COMMON))
    assert not both, "commands speak these by now"


def test_permissions_are_known_for_every_api_that_a_command_declares() -> None:
    assert set(apis.commands_by_api(REGISTRY)) - set(apis.PERMISSIONS) == apis.WITHOUT_PERMISSION
