"""Output for a file is never in a file that others can read, unless they can read the target."""

from __future__ import annotations

import io
import os
import stat
from pathlib import Path

import pytest

from kafka_shell import settings
from kafka_shell.context import ClusterSession, Context, Paths
from kafka_shell.run.pipe import redirected


@pytest.fixture
def context(tmp_path: Path) -> Context:
    paths = Paths.of({"KAFKA_SH_HOME": str(tmp_path / "home")})
    session = ClusterSession(settings.load({}, {}, paths.config_file))
    return Context(session, paths, io.StringIO(), io.StringIO())


@pytest.mark.parametrize("mode", [0o600, 0o640, None])
@pytest.mark.parametrize("append", [False, True])
@pytest.mark.parametrize("complete", [False, True])
def test_temporary_file_is_private(
    context: Context, tmp_path: Path, mode: int | None, append: bool, complete: bool
) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    target = folder / "file"
    if mode is not None:
        target.write_text("before\n")
        target.chmod(mode)
    with redirected(target, append, context) as output:
        output.stream.write("secret\n")
        output.stream.flush()
        output.complete = complete
        (temporary,) = (path for path in folder.iterdir() if path != target)
        assert stat.S_IMODE(temporary.stat().st_mode) == 0o600
    assert mode is None or stat.S_IMODE(target.stat().st_mode) == mode
    for path in folder.iterdir():
        assert path == target or stat.S_IMODE(path.stat().st_mode) == 0o600, path
    assert any("secret" in path.read_text() for path in folder.iterdir())


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may choose any group")
def test_file_keeps_its_group(context: Context, tmp_path: Path) -> None:
    """Its mode would give another group access to what was written."""
    target = tmp_path / "file"
    target.touch(0o640)
    os.chown(target, -1, 12345)
    with redirected(target, False, context) as output:
        output.stream.write("secret\n")
    found = target.stat()
    assert (found.st_gid, stat.S_IMODE(found.st_mode)) == (12345, 0o640)
    assert target.read_text() == "secret\n"
