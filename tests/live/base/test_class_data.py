"""Archives of Java classes are created once and used only when complete."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from kafka_shell.base.java import Archive, archive_of, find_java, jvm_options, make_archive
from kafka_shell.sandbox.config import class_archive
from kafka_shell.sandbox.state import Sandbox

CLASSES = ("java/lang/Object", "java/lang/String", "java/lang/Thread")


@pytest.fixture
def class_list(tmp_path: Path) -> Path:
    file = tmp_path / "classes.list"
    file.write_text("\n".join(CLASSES))
    return file


def run(archive: Archive, folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Java with the archive, in this folder."""
    words = [find_java(), *jvm_options(archive, folder / "crashes", None), *options, "-version"]
    return subprocess.run(words, capture_output=True, text=True, cwd=folder)


def test_java_uses_the_archive_unless_it_is_damaged(tmp_path: Path, class_list: Path) -> None:
    java, archive = find_java(), archive_of(tmp_path / "cache", "test", find_java())
    first = jvm_options(archive, tmp_path, class_list)
    assert first[-1] == f"-XX:DumpLoadedClassList={class_list}"
    make_archive(archive, class_list, lambda options: [java, *options])
    (made,) = archive.folder.iterdir()
    assert made == archive.find()
    assert made.stat().st_mode & 0o777 == 0o600

    # -Xshare:on makes an archive that does not fit an error.
    ran = run(archive, tmp_path, "-Xshare:on")
    assert (ran.returncode, "sharing" in ran.stderr) == (0, True), ran.stderr

    whole = made.read_bytes()
    half = len(whole) // 2
    made.write_bytes(whole[:half] + bytes(len(whole) - half))
    assert run(archive, tmp_path).returncode == 0
    assert run(archive, tmp_path, "-Xshare:on").returncode != 0

    made.write_bytes(whole[:half])
    assert archive.find() is None
    assert run(archive, tmp_path).returncode == 0
    make_archive(archive, class_list, lambda options: [java, *options])
    assert [file.stat().st_size for file in archive.folder.iterdir()] == [len(whole)]
    assert not list(tmp_path.glob("hs_err*"))


def test_nothing_is_left_when_it_cannot_be_made(tmp_path: Path, class_list: Path) -> None:
    archive = Archive(tmp_path / "cache", "test")
    make_archive(archive, class_list, lambda options: ["/bin/false"])
    assert list(archive.folder.iterdir()) == []


def test_another_java_or_class_path_has_another_archive(tmp_path: Path) -> None:
    java = tmp_path / "java"
    java.write_text("1")
    before = archive_of(tmp_path, "test", java, "a.jar")
    assert archive_of(tmp_path, "test", java, "a.jar:b.jar") != before
    java.unlink()
    java.write_text("an update, in the same place")
    assert archive_of(tmp_path, "test", java, "a.jar") != before


def test_the_first_start_of_a_sandbox_makes_it(sandbox: Sandbox) -> None:
    arguments = sandbox.brokers[0].java_arguments.read_text()
    class_path = arguments.partition('"-cp"\n"')[2].partition('"')[0]
    found = class_archive(find_java(), class_path).find()
    assert found is not None, f"no archive was made by the start of {sandbox.folder}"
