"""CSV files of offsets."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.base.errors import ShellError
from kafka_shell.base.plans import Change, Resource
from kafka_shell.commands.groups.changes import read_offsets, write_offsets


def test_written_offsets_can_be_read(tmp_path: Path) -> None:
    file = str(tmp_path / "f.csv")
    offsets = Resource("group-offsets", "g")
    write_offsets(
        file,
        [
            Change(offsets, "alter", "b.c:11", 1, 2),
            Change(offsets, "alter", "a:0", None, 5),
            Change(offsets, "delete", "a:1", 5, None),
        ],
        several=False,
    )
    assert Path(file).read_text() == "a,0,5\nb.c,11,2\n"
    same = {TopicPartition("a", 0): 5, TopicPartition("b.c", 11): 2}
    assert read_offsets(file, ["g", "other"]) == {"g": same, "other": same}


def test_a_file_of_several_groups(tmp_path: Path) -> None:
    file = tmp_path / "f.csv"
    file.write_text('"g","a",0,5\nother,a,0,7\n\ng, b, 1, 6\n')
    mine = {TopicPartition("a", 0): 5, TopicPartition("b", 1): 6}
    assert read_offsets(str(file), ["g"]) == {"g": mine}
    both = {"g": mine, "other": {TopicPartition("a", 0): 7}}
    assert read_offsets(str(file), ["g", "other"]) == both


def test_offsets_of_one_of_several_groups_are_not_read_for_another(tmp_path: Path) -> None:
    """Before: the file had no group column if only one of the groups had offsets."""
    file = str(tmp_path / "f.csv")
    changes = [Change(Resource("group-offsets", "g"), "alter", "a:0", 1, 5)]
    write_offsets(file, changes, several=True)
    with pytest.raises(ShellError, match="has no offsets of group other"):
        read_offsets(file, ["g", "other"])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", ": has no offsets of group g"),
        ("h,a,0,5\n", ": has no offsets of group g"),
        ("a,0\n", ":1: expected topic,partition,offset, got 'a,0'"),
        ("a,0,5\na,0,-1\n", ":2: expected topic,partition,offset, got 'a,0,-1'"),
        ("a,0,5\na,0,6\n", ":2: a:0 is listed twice"),
        ("a,0,9223372036854775808\n", ":1: partition or offset is out of range"),
    ],
)
def test_a_file_that_is_wrong(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "f.csv"
    file.write_text(text)
    with pytest.raises(ShellError) as caught:
        read_offsets(str(file), ["g"])
    assert caught.value.message == f"{file}{said}"


def test_a_file_that_cannot_be(tmp_path: Path) -> None:
    with pytest.raises(ShellError, match="cannot be read: No such file"):
        read_offsets(str(tmp_path / "none.csv"), ["g"])
    with pytest.raises(ShellError, match="already exists"):
        write_offsets(str(tmp_path), [], several=False)
    with pytest.raises(ShellError, match=r"cannot write .*: No such file"):
        write_offsets(str(tmp_path / "none" / "a.csv"), [], several=False)
