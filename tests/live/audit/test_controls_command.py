"""spark controls: the list of controls with their rationale and source."""

from __future__ import annotations

from tests.support.in_process_shell import Shell

FIELDS = ["control", "title", "severity", "family", "description", "source", "tags", "tables",
          "parameters", "risk", "file"]  # fmt: skip


def test_every_control_has_a_rationale_and_a_source(shell: Shell) -> None:
    found = shell.ok("spark controls all --output json").json
    assert len(found) >= 105
    assert all(list(each) == FIELDS for each in found)
    assert all(each["description"] and each["source"] for each in found)
    listed = shell.ok("spark controls security --severity critical").out.splitlines()
    assert [line.split()[0] for line in listed] == ["CONTROL", "S01", "S02", "S03", "S04", "S19"]


def test_one_control_is_explained(shell: Shell) -> None:
    page = shell.ok("spark controls t07").out
    assert "An unclean leader election" in page and "irreversible" in page
    assert "source      Apache Kafka documentation, Unclean leader election" in page
    assert "\nWITH down AS (" in page and "leader IS NULL" in page
    run = shell("spark controls T99")
    assert run.status == 2 and "unknown control" in run.err
