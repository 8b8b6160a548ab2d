"""Names that make a backtracking matcher slow: every matcher takes linear time.

A regular expression that backtracks takes seconds for 40 such letters and does not end for 249. The
limit of a minute is far above the time that any matcher needs.
"""

from __future__ import annotations

import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_shell.audit.policy import regex_of
from kafka_shell.base.errors import near_miss
from kafka_shell.base.results import mentions
from kafka_shell.base.text import quote
from kafka_shell.commands import REGISTRY
from kafka_shell.language.cursor import classify, completion_request
from kafka_shell.language.kinds import is_pattern, select
from kafka_shell.language.tokens import tokenize
from kafka_shell.view.match import NameIndex

pytestmark = pytest.mark.timeout(60)

TOPICS = [
    "a" * 249,
    "a" * 248 + "b",
    "ab" * 124,
    "a." * 124,
    "-" * 200 + "a",
    "aaaaaaaaab" * 24,
    ".".join(["a-a_a"] * 40),
]
GROUPS = ["a" * 30_000, "(a|a)*b" * 1000, "\\" * 5000, "'\"" * 2000, "[" * 3000, "{a=" * 2000]
TYPED = ["a" * 30 + "!", "ab" * 15 + "c", "a.a.a.a.a.a.a.a.a.a.a.a.b", "-a" * 20 + "z"]

# Short alphabets, so that the letters of one are in the other again and again.
adversarial = st.text(alphabet="ab.-_", min_size=1, max_size=249)


def in_order(letters: str, name: str) -> bool:
    rest = iter(name)
    return all(letter in rest for letter in letters)


@pytest.mark.parametrize("typed", TYPED)
def test_completion(typed: str) -> None:
    assert NameIndex(TOPICS + GROUPS).find(typed).total >= 0
    assert NameIndex(["a" * 130]).find("a" * 40 + "x").total == 0


@given(st.lists(adversarial, max_size=20), adversarial)
def test_letters_in_order_are_found_wherever_they_are(known: list[str], typed: str) -> None:
    index = NameIndex(known)
    found = index.find(typed).names
    assert all(in_order(typed, name) or set(typed) & set("._-") for name in found)
    if not found:
        assert not any(in_order(typed, name) for name in known)


@pytest.mark.parametrize("glob", ["*a" * 40 + "!", "a*" * 60 + "b?c", "?*" * 50 + "!", "*" * 120])
def test_globs(glob: str) -> None:
    assert is_pattern(glob)
    chosen = set(select([glob], TOPICS).names)
    assert chosen == {name for name in TOPICS if re.fullmatch(regex_of(glob), name)}


@given(st.text(alphabet="ab*?.", min_size=1, max_size=30), adversarial)
def test_a_policys_glob_matches_what_a_selectors_does(glob: str, name: str) -> None:
    chosen = glob == name or bool(select([glob], [name]).names)
    assert (re.fullmatch(regex_of(glob), name) is not None) == chosen


def test_near_misses() -> None:
    mix = random.Random(7)
    word = "ab" * 32
    shuffled = ["".join(mix.sample(word, len(word))) for _ in range(5000)]
    assert near_miss(word, [*shuffled, *GROUPS]) is None
    assert near_miss("a" * 64, TOPICS) is None


@pytest.mark.parametrize("name", TOPICS + GROUPS)
def test_highlighting_and_completion_at_the_cursor(name: str) -> None:
    for line in (f"describe-topic {quote(name)}", f"describe-group {name} --topic {name}"):
        classify(line, REGISTRY)
        completion_request(line, len(line), REGISTRY)


@pytest.mark.parametrize("name", TOPICS + GROUPS)
def test_a_line_that_holds_a_name_is_read_back(name: str) -> None:
    (word,) = tokenize(quote(name)).words
    assert word.text == name
    assert mentions(f"there is no topic {name} here", name)


@given(adversarial)
def test_any_name_is_classified(name: str) -> None:
    line = f"alter-configs {quote(name)} retention.ms=[{name}"
    assert all(0 <= start <= end <= len(line) for (start, end), _ in classify(line, REGISTRY))
