"""Tokens with their positions: POSIX quoting, comments, pipes, redirects, continued lines."""

import re
import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_shell.base.text import join, quote
from kafka_shell.language.tokens import Line, incomplete_part, logical_lines, tokenize, words_of


def texts(line: Line) -> list[str]:
    return [word.text for word in line.words]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", []),
        ("  list-topics\t--long ", ["list-topics", "--long"]),
        ("a 'b c' \"d e\" f\\ g", ["a", "b c", "d e", "f g"]),
        ("''", [""]),
        ("a''b\"c\"", ["abc"]),
        (r""" "\$ \" \\ \n" '\n' \n """, [r'$ " \ \n', r"\n", "n"]),
        ("k=[v1,v2] 'k1=v1,k2=[a b]'", ["k=[v1,v2]", "k1=v1,k2=[a b]"]),
        ("a # b c", ["a"]),
        ("a#b '#c'", ["a#b", "#c"]),
        ("a \\\n b\\\nc", ["a", "bc"]),
        ("a # it's\nb", ["a", "b"]),
        ("'a\nb'", ["a\nb"]),
        ("a!b", ["a!b"]),
    ],
)
def test_words(text: str, words: list[str]) -> None:
    assert texts(tokenize(text)) == words


@pytest.mark.parametrize(
    "text",
    [r"/^svc-\d+/", r"a,/x\.y/", r"/\w{1,2}/,b", r"--topic=/svc-\d+/", r"/a\|b/", r"/a\ b/",
     r"'/a|b\d/'", r"/a\'b/"],
)  # fmt: skip
def test_an_expression_keeps_its_backslashes(text: str) -> None:
    assert texts(tokenize(f"describe-topic {text} z")) == ["describe-topic", text.strip("'"), "z"]


@pytest.mark.parametrize(
    ("text", "word"),
    [(r"/tmp/my\ file", "/tmp/my file"), (r"x/a\d/", "x/ad/"), (r"/open\d", "/opend")],
)
def test_an_unclosed_regular_expression_is_a_word(text: str, word: str) -> None:
    assert texts(tokenize(text)) == [word]


def test_a_pipe_ends_an_unquoted_expression() -> None:
    line = tokenize("describe-topic /^(a|b)/")
    assert texts(line) == ["describe-topic", "/^(a"]
    assert line.pipe == "b)/"


def test_a_pipe_is_verbatim() -> None:
    line = tokenize("list-topics | grep 'a b' > \"x\" # y | wc ")
    assert texts(line) == ["list-topics"]
    assert line.pipe == "grep 'a b' > \"x\" # y | wc"
    assert line.pipe_span is not None
    assert line.text[slice(*line.pipe_span)] == line.pipe
    assert line.redirect is None


@pytest.mark.parametrize(
    ("text", "path", "append"),
    [("a > f", "f", False), ("a >> f", "f", True), ("a>'f g'", "f g", False), ("a >f --x", "f", 0)],
)
def test_an_answer_goes_to_a_file(text: str, path: str, append: bool) -> None:
    line = tokenize(text)
    assert line.problem is None
    assert line.redirect is not None
    assert (line.redirect.path, line.redirect.append) == (path, append)
    assert line.words[0].text == "a"


def test_a_quoted_operator_is_text() -> None:
    line = tokenize(r"a '|' \> \#")
    assert texts(line) == ["a", "|", ">", "#"]
    assert (line.pipe, line.redirect, line.operators) == (None, None, ())


@pytest.mark.parametrize(("text", "shell"), [("!ls | wc", "ls | wc"), ("  ! x", "x"), ("!", "")])
def test_a_shell_escape(text: str, shell: str) -> None:
    assert tokenize(text).shell == shell
    assert tokenize(text).words == ()
    assert not tokenize(text).empty


@pytest.mark.parametrize(
    ("text", "message", "at"),
    [
        ("a & b", "'&' is not supported", "&"),
        ("a b&c", "'&' is not supported", "&"),
        ("a &> f", "'&>' is not supported", "&>"),
        ("a ||", "no command after ||", "||"),
        ("a && # b", "no command after &&", "&&"),
        ("&& a", "no command before &&", "&&"),
        ("; a", "no command before ;", ";"),
        ("a | ; b", "no command after |", "|"),
        ("a > ; b", "no file after >", ">"),
        ("a |", "no command after |", "|"),
        ("| wc", "no command before |", "|"),
        ("a > f | wc", "> cannot be used with a pipe", "|"),
        ("a >", "no file after >", ">"),
        ("a >> | x", "no file after >>", ">>"),
        ("a > f > g", "more than one redirect", "> g"),
        ("a 2> f", "'2>' is not supported", "2>"),
        ("a < f", "'<' is not supported", "<"),
    ],
)
def test_problems_point_at_their_place(text: str, message: str, at: str) -> None:
    problem = tokenize(text).problem
    assert problem is not None
    assert message in problem.message
    assert text[slice(*problem.span)] == at


@pytest.mark.parametrize(
    ("text", "what", "where"),
    [
        ("a 'b", "quote", 2), ('a "b\\"', "quote", 2), ("a \\", "backslash", 2),
        ("a 'b' \"c", "quote", 6),
        ("a | grep 'x", "quote", 9), ("!echo \\", "backslash", 6), ("a '\\", "quote", 2),
    ],
)  # fmt: skip
def test_the_reason_for_an_incomplete_line(text: str, what: str, where: int) -> None:
    incomplete = tokenize(text).incomplete
    assert incomplete is not None
    assert (incomplete.what, incomplete.span[0]) == (what, where)


@pytest.mark.parametrize(
    "text", ["a", "a 'b'", "a \\\\", "a # it's", r"a \'", "a \\\nb", "/a\\'/ b"]
)
def test_a_closed_line(text: str) -> None:
    assert tokenize(text).incomplete is None


def test_scripts_join_open_lines() -> None:
    script = ["# it's\n", "a \\\r\n", "b\r\n", "'c\n", "# d\n", "e'\n", "\n", "f \\"]
    assert list(logical_lines(script)) == [
        (1, "# it's"), (2, "a \\\nb"), (4, "'c\n# d\ne'"), (7, ""), (8, "f \\"),
    ]  # fmt: skip


SOUP = st.text("ab '\"\\#|>/,=-\n")


@given(SOUP)
def test_joining_stops_where_a_line_is_closed(text: str) -> None:
    for _, line in list(logical_lines(text.split("\n")))[:-1]:
        assert incomplete_part(line) is None
    assert [incomplete_part(line) is None for _, line in logical_lines(text.split("\n"))].count(
        False
    ) <= 1


@given(SOUP)
def test_every_word_knows_its_place(text: str) -> None:
    line = tokenize(text)
    assert line.text == text
    for word in line.words:
        assert text[slice(*word.span)] == word.raw
        assert word.quoted == (re.sub(r"['\"\\]", "", word.raw) != word.raw) or "/" in word.raw
        for index, char in enumerate(word.text):
            start, end = word.at(index, index + 1)
            assert text[start:end] == char


@given(st.lists(st.text()))
def test_joined_words_read_back(words: list[str]) -> None:
    line = tokenize(join(words))
    assert texts(line) == words
    assert (line.pipe, line.redirect, line.shell, line.comment) == (None, None, None, None)
    assert line.incomplete is None
    assert texts(words_of(words)) == words


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))))
def test_joined_words_mean_the_same_to_a_posix_shell(words: list[str]) -> None:
    assert shlex.split(join(words)) == words


@given(st.text("ab '\"\\"))
def test_quotes_are_a_posix_shell_s(text: str) -> None:
    if tokenize(text).incomplete is None:
        assert texts(tokenize(text)) == shlex.split(text)


def test_plain_words_are_not_quoted() -> None:
    assert join(["alter-configs", "--topic", "orders", "retention.ms=7d", "User:bob"]) == (
        "alter-configs --topic orders retention.ms=7d User:bob"
    )
    assert quote("it's") == "'it'\"'\"'s'"


def test_words_of_argv_are_never_pipes_or_comments() -> None:
    line = words_of(["list-topics", "|", "#x", "> f", "!ls", ""])
    assert texts(line) == ["list-topics", "|", "#x", "> f", "!ls", ""]
    assert all(line.text[slice(*word.span)] == word.raw for word in line.words)


@pytest.mark.timeout(60)
@pytest.mark.parametrize("piece", ["a", "a ", "a,", "/", "'a' ", '"', "\\a", "/a,", "/a\\", "#"])
def test_a_very_long_line_is_read(piece: str) -> None:
    text = "list-topics " + piece * (200_000 // len(piece))
    tokenize(text)


def test_a_line_of_too_many_words_is_refused() -> None:
    line = tokenize("a " * 1_000_000)
    assert line.problem is not None
    assert "more than 100,000 words" in line.problem.message
