"""`journal` on a real broker: the page of one entry, and the selection of entries."""

from __future__ import annotations

import json
import uuid

from tests.support.in_process_shell import Shell


def test_the_page_of_an_entry_lists_its_changes_by_status(shell: Shell) -> None:
    name = f"journal-{uuid.uuid4().hex[:8]}"
    names = ",".join(f"{name}.{number:02}" for number in range(30))
    shell.ok(f"create-topic {name},{names}")
    try:
        assert shell(f"create-topic {name},{name}.new").status == 1
        first, second = (entry["id"] for entry in shell.ok("journal --output json").json)
        page = shell.ok(f"journal {second}").out
        assert f"done: 1 topic\n    + topic {name}.new" in page
        assert f"failed: 1 topic\n    + topic {name}: " in page
        assert "done: 1 topic" not in shell.ok("journal").out, "a list is short"
        grouped = shell.ok(f"journal {first}").out
        assert "done: 31 topics" in grouped and len(grouped.splitlines()) < 20, grouped

        file = next((shell.home / "state" / "journal").glob(f"*/*-{first}.json"))
        row = json.loads(file.read_text())
        for change, status in zip(row["changes"], ("unknown", "skipped", "skipped"), strict=False):
            change["status"] = status
        file.write_text(json.dumps(row))
        interrupted = shell.ok(f"journal {first}").out
        assert f"outcome unknown: 1 topic\n    + topic {name}: " in interrupted
        assert f"not sent: 2 topics\n    + topic {name}.00: " in interrupted
        assert "done: 28 topics" in interrupted
        assert shell.ok(f"journal {first} --output json").json[0]["changes"] == row["changes"]
    finally:
        shell(f"delete-topic '{name}*' --yes")


def test_a_part_of_a_name_is_not_a_resource(shell: Shell) -> None:
    name = f"journal-{uuid.uuid4().hex[:8]}"
    shell.ok(f"create-topic {name}.authorized")
    try:
        none = shell.ok(f"journal --resource {name}")
        said = f"no matching journal entry; use '*{name}*' to match part of a name"
        assert said in none.out + none.err
        assert f"{name}.authorized" in shell.ok(f"journal --resource '*{name}*'").out
        none = shell.ok("journal --resource '*nosuch*'")
        assert "to match part of a name" not in none.out + none.err
    finally:
        shell(f"delete-topic '{name}*' --yes")
