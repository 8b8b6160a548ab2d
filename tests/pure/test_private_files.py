"""Files and folders of the program that another user owns or can change are not used."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kafka_shell.base.errors import ShellError, Status
from kafka_shell.base.files import locked, open_private
from kafka_shell.context import Paths

PLACES = ("config", "cache", "state", "config/config.toml")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    for name in PLACES[:3]:
        (tmp_path / name).mkdir(mode=0o700)
    (tmp_path / "config" / "config.toml").touch(mode=0o600)
    return tmp_path


def paths(home: Path) -> Paths:
    return Paths.of({"KAFKA_SH_HOME": str(home)})


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("bit", [0o020, 0o002])
def test_what_others_can_change_is_refused(home: Path, place: str, bit: int) -> None:
    (home / place).chmod(0o700 | bit)
    with pytest.raises(ShellError, match=f"{place} can be changed by other users") as caught:
        paths(home)
    assert caught.value.status is Status.WRONG
    assert caught.value.hint == f"Run: chmod go-w {home / place}"


def test_what_another_user_owns_is_refused(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = os.stat

    def of_another(self: Path, **options: bool) -> os.stat_result:
        fields = list(own(self, **options))
        fields[4] = os.geteuid() + 1
        return os.stat_result(fields)

    paths(home)
    monkeypatch.setattr(Path, "stat", of_another)
    with pytest.raises(ShellError, match="config belongs to another user"):
        paths(home)


def test_link_to_own_config_is_used(home: Path) -> None:
    config = home / "config" / "config.toml"
    config.rename(home / "dotfile")
    config.symlink_to(home / "dotfile")
    assert paths(home).config_file == config
    assert paths(home / "missing").state == home / "missing" / "state"


@pytest.mark.parametrize("mode", ["w", "a"])
def test_link_is_not_written_through(home: Path, mode: str) -> None:
    victim, link = home / "victim", home / "state" / "history"
    victim.write_text("kept")
    link.symlink_to(victim)
    with pytest.raises(OSError, match="symbolic links"):
        open_private(link, mode)  # type: ignore[call-overload]
    with pytest.raises(OSError, match="symbolic links"), locked(link):
        pass
    assert victim.read_text() == "kept"


def test_an_existing_file_is_made_private(tmp_path: Path) -> None:
    file = tmp_path / "history"
    file.touch(mode=0o644)
    file.chmod(0o644)
    open_private(file, "a").close()
    assert file.stat().st_mode & 0o777 == 0o600
