"""README's derived parts. `python -m tests.readme` writes the tables anew."""

from __future__ import annotations

from pathlib import Path

from kafka_shell.commands import REGISTRY
from kafka_shell.commands.cluster import api_table as apis
from kafka_shell.commands.program.help import reference

README = Path(__file__).parent.parent / "README.md"
DERIVED = {"reference": reference, "apis": apis.table}


def part(name: str) -> str:
    """What stands between the marks of this name."""
    text = README.read_text(encoding="utf-8")
    return text.split(f"<!-- {name}: begin -->\n")[1].split(f"<!-- {name}: end -->")[0]


def rewrite() -> None:
    """Put the derived tables where they belong."""
    for name, derive in DERIVED.items():
        text = README.read_text(encoding="utf-8")
        begin = f"<!-- {name}: begin -->\n"
        README.write_text(
            text.replace(begin + part(name), begin + derive(REGISTRY) + "\n"), encoding="utf-8"
        )


if __name__ == "__main__":
    rewrite()
