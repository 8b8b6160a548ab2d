"""README and docs/ match the program: generated pages, links, examples and commands."""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from xml.etree import ElementTree

import pytest

from kafka_shell.base.errors import UsageError
from kafka_shell.commands import REGISTRY
from kafka_shell.config_file import PROFILE_KEYS
from kafka_shell.language.parse import parse
from kafka_shell.language.tokens import commands, tokenize
from tests import generated_docs
from tests.api_reference import anchor, contents
from tests.support.places import ROOT

DOCS = generated_docs.DOCS
_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PAGES = [ROOT / "README.md", *sorted(DOCS.glob("*.md"))]


@pytest.mark.parametrize("name", generated_docs.PAGES)
def test_generated_pages_are_up_to_date(name: str) -> None:
    text = (DOCS / name).read_text(encoding="utf-8")
    assert text == generated_docs.PAGES[name](), "run python -m tests.generated_docs"


def commands_of_the_docs() -> tuple[set[str], set[str]]:
    """Lines of code blocks, and commands with options in sentences and tables."""
    words = {command.name.split()[0] for command in REGISTRY}
    words |= {short.word for command in REGISTRY for short in command.shorts}
    lines: list[str] = []
    mentions: list[str] = []
    for page in PAGES:
        if page.name in generated_docs.PAGES:
            continue
        text = page.read_text(encoding="utf-8")
        for language, block in _BLOCK.findall(text):
            prompts = [row for row in block.splitlines() if row.startswith("kafka> ")]
            lines += [] if language else prompts or block.splitlines()
        text = _BLOCK.sub("", text)
        lines += re.findall(r"^    (\S.*)$", text, re.MULTILINE)
        mentions += [code for code in re.findall(r"`([^`\n]+)`", text) if " -" in code]
    found = ([line.removeprefix("kafka> ") for line in each] for each in (lines, mentions))
    typed, mentioned = ({x for x in each if x and x.split()[0] in words} for each in found)
    return typed, mentioned


def test_the_commands_of_the_docs_are_valid() -> None:
    lines, mentions = commands_of_the_docs()
    assert len(lines) > 80 and len(mentions) > 20
    for line in lines:
        for command in commands(line):
            parse(command, REGISTRY)
    for mention in mentions:
        try:
            parse(tokenize(mention), REGISTRY)
        except UsageError as error:  # a mention leaves out what it is not about
            if error.code not in ("missing", "missing-value"):
                raise


def test_every_key_of_a_profile_is_documented() -> None:
    text = (DOCS / "configuration.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`.*?`) \|", text.split("| key | meaning |")[1].split("\n\n")[0], re.M)
    assert set(re.findall(r"`(.+?)`", " ".join(rows))) == {*PROFILE_KEYS} - {"colour"}


def test_charts_are_drawn_from_the_tables() -> None:
    charts = runpy.run_path(str(ROOT / "scripts" / "charts.py"))["charts"]()
    assert {name: (DOCS / name).read_text("utf-8") for name in charts} == charts


def test_the_recorded_session_plays_in_an_image() -> None:
    source = (DOCS / "prompt.svg").read_text("utf-8")
    assert len(source) < 300_000
    words = " ".join(ElementTree.fromstring(source).itertext())
    for shown in ("retain a log before", "dry run:", "altered topic", "undo", "[y/N]"):
        assert shown in words
    assert "@media(prefers-reduced-motion:reduce){#s{animation:none}}" in words
    assert "<script" not in source and "url(" not in source
    assert set(re.findall(r'href="(.)', source)) == {"#"}


def test_the_test_command_is_what_ci_runs() -> None:
    assert "scripts/check.sh" in (ROOT / "README.md").read_text(encoding="utf-8")
    assert "scripts/check.sh" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return set(map(anchor, headings))


@pytest.mark.parametrize("page", PAGES[1:], ids=lambda page: page.name)
def test_a_page_lists_its_sections_at_its_top(page: Path) -> None:
    top, *sections = re.split(
        r"^## (.+)$", _BLOCK.sub("", page.read_text(encoding="utf-8")), flags=re.MULTILINE
    )
    for title in sections[::2] if len(sections) > 2 else []:
        assert contents([title]).removeprefix("- ") in top


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
        if target.startswith("https://"):
            continue
        path, _, anchor = target.partition("#")
        found = page.parent / path if path else page
        assert found.exists(), target
        assert not anchor or anchor in anchors(found), target


def test_every_page_of_docs_is_linked_from_readme() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert [page.name for page in PAGES[1:] if f"(docs/{page.name})" not in text] == []


def test_pictures_are_there() -> None:
    for picture in re.findall(r"!\[[^]]*\]\(([^)]+)\)", (ROOT / "README.md").read_text()):
        assert (ROOT / picture).stat().st_size > 5_000, picture
