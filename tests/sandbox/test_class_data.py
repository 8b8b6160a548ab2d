"""Brokers start from an archive of Kafka's classes, which is made once."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from kafka_shell.java import find_java
from kafka_shell.sandbox.class_data import archive_path, class_data_arguments, make_archive
from kafka_shell.sandbox.cluster import no_report
from kafka_shell.sandbox.state import Sandbox

CLASSES = ("java/lang/Object", "java/lang/String", "java/lang/Thread")


@pytest.fixture
def class_list(tmp_path: Path) -> Path:
    file = tmp_path / "classes.list"
    file.write_text("\n".join(CLASSES))
    return file


@pytest.mark.quick
def test_java_accepts_the_archive(tmp_path: Path, class_list: Path) -> None:
    java, archive = find_java(), tmp_path / "cache" / "kafka.jsa"
    assert class_data_arguments(archive, class_list) == [f"-XX:DumpLoadedClassList={class_list}"]
    make_archive(archive, java, "", class_list, no_report)
    assert [path.name for path in archive.parent.iterdir()] == [archive.name]
    assert archive.stat().st_mode & 0o777 == 0o600
    used = class_data_arguments(archive, class_list)
    # -Xshare:on makes an archive that does not fit an error.
    ran = subprocess.run([java, "-Xshare:on", *used, "-version"], capture_output=True, text=True)
    assert (ran.returncode, "sharing" in ran.stderr) == (0, True), ran.stderr


@pytest.mark.quick
def test_nothing_is_left_when_it_cannot_be_made(tmp_path: Path, class_list: Path) -> None:
    archive = tmp_path / "cache" / "kafka.jsa"
    make_archive(archive, Path("/bin/false"), "", class_list, no_report)
    assert list(archive.parent.iterdir()) == []


@pytest.mark.quick
def test_another_java_or_class_path_has_another_archive(tmp_path: Path) -> None:
    java = tmp_path / "java"
    java.write_text("1")
    before = archive_path(java, "a.jar")
    assert archive_path(java, "a.jar:b.jar") != before
    java.unlink()
    java.write_text("an update, in the same place")
    assert archive_path(java, "a.jar") != before


def test_the_first_start_makes_it(sandbox: Sandbox) -> None:
    arguments = sandbox.brokers[0].java_arguments.read_text()
    class_path = arguments.partition('"-cp"\n"')[2].partition('"')[0]
    archive = archive_path(find_java(), class_path)
    assert archive.exists(), f"{archive} was not made by the start of {sandbox.folder}"
