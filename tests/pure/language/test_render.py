"""Every printed command line parses back to the same invocation."""

from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kafka_shell.base.errors import UsageError
from kafka_shell.base.plans import Effect
from kafka_shell.base.structs import replace
from kafka_shell.base.text import join
from kafka_shell.commands.configs.kinds import CONFIG_KEY, CONFIG_KEYS, CONFIG_PAIR, CONFIG_PAIRS
from kafka_shell.commands.topics.spec import ASSIGNMENT
from kafka_shell.language import kinds
from kafka_shell.language.command import Argument, Command, Option
from kafka_shell.language.kinds import Kind
from kafka_shell.language.parse import parse
from kafka_shell.language.render import render
from kafka_shell.language.tokens import Word, tokenize
from tests.support.declared_commands import REGISTRY, registry_of


@pytest.mark.parametrize(
    ("line", "printed"),
    [
        ("topics", "list-topics"),
        ("--describe-topic --topic a --topic 'b c'", "describe-topic a 'b c'"),
        ("alter-configs retention.ms=7d --topic orders", "alter-configs orders retention.ms=7d"),
        ("alter-configs retention.ms=7d --broker-id 1",
         "alter-configs --broker-id 1 retention.ms=7d"),
        ("describe-configs --topic a --topic b k", "describe-configs --topic a --topic b k"),
        ("watch 05   list-topics --long", "watch 5 list-topics --long"),
        ("watch topics", "watch topics"),
        ("watch 5 'a | b'", "watch 5 'a | b'"),
        ("watch 5 'topics;'", "watch 5 'topics;'"),
        ("reset-offsets g --to -1h", "reset-offsets g --to=-1h"),
        ("delete-topic --yes t", "delete-topic t --yes"),
        ("config-command --alter --add-config='a=[b,c]'",
         "config-command --alter --add-config 'a=[b,c]'"),
        ("list-topics --deadline 60000", "list-topics --deadline 1m"),
    ],
)  # fmt: skip
def test_canonical_lines(line: str, printed: str) -> None:
    assert render(parse(tokenize(line), REGISTRY)) == printed


@dataclass(frozen=True)
class Typed:
    """A command, and words that may follow its name."""

    command: Command
    words: tuple[str, ...]


NAME = st.text("abcxyz.-", min_size=1, max_size=8).filter(lambda t: t.strip("-."))
KEY = st.text("abc._", min_size=1, max_size=6)
ANY = st.text(max_size=6)
ODD = st.text(" -=,[]\\'\"|>#!ab/*\n", max_size=6)
PART = ANY | ODD
IDS = st.lists(st.integers(0, 9), min_size=2, max_size=2, unique=True)

TEXTS: dict[Kind, st.SearchStrategy[str]] = {
    kinds.TEXT: PART,
    kinds.USER: PART,
    kinds.TOPIC_PARTITIONS: st.sampled_from(["a", "a:0", "a.b:0,3-5", "a:7,1"]),
    kinds.RATE: st.integers(0, 10**15).map(str) | st.sampled_from(["50MB/s", "1MiB", "1GiB"]),
    kinds.INTEGER: st.integers(-(10**17), 10**17).map(str),
    kinds.DURATION: st.integers(-(10**6), 10**12).map(str) | st.sampled_from(["7d", "PT2H", "-1h"]),
    kinds.CHOICE: st.sampled_from(["one", "two words"]),
    kinds.TOPIC: st.sampled_from(["a", "a,b", "svc-*", r"/^svc-\d+|x/", "-t", "--", "a=b"]),
    kinds.BROKER: st.integers(0, 99).map(str),
    CONFIG_PAIR: st.tuples(KEY, PART).map("=".join),
    kinds.PROPERTY: st.tuples(KEY, PART).map("=".join),
    CONFIG_KEY: KEY,
    CONFIG_KEYS: st.lists(KEY, min_size=1, max_size=3).map(" , ".join),
    CONFIG_PAIRS: st.lists(
        st.tuples(KEY, st.sampled_from(["v", "", "[a,b]", r"[\]\\x ]", " [ ,] ", "a=b", "é]"])),
        min_size=1, max_size=3,
    ).map(lambda pairs: ",".join(f"{key}={value}" for key, value in pairs)),
    ASSIGNMENT: st.lists(IDS, min_size=1, max_size=3).map(
        lambda rows: ",".join(":".join(map(str, row)) for row in rows)
    ),
    kinds.LINE: PART | st.sampled_from(["list-topics --long", "a  b | c", "'x'", "-- -x", "x > y"]),
}  # fmt: skip
KINDS = st.sampled_from([kind for kind in TEXTS if kind is not kinds.LINE])


@st.composite
def commands(draw: st.DrawFn) -> Command:
    names = draw(st.lists(NAME, min_size=2, max_size=6, unique_by=lambda n: n.strip("-")))
    names = [name.strip("-") for name in names if name not in ("h", "yes")]
    count = draw(st.integers(0, 2))
    arguments = [
        Argument(f"{name}-words", draw(KINDS), "", many=draw(st.booleans()),
                 required=draw(st.booleans()), option=draw(st.sampled_from(["", f"--{name}"])),
                 choices=("one", "two words"))
        for name in names[:count]
    ]  # fmt: skip
    if draw(st.booleans()):
        # What stands before a line may be left out, as the seconds of `watch` may: else nobody
        # could tell where the line begins.
        arguments = [replace(argument, required=False, many=False) for argument in arguments]
        arguments.append(Argument("line", kinds.LINE, "", required=draw(st.booleans())))
    options = [
        Option(f"--{name}", draw(KINDS | st.just(kinds.FLAG)), "", choices=("one", "two words"),
               value_optional=draw(st.booleans()))
        for name in names[count:]
    ]  # fmt: skip
    own_broker = draw(st.sampled_from([(), (Option("--broker", kinds.BROKER, ""),)]))
    effect = draw(st.sampled_from(Effect))
    return Command("do-it", "", "", "", effect, tuple(arguments), (*options, *own_broker))


@st.composite
def typed(draw: st.DrawFn) -> Typed:
    """A command and words that are likely to be right for it."""
    command = draw(commands())
    words: list[str] = []
    line: list[str] = []
    for parameter in (*command.arguments, *command.options):
        times = draw(st.integers(0, 3)) if parameter.many else draw(st.integers(0, 1))
        for _ in range(times):
            text = "" if parameter.kind is kinds.FLAG else draw(TEXTS[parameter.kind])
            if parameter.kind is kinds.LINE:
                line = [text]
            elif isinstance(parameter, Argument):
                words += (
                    [parameter.option, text] if draw(st.booleans()) and parameter.option else [text]
                )
            elif parameter.kind is kinds.FLAG:
                words.append(parameter.name)
            else:
                words.append(f"{parameter.name}={text}")
    words += draw(st.sampled_from([[], ["--broker", "h:1"], ["--deadline=1"], ["--no-color"]]))
    return Typed(command, (*words, *line))


QUOTED_LINE = Command(
    "do-it", "", "", "", Effect.READ, (Argument("line", kinds.LINE, "", required=True),)
)


@example(Typed(QUOTED_LINE, ("two words", "--broker", "h:1", "more")))
@given(typed())
def test_a_printed_line_parses_back(made: Typed) -> None:
    text = join(["do-it", *made.words])
    try:
        invocation = parse(tokenize(text), registry_of([made.command]))
    except UsageError:
        return
    printed = render(invocation)
    again = parse(tokenize(printed), registry_of([made.command]))
    assert again.values == invocation.values, f"{text!r} was printed as {printed!r}"
    assert render(again) == printed


@given(st.sampled_from(REGISTRY), st.lists(PART | st.sampled_from(["--topic", "--help", "k=v"])))
def test_any_words_parse_or_are_a_usage_error(command: Command, words: list[str]) -> None:
    text = join([*command.name.split(), *words])
    try:
        invocation = parse(tokenize(text), REGISTRY)
    except UsageError as error:
        assert error.span is None or 0 <= error.span[0] <= error.span[1] <= len(text)
        return
    again = parse(tokenize(render(invocation)), REGISTRY)
    assert (again.command, again.values) == (invocation.command, invocation.values)
    for name, spans in invocation.spans.items():
        assert all(0 <= start <= end <= len(text) for start, end in spans), name


def test_values_made_by_programs_are_printed_too() -> None:
    """A value need not have been typed: the take-back lines are built."""
    invocation = parse(tokenize("delete-topic x"), REGISTRY)
    values: dict[str, Any] = invocation.values | {"topic": ("it's", "-x")}
    printed = render(type(invocation)(invocation.command, values))
    assert parse(tokenize(printed), REGISTRY).values == values
    assert Word("x", "x", (0, 1)).at(0) == (0, 1)
