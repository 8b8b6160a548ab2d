"""A folder of state files is written completely, or stays as it is."""

from __future__ import annotations

import resource
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kafka_shell.base.errors import ShellError
from kafka_shell.base.files import replace_file
from kafka_shell.base.results import Failure
from kafka_shell.commands.state.files import document, yaml_text
from kafka_shell.commands.state.model import State
from kafka_shell.commands.state.run import FolderExport, write_folder
from kafka_shell.commands.state.spec import KINDS


def state(partitions: int, users: int = 1) -> State:
    """A topic, and so many users."""
    credentials = {f"user{number}": {"SCRAM-SHA-512": 4096} for number in range(users)}
    return State({"topics": {"orders": {"partitions": partitions}}, "users": dict(credentials)})


def export(folder: Path, exported: State) -> FolderExport:
    return written(folder, exported, None)


def written(
    folder: Path,
    exported: State,
    by: str | None,
    kinds: Collection[str] = KINDS,
    *,
    whole: bool = True,
) -> FolderExport:
    return write_folder(exported, str(folder), by, ".yaml", yaml_text, kinds=kinds, whole=whole)


def contents(folder: Path) -> dict[str, str]:
    return {each.name: each.read_text() for each in folder.iterdir()}


@contextmanager
def full_disk(size: int) -> Iterator[None]:
    """No file can be larger."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_full_disk_leaves_all_files_as_they_were(tmp_path: Path) -> None:
    export(tmp_path, state(1))
    (tmp_path / "old.yaml").write_text(yaml_text(document(State({"topics": {"gone": {}}}))))
    before = contents(tmp_path)
    with full_disk(50_000), pytest.raises(ShellError, match=r"cannot write .*/users\.yaml: "):
        export(tmp_path, state(2, users=5_000))
    assert contents(tmp_path) == before, "old.yaml is not deleted either"
    export(tmp_path, state(2, users=5_000))
    after = contents(tmp_path)
    assert set(after) == {"topics.yaml", "users.yaml"} and "partitions: 2" in after["topics.yaml"]


@pytest.mark.parametrize(("by", "file"), [("kind", "subjects.yaml"), ("prefix", "cluster.yaml")])
def test_files_of_kinds_that_are_not_exported_stay(tmp_path: Path, by: str, file: str) -> None:
    """Those that --only leaves out, and subjects where there is no schema registry."""
    subjects = State({"subjects": {"a": {"type": "AVRO", "schema": "1"}}})
    (tmp_path / file).write_text(yaml_text(document(subjects)))
    before = contents(tmp_path)
    with pytest.raises(ShellError, match=file):
        written(tmp_path, state(1), by, {*KINDS} - {"subjects"})
    assert contents(tmp_path) == before


def test_an_incomplete_export_is_not_mixed_with_an_earlier_one(tmp_path: Path) -> None:
    """The scope of a new file would delete what the files of the earlier export lack."""
    written(tmp_path, state(1), "prefix")
    before = contents(tmp_path)
    later = state(2)
    later.parts["topics"] = {"audit.log": {}, **later.parts["topics"]}
    later.unread = {"quotas": Failure("X", "no")}
    made = written(tmp_path, later, "prefix", whole=False)
    assert set(contents(tmp_path)) - set(before) == {
        "audit.yaml.partial", "cluster.yaml.partial", "orders.yaml.partial"
    }  # fmt: skip
    kept = [Path(each).name for each in made.not_replaced]
    assert sorted(kept) == ["cluster.yaml", "orders.yaml"]


def test_prefixes_that_differ_in_case_are_one_file(tmp_path: Path) -> None:
    """On macOS one would replace the other."""
    both = State({"topics": {"Orders.a": {"partitions": 1}, "orders.b": {"partitions": 1}}})
    written(tmp_path, both, "prefix")
    assert list(contents(tmp_path)) == ["Orders.yaml"]


def test_links_and_permissions_are_kept(tmp_path: Path) -> None:
    folder, real = tmp_path / "state", tmp_path / "real.yaml"
    export(folder, state(1))
    (folder / "topics.yaml").rename(real)
    (folder / "topics.yaml").symlink_to(real)
    real.chmod(0o640)
    export(folder, state(2))
    assert (folder / "topics.yaml").is_symlink() and "partitions: 2" in real.read_text()
    assert real.stat().st_mode & 0o777 == 0o640


def test_files_are_private_until_they_replace_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    export(tmp_path / "state", state(1))
    (tmp_path / "state" / "topics.yaml").chmod(0o600)
    modes = set()

    def spied(temporary: Path, path: Path) -> None:
        modes.add(temporary.stat().st_mode & 0o777)
        replace_file(temporary, path)

    monkeypatch.setattr("kafka_shell.base.files.replace_file", spied)
    export(tmp_path / "state", state(2))
    assert modes == {0o600}
    assert (tmp_path / "state" / "topics.yaml").stat().st_mode & 0o777 == 0o600
