"""What the language asks of every declaration in the real registry."""

import pytest

from kafka_shell.commands import REGISTRY
from kafka_shell.errors import UsageError
from kafka_shell.language.command import Command, Kind, Option
from kafka_shell.language.common import PROGRAM, common_options
from kafka_shell.language.convert import convert
from kafka_shell.language.cursor import wanted
from kafka_shell.language.parse import parse
from kafka_shell.language.render import render
from kafka_shell.language.scan import Scope
from kafka_shell.language.tokens import tokenize
from kafka_shell.language.usage import usage
from kafka_shell.plan.model import Effect

pytestmark = pytest.mark.quick

EACH = pytest.mark.parametrize("command", REGISTRY, ids=lambda command: command.name)
EXAMPLES = [example.line for command in REGISTRY for example in command.examples]


@pytest.mark.parametrize("line", EXAMPLES)
def test_examples_parse_and_print(line: str) -> None:
    invocation = parse(tokenize(line), REGISTRY, text=line)
    again = parse(tokenize(render(invocation)), REGISTRY)
    assert (again.command, again.values) == (invocation.command, invocation.values)


@pytest.mark.parametrize("line", EXAMPLES)
def test_the_cursor_can_stand_anywhere_in_an_example(line: str) -> None:
    for position in range(len(line) + 1):
        assert wanted(line, position, REGISTRY).span[1] == position


def test_names_and_short_forms_are_told_apart() -> None:
    words = [command.name for command in REGISTRY]
    words += [short.word for command in REGISTRY for short in command.shorts]
    assert len(words) == len(set(words))


@EACH
def test_short_forms_lead_to_their_command(command: Command) -> None:
    for short in command.shorts:
        name = tokenize(short.line).words[0].text
        assert name == command.name.split()[0], f"{short.word} leads to {name}"


@EACH
def test_rules_between_options_name_what_exists(command: Command) -> None:
    scope = Scope(command)
    named = [name for group in (*command.exactly_one, *command.at_least_one) for name in group]
    named += [name for option in command.options for name in option.excludes]
    named += [name for argument in command.arguments for name in argument.unless]
    unknown = [name for name in named if scope.key(name) not in scope.by_name]
    assert not unknown


@EACH
def test_names_of_values_are_not_shared(command: Command) -> None:
    names = [known.name for known in Scope(command).known]
    assert len(names) == len(set(names))
    assert len(names) >= len(common_options(command.effect)), "a common option cannot be reached"


@EACH
def test_only_the_last_argument_takes_the_rest_of_the_line(command: Command) -> None:
    assert all(argument.kind is not Kind.LINE for argument in command.arguments[:-1])
    assert usage(command).startswith(command.name)


NUMERIC = (Kind.INTEGER, Kind.NUMBER, Kind.DURATION, Kind.BYTES, Kind.RATE)
# Numbers of which every one may be right.
ANY_NUMBER = {"--shift-by": "offsets are shifted back and forth"}
NUMBERS: list[Option] = list(
    {
        option: None
        for option in (
            *(option for command in REGISTRY for option in command.options),
            *common_options(Effect.DESTROY),
            *PROGRAM,
        )
        if option.kind in NUMERIC
    }
)


@pytest.mark.parametrize("option", NUMBERS, ids=lambda option: option.name)
def test_a_number_has_a_range(option: Option) -> None:
    """What is out of range whatever the cluster holds is refused before anything is sent."""
    if option.least is None:
        assert option.name in ANY_NUMBER, "declare least (and most), or say why there is none"
        return
    unit = "ms" if option.kind is Kind.DURATION else ""
    right, wrong = [option.least], [option.least - 1]
    if option.most is not None:
        right.append(option.most)
        wrong.append(option.most + 1)
    for number in right:
        assert convert(option, f"{number}{unit}")[0] == number
    for number in wrong:
        with pytest.raises(UsageError, match=option.name):
            convert(option, f"{number}{unit}")


def test_the_reasons_are_of_options_that_there_are() -> None:
    assert set(ANY_NUMBER) == {option.name for option in NUMBERS if option.least is None}


@EACH
def test_no_argument_is_a_number(command: Command) -> None:
    """An argument has no range: a number would need one."""
    assert not [each.name for each in command.arguments if each.kind in NUMERIC]
