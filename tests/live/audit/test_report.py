"""The HTML report, in a real browser if one is installed."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from kafka_shell.audit import drift
from kafka_shell.audit.engine import Engine
from kafka_shell.audit.model import (
    AuditFinding,
    AuditReport,
    ControlResult,
)
from kafka_shell.audit.report import Bar, Chart, page
from kafka_shell.base.errors import ShellError
from tests.support import cluster_tables, snapshot_files
from tests.support.audit_report import FINDINGS, finding
from tests.support.in_process_shell import Shell

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), ""
)
browser = pytest.mark.skipif(not CHROMIUM, reason="no Chromium on this machine")

# Before the page's own script: what goes wrong, and what is copied.
WATCH = """
<script>
const seen = {errors: [], copied: []};
addEventListener("error", event => seen.errors.push(event.message));
addEventListener("unhandledrejection", event => seen.errors.push(String(event.reason)));
Object.defineProperty(navigator, "clipboard", {value: {
  writeText: text => { seen.copied.push(text); return Promise.resolve(); }}});
const at = id => document.getElementById(id);
const choose = (id, value) => { at(id).value = value; at(id).dispatchEvent(new Event("input")); };
const shown = selector => [...document.querySelectorAll(selector)].filter(
  each => each.checkVisibility());
const resources = () => [...new Set(shown("#findings tr").map(row => row.cells[0].innerText))];
</script>
"""


def browse(text: str, steps: str, folder: Path, *options: str) -> Any:
    """What `steps`, JavaScript after the page's own, put into `seen`. The console stays empty."""
    file = folder / "probed.html"
    ending = f"""
<script>
(async () => {{
{steps}
}})().catch(error => seen.errors.push(String(error))).finally(
  () => document.title = JSON.stringify(seen));
</script>
</body>"""
    file.write_text(text.replace("<style>", WATCH + "<style>", 1).replace("</body>", ending))
    done = subprocess.run(
        [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom",
         "--virtual-time-budget=1000", f"--user-data-dir={folder}/chromium",
         "--enable-logging=stderr", "--v=0", *options, f"file://{file}"],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    title = re.search(r"<title>(\{.*?)</title>", done.stdout, re.S)
    assert title is not None, done.stderr[-2000:]
    seen = json.loads(html.unescape(title[1]))
    assert seen["errors"] == []
    assert "CONSOLE" not in done.stderr, done.stderr
    return seen


@pytest.fixture
def made_up() -> str:
    """A page of a few findings, without Spark."""
    chart = Chart("Lag", "Who is behind.", (Bar("billing", "9", 1.0), Bar("web", "3", 1 / 3)))
    return page(AuditReport("s", 0, ("dev",), {}, (), FINDINGS), (chart,))


def test_the_report_is_one_file_that_needs_nothing_else(shell: Shell, tmp_path: Path) -> None:
    file = tmp_path / "audit.html"
    run = shell(f"spark audit --controls T16,T13 --report {file} --fail-on any")
    assert run.status == 1, str(run)
    text = file.read_text()
    links = re.sub(r'<a href="https://[^"]+" rel="noreferrer">', "", text)
    assert not re.findall(r"https?://|src=|@import|url\(", links)
    assert "default-src 'none'" in text
    assert "1 partition" in text and "T16" in text
    for title in ("Replicas per broker", "Leaders per broker", "Bytes per broker", "Consumer lag"):
        assert title in text
    assert "Actual and configured retention" in text
    assert "Drift over snapshots" not in text
    if CHROMIUM:
        seen = browse(
            text,
            'for (const each of document.querySelectorAll("#findings details")) each.open = true;'
            'choose("text", "orders.placed");'
            'seen.shown = at("shown").textContent; seen.rows = resources();',
            tmp_path,
        )
        assert re.fullmatch(rf"{len(seen['rows'])} of \d+ findings", seen["shown"])
        assert seen["rows"] and all("orders.placed" in each for each in seen["rows"])


@browser
def test_what_was_not_checked_is_no_finding(tmp_path: Path) -> None:
    skipped = AuditFinding("S05", "", "high", "skip", "dev", "ACLs", "could not be read", "")
    text = page(AuditReport("s", 0, ("dev",), {}, (), (*FINDINGS[:1], skipped)), ())
    seen = browse(text, 'seen.shown = at("shown").textContent;', tmp_path)
    assert seen["shown"] == "1 finding, 1 not checked"


@browser
def test_what_is_only_counted_and_what_is_info_are_told_apart(tmp_path: Path) -> None:
    info = AuditFinding("B21", "", "medium", "info", "dev", "orders:0", "adding replicas", "")
    found = (*(finding("T01", "high", "orders"),) * 1002, info)
    report = AuditReport("s", 0, ("dev",), {}, (), found)
    steps = """
seen.shown = at("shown").textContent;
choose("text", "adding"); seen.info = at("shown").textContent;
choose("text", ""); choose("status", "alarm"); seen.alarms = at("shown").textContent;
"""
    seen = browse(page(report, ()), steps, tmp_path)
    assert seen["shown"] == "1,002 findings, 1 info"
    assert seen["info"] == "0 of 1,002 findings, 1 info"
    assert seen["alarms"] == "1,002 findings"


@browser
def test_findings_are_filtered(made_up: str, tmp_path: Path) -> None:
    steps = """
at("open").click();
seen.all = resources(); seen.shown = at("shown").textContent;
choose("severity", "low"); seen.low = resources();
choose("text", "ORDERS"); seen.both = resources(); seen.few = at("shown").textContent;
choose("severity", ""); seen.text = shown("#findings summary strong").map(e => e.innerText);
choose("text", "alter-configs"); seen.remedy = resources();
choose("text", "nothing like it"); seen.none = resources(); seen.zero = at("shown").textContent;
"""
    seen = browse(made_up, steps, tmp_path)
    assert (seen["all"], seen["shown"]) == (["orders", "payments", "web"], "4 findings")
    assert seen["low"] == ["web", "orders"]
    assert (seen["both"], seen["few"]) == (["orders"], "1 of 4 findings")
    assert seen["text"] == ["T01", "T24"]
    assert seen["remedy"] == ["payments"]
    assert (seen["none"], seen["zero"]) == ([], "0 of 4 findings")


@browser
def test_findings_fold(made_up: str, tmp_path: Path) -> None:
    steps = """
seen.start = shown("#findings tr").length;
document.querySelector("#findings summary").click(); seen.fold = shown("#findings tr").length;
at("open").click(); seen.unfold = shown("#findings tr").length; seen.says = at("open").innerText;
at("open").click(); seen.folded = shown("#findings tr").length;
dispatchEvent(new Event("beforeprint")); seen.print = shown("#findings tr").length;
"""
    seen = browse(made_up, steps, tmp_path)
    assert (seen["start"], seen["fold"]) == (3, 2)
    assert (seen["unfold"], seen["says"]) == (4, "Collapse all")
    assert (seen["folded"], seen["print"]) == (0, 4)


@browser
def test_a_remedy_is_copied_unchanged(made_up: str, tmp_path: Path) -> None:
    steps = """
const button = document.querySelector(".copy");
button.click(); await Promise.resolve(); await Promise.resolve();
seen.says = button.innerText; seen.buttons = document.querySelectorAll(".copy").length;
"""
    seen = browse(made_up, steps, tmp_path)
    assert seen["copied"] == ["alter-configs payments a='b c'"]
    assert (seen["says"], seen["buttons"]) == ("Copied", 1)


@browser
@pytest.mark.parametrize("options", [(), ("--blink-settings=preferredColorScheme=0",)])
def test_light_and_dark_are_readable_and_nothing_is_cut_off(
    made_up: str, tmp_path: Path, options: tuple[str, ...]
) -> None:
    steps = """
const light = colour => colour.match(/\\d+/g).slice(0, 3).reduce((sum, n) => sum + +n, 0) / 765;
const style = getComputedStyle(document.body);
seen.contrast = Math.abs(light(style.color) - light(style.backgroundColor));
seen.dark = light(style.backgroundColor) < .5;
seen.over = document.documentElement.scrollWidth - document.documentElement.clientWidth;
seen.bars = [...document.querySelectorAll(".charts .track > span")].map(
  bar => Math.round(100 * bar.offsetWidth / bar.parentElement.offsetWidth));
"""
    seen = browse(made_up, steps, tmp_path, "--window-size=500,900", *options)
    assert seen["contrast"] > 0.7
    assert seen["dark"] is bool(options)
    assert seen["over"] <= 0
    assert seen["bars"] == [100, 33]


@browser
def test_nothing_is_cut_off_on_a_phone(tmp_path: Path) -> None:
    """A window of Chromium is at least 500 pixels wide, a frame is not."""
    name = "no-place-to-break." * 13
    judged = ControlResult(
        "T01", "One copy", "high", "topics", {"ok": 1_000_000, "skip": 3}, "Why."
    )
    found = tuple(
        AuditFinding("T01", "Copy", "high", "alarm", cluster, name, name, f"delete-topic {name}",
                     f"create-topic {name}", risk="irreversible")
        for cluster in ("a" * 60, "b")
    )  # fmt: skip
    report = AuditReport("s", 0, ("a" * 60, "b"), {"b": name}, (judged,), found)
    chart = Chart(name, name, (Bar(name, "999,999", 1.0),))
    inside = html.escape(page(report, (chart,)))
    steps = """
const frame = document.querySelector("iframe");
while (!frame.contentDocument?.querySelector(".risk.irreversible"))
  await new Promise(done => setTimeout(done, 20));
const root = frame.contentDocument.documentElement;
seen.over = root.scrollWidth - root.clientWidth; seen.width = root.clientWidth;
seen.cut = [...root.querySelectorAll("body *")].filter(
  each => each.checkVisibility() && each.getBoundingClientRect().right > 420).map(e => e.tagName);
seen.risk = root.querySelector(".risk.irreversible").innerText;
seen.clusters = root.querySelectorAll(".counts")[0].innerText;
"""
    frame = f'<iframe width=420 height=900 frameborder=0 srcdoc="{inside}"></iframe>'
    text = f"<style></style><body>{frame}</body>"
    seen = browse(text, steps, tmp_path, "--hide-scrollbars")
    assert (seen["width"], seen["over"], seen["cut"]) == (420, 0, [])
    assert seen["risk"] == "irreversible"
    assert "unreachable" in seen["clusters"]


@browser
def test_hostile_names_are_inert(tmp_path: Path) -> None:
    evil = "<img src=x onerror=\"seen.hacked=1\"><script>seen.hacked=1</script>' onclick='x"
    one = AuditFinding("T01", evil, "high", "alarm", evil, evil, evil, evil, evil)
    other = AuditFinding("T01", evil, "high", "alarm", "z", "orders", evil)
    text = page(AuditReport("s", 0, (evil, "z"), {evil: evil}, (), (one, other)), ())
    steps = """
choose("cluster", at("cluster").options[1].value);
seen.names = resources(); seen.images = document.images.length;
"""
    seen = browse(text, steps, tmp_path)
    assert "hacked" not in seen and seen["images"] == 0
    assert seen["names"] == [f"{evil} {evil}"]


@pytest.mark.usefixtures("few_tables")
def test_drift_over_snapshots(shell: Shell, engine: Engine, tmp_path: Path) -> None:
    folder, file = tmp_path / "state", tmp_path / "audit.html"
    first = cluster_tables.read(shell.bootstrap)
    topics = first.rows("topics")
    later = first.altered("topics", [*topics, topics[0] | {"topic": "drifted"}])
    for day, tables in enumerate((first, later, later), 1):
        snapshot_files.write(tables.tables, str(folder), f"2026010{day}T000000.000Z-0000")
    shell(f"spark audit --snapshot {folder} --controls B05 --report {file}")
    figure = re.search(r"<figure>\s*<figcaption>Drift over.*?</figure>", file.read_text(), re.S)
    assert figure is not None
    assert re.findall(r'"number">(\d+)<', figure[0]) == ["1", "0"]
    assert re.findall(r"width: ([\d.]+)%", figure[0]) == ["100.0", "0.0"]
    assert "1 in topics" in figure[0]
    assert drift.over_snapshots(engine, str(folder), "20260102", 9) == [], "nothing before it"
    for part in (folder / "topics" / "20260102T000000.000Z-0000").iterdir():
        part.unlink()
    damaged = f"20260102T000000.000Z-0000 in {folder} is damaged"
    with pytest.raises(ShellError, match=re.escape(damaged)):
        drift.over_snapshots(engine, str(folder), "9", 9)
    (folder / "topics" / "20260102T000000.000Z-0000").rmdir()
    found = drift.over_snapshots(engine, str(folder), "9", 9)
    assert [changes for _, changes in found] == [(), ()], "a lost table is not compared"
