"""README's derived parts. `python -m tests.readme` writes the reference table anew."""

from __future__ import annotations

from pathlib import Path

from kafka_shell.commands import REGISTRY
from kafka_shell.commands.help import reference

README = Path(__file__).parent.parent / "README.md"


def part(name: str) -> str:
    """What stands between the marks of this name."""
    text = README.read_text(encoding="utf-8")
    return text.split(f"<!-- {name}: begin -->\n")[1].split(f"<!-- {name}: end -->")[0]


def rewrite() -> None:
    """Put the derived table where it belongs."""
    text = README.read_text(encoding="utf-8")
    old = part("reference")
    begin = "<!-- reference: begin -->\n"
    README.write_text(
        text.replace(begin + old, begin + reference(REGISTRY) + "\n"), encoding="utf-8"
    )


if __name__ == "__main__":
    rewrite()
