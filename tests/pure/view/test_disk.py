"""The cache on disk."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from kafka_shell.admin.configs.model import ResourceType
from kafka_shell.base.files import open_private
from kafka_shell.base.units import ConfigType
from kafka_shell.view.disk import DiskCache, view_on_disk
from kafka_shell.view.view import ConfigDoc

DOC = ConfigDoc("retention.ms", ConfigType.LONG, "How long.\nReally.", "604800000")


def topics(disk_cache: DiskCache, bootstrap: str) -> list[str]:
    return [*disk_cache.view(bootstrap).topics.value.names]


def test_topics_come_back_by_bootstrap(tmp_path: Path) -> None:
    DiskCache(tmp_path).save_topics("one:9092", "id", ["a", "ö b"])
    assert topics(DiskCache(tmp_path), "one:9092") == ["a", "ö b"]
    assert topics(DiskCache(tmp_path), "two:9092") == []


def test_documentation_comes_back_by_version_and_kind(tmp_path: Path) -> None:
    disk_cache = DiskCache(tmp_path)
    disk_cache.save_documentation("3.9", ResourceType.TOPIC, {})
    disk_cache.save_documentation("4.3", ResourceType.TOPIC, {DOC.name: DOC})
    assert disk_cache.documentation("4.3", ResourceType.TOPIC) == {DOC.name: DOC}
    assert disk_cache.documentation("4.3", ResourceType.BROKER) == {}
    assert disk_cache.any_documentation(ResourceType.TOPIC) == {DOC.name: DOC}
    assert disk_cache.any_documentation(ResourceType.GROUP) == {}


def test_the_view_of_the_last_session(tmp_path: Path) -> None:
    disk_cache = DiskCache(tmp_path)
    disk_cache.save_topics("one:9092", "id", ["a"])
    disk_cache.save_documentation("4.3", ResourceType.GROUP, {DOC.name: DOC})
    view = view_on_disk(tmp_path, "one:9092")
    assert view.topics.value.names == ("a",)
    assert view.docs(ResourceType.GROUP) == {DOC.name: DOC}
    assert not view.read_at
    assert view_on_disk(tmp_path / "nothing", "one:9092").topics.value.names == ()


def test_other_names_come_back_by_part(tmp_path: Path) -> None:
    disk_cache = DiskCache(tmp_path)
    disk_cache.save_names(
        "one:9092", {"groups": ["billing"], "users": ["ö", "a"], "principals": []}
    )
    assert disk_cache.names("one:9092") == {"groups": ["billing"], "users": ["ö", "a"]}
    view = view_on_disk(tmp_path, "one:9092")
    assert view.users.value.names == ("a", "ö")
    assert not view.users.read_at
    assert disk_cache.names("two:9092") == {}
    (file,) = (tmp_path / "names").iterdir()
    file.write_text('{"format": 1, "parts": {"groups": "billing"}}')
    assert disk_cache.names("one:9092") == {}, "a damaged file"


def test_files_are_for_the_owner_only(tmp_path: Path) -> None:
    DiskCache(tmp_path / "cache").save_topics("one:9092", "id", ["a"])
    for path in (tmp_path / "cache").rglob("*"):
        mode = stat.S_IMODE(path.stat().st_mode)
        assert mode == (0o700 if path.is_dir() else 0o600)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"\xff\xfe",
        b"[]",
        b'{"format": "1"}',
        b'{"format": 1, "topics": 3}',
        b'{"format": 1, "keys": {"a": [1]}}',
        b"[" * 100_000,
    ],
)
def test_a_damaged_file_is_replaced(tmp_path: Path, content: bytes) -> None:
    said: list[str] = []
    disk_cache = DiskCache(tmp_path, said.append)
    disk_cache.save_topics("one:9092", "id", ["a"])
    (path,) = (tmp_path / "topics").iterdir()
    path.write_bytes(content)
    assert topics(disk_cache, "one:9092") == []
    disk_cache.save_topics("one:9092", "id", ["a"])
    assert topics(disk_cache, "one:9092") == ["a"]
    assert not said


def test_a_file_of_a_later_format_is_left_alone(tmp_path: Path) -> None:
    said: list[str] = []
    disk_cache = DiskCache(tmp_path, said.append)
    disk_cache.save_topics("one:9092", "id", ["a"])
    (path,) = (tmp_path / "topics").iterdir()
    path.write_text('{"format": 2, "topics": {}}')
    assert topics(disk_cache, "one:9092") == []
    assert not said
    assert path.exists()


def test_an_unwritable_folder_is_reported(tmp_path: Path) -> None:
    said: list[str] = []
    (tmp_path / "topics").write_text("in the way")
    DiskCache(tmp_path, said.append).save_topics("one:9092", "id", ["a"])
    assert len(said) == 1


@pytest.mark.parametrize("umask", [0, 0o077, 0o777 & ~0o700])
def test_files_are_private_whatever_the_umask(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        DiskCache(tmp_path / "deep" / "cache").save_topics("one:9092", "id", ["a"])
        with open_private(tmp_path / "other" / "log", "a") as file:
            file.write("x")
        (tmp_path / "other" / "old").touch(mode=0o666)
        with open_private(tmp_path / "other" / "old", "w") as file:
            file.write("x")
    finally:
        os.umask(before)
    for path in tmp_path.rglob("*"):
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path


def test_a_file_of_a_strange_name_is_no_version(tmp_path: Path) -> None:
    (tmp_path / "documentation").mkdir()
    (tmp_path / "documentation" / "²-topic.json").write_text("{")
    assert DiskCache(tmp_path).any_documentation(ResourceType.TOPIC) == {}
