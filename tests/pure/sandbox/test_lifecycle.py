"""Start, stop, crash, restart and wipe a sandbox, and refused starts."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from kafka_shell.base.errors import ShellError
from kafka_shell.base.processes import exiting_on
from kafka_shell.sandbox.cluster import in_use_by_others, status, stop, wipe
from kafka_shell.sandbox.state import state_file


def test_nohup_is_respected() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with exiting_on(signal.SIGTERM, signal.SIGHUP):
            assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
            assert callable(signal.getsignal(signal.SIGTERM))
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


@pytest.mark.parametrize(
    "content",
    [b"", b"\xff\xfe", b"[]", b'{"format": 1}', b'{"format": 1, "made": true, "brokers": [{}]}',
     b'{"format": 1, "made": true, "brokers": [], "users": [], "more": 1}'],
)  # fmt: skip
def test_a_damaged_state_file_is_reported(tmp_path: Path, content: bytes) -> None:
    state_file(tmp_path).write_bytes(content)
    with pytest.raises(ShellError) as refused:
        status(tmp_path)
    assert refused.value.code == "bad-sandbox-state"
    assert state_file(tmp_path).read_bytes() == content


def test_stop_without_a_sandbox_fails(tmp_path: Path) -> None:
    with pytest.raises(ShellError, match="no sandbox"):
        stop(tmp_path)
    wipe(tmp_path / "nowhere")
    assert not in_use_by_others(tmp_path / "nowhere")
