"""Selectors of topics and brokers: lists, globs and regular expressions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_shell.base.errors import UsageError
from kafka_shell.language.kinds import check, is_pattern, select

NAMES = ("svc-1", "svc-22", "svc-a", "test.a", "test_a", "orders", "svc-*", "a,b", "a", "b", "xa")


@pytest.mark.parametrize(
    ("words", "chosen"),
    [
        (["orders"], ["orders"]),
        (["test.a"], ["test.a"]),
        (["b,a"], ["a", "b"]),  # the order of the names
        (["orders,a", "a"], ["orders", "a"]),
        (["a,b"], ["a,b"]),  # a name is that name
        (["svc-*"], ["svc-*"]),
        (["svc-?"], ["svc-1", "svc-a", "svc-*"]),
        (["svc-[0-9]*"], ["svc-1", "svc-22"]),
        (["svc-[!0-9]"], ["svc-a", "svc-*"]),
        (["svc-[1,a]"], ["svc-1", "svc-a"]),
        ([r"/svc-\d+/"], ["svc-1", "svc-22"]),
        (["/a/"], ["a"]),  # the whole name: not xa
        (["/.*a/,orders"], ["svc-a", "test.a", "test_a", "orders", "a", "xa"]),
        (["/[a-z]{1,2}/,orders"], ["orders", "a", "b", "xa"]),
        (["test.*"], ["test.a"]),
    ],
)
def test_selection(words: list[str], chosen: list[str]) -> None:
    selection = select(words, NAMES)
    assert list(selection.names) == sorted(chosen, key=NAMES.index)
    assert selection.unmatched == ()


def test_brokers_are_selected_by_their_ids() -> None:
    assert select(["1?", "2,3"], ["1", "2", "10", "3", "11"]).names == ("2", "10", "3", "11")


def test_unmatched_words_are_reported() -> None:
    selection = select(["orders,nope", "no-*", "a"], NAMES)
    assert selection.names == ("orders", "a")
    assert selection.unmatched == ((0, "nope"), (1, "no-*"))


@pytest.mark.parametrize("word", ["/a(/", "/abc", "/", "//", "a,/x(/"])
def test_a_broken_expression_is_a_wrong_line(word: str) -> None:
    with pytest.raises(UsageError):
        check(word)
    with pytest.raises(UsageError):
        select([word], NAMES)


@pytest.mark.parametrize(
    ("word", "pattern"),
    [("orders", False), ("a.b", False), ("a,b", True), ("svc-*", True), ("/x/", True), ("a?", True),
     ("[ab]", True), ("/x", False)],
)  # fmt: skip
def test_is_pattern(word: str, pattern: bool) -> None:
    assert is_pattern(word) is pattern


@given(st.lists(st.text(min_size=1), min_size=1, unique=True), st.data())
def test_every_name_selects_itself_alone(names: list[str], data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(names))
    assert select([name], names).names == (name,)


@given(st.lists(st.text("ab*?[]!-,.")), st.lists(st.text("ab.-", min_size=1)))
def test_patterns_without_expressions_never_fail(words: list[str], names: list[str]) -> None:
    assert set(select(words, names).names) <= set(names)


@pytest.mark.timeout(60)
def test_many_stars_do_not_backtrack() -> None:
    assert select(["*a" * 30 + "b"], ["a" * 249]).names == ()


@pytest.mark.timeout(60)
@pytest.mark.parametrize("expression", ["(a|a)*b", "(a*)*b", "(a+)+$", "(.*)*x", "(a|aa)+c"])
def test_no_expression_backtracks(expression: str) -> None:
    names = ["a" * 60, "a" * 249]
    select([f"/{expression}/"], names)


@pytest.mark.parametrize(
    ("expression", "hint"),
    [("(?=a)a", "look-around"), (r"(a)\1", "backreferences"), ("a++", "RE2"), ("[", "")],
)
def test_unsupported_syntax_is_reported(expression: str, hint: str) -> None:
    with pytest.raises(UsageError) as caught:
        select([f"/{expression}/"], ["a"])
    assert f"invalid regular expression /{expression}/: " in caught.value.message
    assert hint in caught.value.hint
    assert "b'" not in caught.value.message
