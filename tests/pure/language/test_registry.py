"""Requirements that the language has on every declaration in the real registry."""

import re
from inspect import signature
from pathlib import Path

import pytest

from kafka_shell import commands
from kafka_shell.base.errors import UsageError
from kafka_shell.base.plans import Secret
from kafka_shell.commands import INDEX, REGISTRY, commands_of, function
from kafka_shell.language import kinds
from kafka_shell.language.command import PROGRAM, RUNNING, Option, common_options, words_of_command
from kafka_shell.language.cursor import completion_request
from kafka_shell.language.kinds import convert
from kafka_shell.language.parse import parse
from kafka_shell.language.render import render
from kafka_shell.language.scan import Scope
from kafka_shell.language.tokens import tokenize
from kafka_shell.language.usage import usage
from kafka_shell.output.change_kinds import KINDS as CHANGE_KINDS

FOLDER = Path(commands.__file__).parent
EXAMPLES = [example.line for command in REGISTRY for example in command.examples]


def test_examples_parse_and_print() -> None:
    for line in EXAMPLES:
        invocation = parse(tokenize(line), REGISTRY, text=line)
        again = parse(tokenize(render(invocation)), REGISTRY)
        hidden = {name: Secret("***") for name, value in invocation.values.items()
                  if isinstance(value, Secret)}  # fmt: skip
        values = invocation.values | hidden
        assert (again.command, again.values) == (invocation.command, values), line


def test_the_cursor_can_stand_anywhere_in_an_example() -> None:
    for line in EXAMPLES:
        for position in range(len(line) + 1):
            assert completion_request(line, position, REGISTRY).span[1] == position, line


def test_the_index_names_what_each_family_declares() -> None:
    declared = {
        family: tuple(w for command in commands_of(family) for w in words_of_command(command))
        for family in INDEX
    }
    assert declared == INDEX
    assert {path.parent.name for path in FOLDER.rglob("spec.py")} == set(INDEX)


def test_a_command_names_a_function_of_an_invocation_and_a_context() -> None:
    for command in REGISTRY:
        found = function(command.run)
        assert [*signature(found).parameters] == ["invocation", "context"], command.run


def test_declarations_name_functions_for_completion() -> None:
    named = {
        name
        for path in (*FOLDER.rglob("spec.py"), *FOLDER.rglob("kinds.py"), *FOLDER.rglob("rules.py"))
        for name in re.findall(r'by_name\("([^"]+)"\)', path.read_text())
    }
    assert named
    for name in named:
        first, second, *_ = signature(function(name)).parameters
        assert (first, second) in (("request", "known"), ("request", "view"), ("request", "key")), (
            name
        )


def test_kinds_of_changes_name_functions_that_plan_them() -> None:
    for kind in filter(lambda kind: kind.plan, CHANGE_KINDS.values()):
        first, second, *_ = signature(function(kind.plan)).parameters
        assert (first, second) == ("context", "changes"), kind.plan


def test_names_and_short_forms_are_told_apart() -> None:
    words = [command.name for command in REGISTRY]
    words += [short.word for command in REGISTRY for short in command.shorts]
    assert len(words) == len(set(words))


def test_short_forms_lead_to_their_command() -> None:
    for command in REGISTRY:
        for short in command.shorts:
            name = tokenize(short.line).words[0].text
            assert name == command.name.split()[0], f"{short.word} leads to {name}"


def test_rules_between_options_name_what_exists() -> None:
    unknown = []
    for command in REGISTRY:
        scope = Scope(command)
        named = [name for group in (*command.exactly_one, *command.at_least_one) for name in group]
        named += [name for option in command.options for name in option.excludes]
        named += [name for argument in command.arguments for name in argument.unless]
        unknown += [(command.name, name) for name in named if scope.key(name) not in scope.by_name]
    assert not unknown


def test_names_of_values_are_not_shared() -> None:
    for command in REGISTRY:
        names = [known.name for known in Scope(command).known]
        assert len(names) == len(set(names)), command.name
        least = len(common_options(command))
        assert len(names) >= least, f"a common option of {command.name} cannot be reached"


def test_only_the_last_argument_takes_the_rest_of_the_line() -> None:
    for command in REGISTRY:
        before = [argument.kind for argument in command.arguments[:-1]]
        assert kinds.LINE not in before, command.name
        assert usage(command).startswith(command.name)


NUMERIC = (kinds.INTEGER, kinds.DURATION, kinds.RATE)
# Numbers of which every one may be right.
ANY_NUMBER = {"--shift-by": "offsets are shifted back and forth"}
NUMBERS: list[Option] = list(
    {
        option: None
        for option in (
            *(option for command in REGISTRY for option in command.options),
            *RUNNING,
            *PROGRAM,
        )
        if option.kind in NUMERIC
    }
)


def test_a_number_has_a_range() -> None:
    """What is out of range whatever the cluster holds is refused before anything is sent."""
    without = {option.name for option in NUMBERS if option.least is None}
    assert without == set(ANY_NUMBER), "declare least (and most), or say why there is none"
    for option in NUMBERS:
        if option.least is not None:
            check_range(option, option.least)


def check_range(option: Option, least: float) -> None:
    unit = "ms" if option.kind is kinds.DURATION else ""
    right, wrong = [least], [least - 1]
    if option.most is not None:
        right.append(option.most)
        wrong.append(option.most + 1)
    for number in right:
        assert convert(option, f"{number}{unit}")[0] == number
    for number in wrong:
        with pytest.raises(UsageError, match=option.name):
            convert(option, f"{number}{unit}")


def test_no_argument_is_a_number() -> None:
    """An argument has no range: a number would need one."""
    arguments = [(command.name, each) for command in REGISTRY for each in command.arguments]
    assert not [(name, each.name) for name, each in arguments if each.kind in NUMERIC]
