"""Matching of names with what was typed."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kafka_shell.base.text import common_prefix
from kafka_shell.view.match import LIMIT, NameIndex

name = st.text(alphabet="abcABC.-_é9\0", min_size=1, max_size=12)
names = st.lists(name, max_size=40)


@given(names, name)
def test_what_is_found_is_there_once_and_counted(known: list[str], typed: str) -> None:
    found = NameIndex(known).find(typed)
    assert len(set(found.names)) == len(found.names) <= LIMIT
    assert set(found.names) <= set(known)
    assert found.total == len(found.names)


@given(names, name)
def test_every_name_that_contains_the_typed_text_is_found_prefixes_first(
    known: list[str], typed: str
) -> None:
    found = NameIndex(known).find(typed).names
    query = typed.lower()
    starts = [name for name in set(known) if name.lower().startswith(query)]
    holds = {name for name in known if query in name.lower()}
    assert set(found[: len(starts)]) == set(starts)
    assert set(found[: len(holds)]) == holds


@given(names, name)
def test_the_order_in_which_names_came_does_not_matter(known: list[str], typed: str) -> None:
    assert NameIndex(known).find(typed) == NameIndex(reversed(known)).find(typed)


@given(names, name)
def test_a_name_is_in_it_or_not_to_the_letter(known: list[str], other: str) -> None:
    index = NameIndex(known)
    assert all(each in index for each in known)
    for each in (other, other.lower(), other.upper(), f"{other}\0", ""):
        assert (each in index) == (each in known), each
    assert len(index) == len(set(known)) == len(set(index.names))


@given(names)
def test_nothing_typed_offers_everything(known: list[str]) -> None:
    index = NameIndex(known)
    assert set(index.find("").names) == set(known) == set(index.names)


@given(st.lists(name, min_size=1, max_size=9))
def test_the_common_prefix_is_the_longest_one(words: list[str]) -> None:
    prefix = common_prefix(words)
    assert all(word.startswith(prefix) for word in words)
    longer = {word[: len(prefix) + 1] for word in words}
    assert len(longer) > 1 or prefix in words


def test_fragments_in_any_order_come_after_the_words_as_typed() -> None:
    index = NameIndex(["payments.orders.v1", "orders.payments", "orders", "clicks"])
    assert index.find("pay.ord").names == ("orders.payments", "payments.orders.v1")
    assert index.find("orders.pay").names[0] == "orders.payments"


def test_the_start_of_a_word_is_better_than_its_middle() -> None:
    assert NameIndex(["reorder", "an-order"]).find("order").names == ("an-order", "reorder")


def test_letters_in_order_but_apart_count_in_short_lists_only() -> None:
    few = NameIndex(["describe-topic", "delete-topic", "health"])
    assert few.find("dtop").names == ("delete-topic", "describe-topic")
    many = NameIndex([*few.names, *(f"x{number}" for number in range(600))])
    assert many.find("dtop").names == ()


def test_two_names_that_differ_in_case_only_are_two_names() -> None:
    index = NameIndex(["Orders", "orders", "ORDERS"])
    assert set(index.find("ord").names) == {"Orders", "orders", "ORDERS"}
    assert index.find("ord").total == 3


def test_at_most_so_many_are_offered_and_the_rest_is_counted() -> None:
    index = NameIndex(f"topic-{number:05d}" for number in range(30_000))
    found = index.find("topic")
    assert len(found.names) == LIMIT
    assert found.more == 30_000 - LIMIT
