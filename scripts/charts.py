"""Draws the charts of docs/performance.md from its tables, readable on light and dark pages.

python scripts/charts.py
"""

from __future__ import annotations

import re
from html import escape
from pathlib import Path

DOCS = Path(__file__).parent.parent / "docs"
WIDTH, LABEL, BAR, GAP = 640, 190, 18, 8
# File -> title, and (label, row of a table, column, unit) of each bar.
CHARTS = {
    "list-topics": ("list-topics: time relative to kafka-topics.sh (1.0)", [
        (f"{size} topics", "`list-topics`, ratio to Kafka's tool", column, "")
        for column, size in enumerate(("1,000", "10,000", "100,000"), 1)
    ]),
    "start": ("Time from start to exit", [
        ("bare Python", "bare Python", 1, " ms"),
        ("kafka.sh --version", "`--version`", 1, " ms"),
        ("kafka.sh topics", "`topics`", 1, " ms"),
        ("start to the prompt", "start to the prompt", 1, " ms"),
    ]),
    "records": ("Reading all values of a million records", [
        (tool, "`--raw`: all values", column, " s")
        for column, tool in enumerate(("kafka.sh", "kcat", "console consumer"), 1)
    ]),
}  # fmt: skip
STYLE = """<style>
text { font: 13px sans-serif; fill: #1f2328 } rect { fill: #0969da }
@media (prefers-color-scheme: dark) { text { fill: #e6edf3 } rect { fill: #4493f8 } }
</style>"""


def charts() -> dict[str, str]:
    """The SVG of each chart, by file."""
    rows = re.findall(r"^\| (.+) \|$", (DOCS / "performance.md").read_text("utf-8"), re.MULTILINE)
    cells = {row.split(" | ")[0]: row.split(" | ") for row in rows}
    return {
        f"performance-{name}.svg": _svg(title, [
            (label, _number(cells[row][column]), unit) for label, row, column, unit in bars
        ])
        for name, (title, bars) in CHARTS.items()
    }  # fmt: skip


def _number(cell: str) -> float:
    found = re.match(r"[\d.]+", cell)
    assert found, cell
    return float(found.group())


def _svg(title: str, bars: list[tuple[str, float, str]]) -> str:
    most = max(value for _, value, _ in bars)
    height = 36 + len(bars) * (BAR + GAP)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img">',
        f"<title>{escape(title)}</title>", STYLE, f'<text x="0" y="16">{escape(title)}</text>',
    ]  # fmt: skip
    for number, (label, value, unit) in enumerate(bars):
        y = 30 + number * (BAR + GAP)
        long = round((WIDTH - LABEL - 70) * value / most, 1)
        lines += [
            f'<text x="{LABEL - 8}" y="{y + 13}" text-anchor="end">{escape(label)}</text>',
            f'<rect x="{LABEL}" y="{y}" width="{long}" height="{BAR}"/>',
            f'<text x="{LABEL + long + 6}" y="{y + 13}">{value:g}{unit}</text>',
        ]
    return "\n".join([*lines, "</svg>"]) + "\n"


if __name__ == "__main__":
    for name, chart in charts().items():
        (DOCS / name).write_text(chart, encoding="utf-8")
