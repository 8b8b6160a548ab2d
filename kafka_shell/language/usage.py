"""The usage line of a command."""

from __future__ import annotations

from collections.abc import Sequence

from kafka_shell.language import kinds
from kafka_shell.language.command import Argument, Command, Option, Parameter
from kafka_shell.language.scan import bare

_NAMED = 4  # choices of an argument


def usage(command: Command, short: str = "") -> str:
    """`describe-topic TOPIC... [--under-replicated-partitions] [common options]`, or with the short
    form that was typed."""
    done: set[str] = set()
    parts: list[str] = []
    for parameter in _parameters(command):
        if parameter.name in done:
            continue
        group = _group(parameter, command)
        if len(group) > 1:
            done.update(each.name for each in group)
            repeatable = any(_named(parameter, names) for names in command.at_least_one)
            words = " | ".join(_plain(each) if repeatable else _required(each) for each in group)
            optional = _alternatives(parameter) and not parameter.required
            opened, closed = "[]" if optional else "()"
            parts.append(f"{opened}{words}{closed}{'...' if repeatable else ''}")
        else:
            done.add(parameter.name)
            parts.append(_required(parameter) if parameter.required else _optional(parameter))
    return " ".join([short or command.name, *parts, "[common options]"])


def _parameters(command: Command) -> list[Parameter]:
    visible = [option for option in command.options if not option.hidden]
    return [*command.arguments, *visible]


def _group(parameter: Parameter, command: Command) -> Sequence[Parameter]:
    """Return the parameters of which one must be given, including this one."""
    for names in (*command.exactly_one, *command.at_least_one):
        if _named(parameter, names):
            return [each for each in _parameters(command) if _named(each, names)]
    others = _alternatives(parameter)
    return [parameter, *(each for each in _parameters(command) if each.name in others)]


def _alternatives(parameter: Parameter) -> Sequence[str]:
    return parameter.unless if isinstance(parameter, Argument) else ()


def _named(parameter: Parameter, names: Sequence[str]) -> bool:
    known = {bare(name) for name in names}
    spelled = bare(parameter.option) if isinstance(parameter, Argument) else ""
    return bare(parameter.name) in known or spelled in known


def _required(parameter: Parameter) -> str:
    plain = _plain(parameter)
    return f"({plain})..." if _is_repeated(parameter) else plain


def _optional(parameter: Parameter) -> str:
    return f"[{_plain(parameter)}]{'...' if _is_repeated(parameter) else ''}"


def _is_repeated(parameter: Parameter) -> bool:
    """Whether it is an option for each value; an argument has all values in a row."""
    return parameter.many and not isinstance(parameter, Argument)


def _plain(parameter: Parameter) -> str:
    if isinstance(parameter, Argument):
        choices = parameter.choices if len(parameter.choices) <= _NAMED else ()
        word = _one_of(choices) if choices else parameter.name.upper()
        return f"{word}{'...' if parameter.many else ''}"
    if parameter.kind is kinds.FLAG:
        return parameter.name
    value = metavar(parameter)
    if parameter.bare:
        return f"{parameter.name} [{value}]"
    return (
        f"{parameter.name}[={value}]" if parameter.value_optional else f"{parameter.name} {value}"
    )


def metavar(option: Option) -> str:
    """Return the placeholder of the value of an option."""
    if option.metavar:
        return option.metavar
    if option.choices:
        return _one_of(option.choices)
    return option.kind.metavar


def value_hint(spelling: str, parameter: Parameter) -> str:
    """Return the hint for an option without its value: the choices, or the placeholder."""
    if parameter.choices:
        return f"Use one of: {', '.join(parameter.choices)}."
    shown = metavar(parameter) if isinstance(parameter, Option) else parameter.name.upper()
    return f"Use {spelling} {shown}."


def _one_of(choices: Sequence[str]) -> str:
    return "{" + ",".join(choices) + "}"
