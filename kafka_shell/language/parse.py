"""A line and the registry -> an Invocation, or an error that points at the word to blame."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kafka_shell.errors import UsageError, did_you_mean

from .command import Argument, Command, Invocation, Kind, Option
from .common import PROGRAM
from .convert import convert, is_list, label
from .logical_lines import Span
from .registry import Registry
from .scan import Found, Scan, Scope, Trouble, Use, bare, find_command, scan
from .tokens import Line, Word
from .usage import usage


def parse(
    line: Line, registry: Registry, *, text: str = "", extra: Sequence[Option] = ()
) -> Invocation:
    """What the line asks for. `extra` are options that may stand on this line besides.

    Raises UsageError with the span of the word, the near miss and the command's usage.
    """
    text = text or line.text
    check_line(line, text)
    found = find_command(line.words, registry)
    if found.command is None or found.trouble:
        raise _no_command(found, registry, text, extra, line)
    return parse_words(found.command, found.rest, text=text, line=line, name=found.name,
                       registry=registry, extra=extra)  # fmt: skip


def check_line(line: Line, text: str = "") -> None:
    """Raise what is wrong with the line before any command is looked at."""
    text = text or line.text
    if line.problem:
        raise UsageError(line.problem.message, hint=line.problem.hint, code="syntax",
                         span=line.problem.span, text=text)  # fmt: skip
    if line.incomplete:
        what = "quote is not closed" if line.incomplete.what == "quote" else "line goes on nowhere"
        raise UsageError(f"the {what}", code="incomplete", span=line.incomplete.span, text=text)


def parse_words(
    command: Command,
    words: Sequence[Word],
    *,
    text: str,
    line: Line | None = None,
    name: Sequence[Word] = (),
    registry: Sequence[Command] = (),
    extra: Sequence[Option] = (),
) -> Invocation:
    """The words after the command's name as an Invocation of that command."""
    scope = Scope(command, extra)
    try:
        found = scan(words, scope)
        helped = bool(found.used.get("help"))
        if found.troubles:
            raise _explain(found.troubles[0], scope, registry, line)
        values, spans = _values(found, line, text)
        if not helped:
            _check(found, name)
    except UsageError as error:
        if _asks_for_help(words, scope):
            return Invocation(command, {**_defaults(scope), "help": True}, text)
        error.text, error.usage = text, usage(command)
        raise
    return Invocation(command, values, text, spans)


def _asks_for_help(words: Sequence[Word], scope: Scope) -> bool:
    spellings = [s for s in ("--help", "-h") if any(k.name == "help" for k in scope.both(s))]
    ends = next((i for i, word in enumerate(words) if word.text == "--"), len(words))
    return any(word.text in spellings for word in words[:ends])


# -- values ----------------------------------------------------------------------------------------


def _defaults(scope: Scope) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for known in scope.known:
        parameter = known.parameter
        values[known.name] = (
            () if parameter.many else False if parameter.kind is Kind.FLAG else None
        )
    return values


def _values(
    found: Scan, line: Line | None, text: str
) -> tuple[dict[str, Any], dict[str, tuple[Span, ...]]]:
    values, spans = _defaults(found.scope), {}
    for name, uses in found.used.items():
        given = found.values(name)
        parameter = uses[0].parameter
        assert parameter is not None
        if not given:
            values[name] = True
            spans[name] = tuple(use.word.span for use in uses)
        elif parameter.kind is Kind.LINE:
            values[name], spans[name] = _line_value(given, line, text)
        else:
            values[name], spans[name] = _value(name, given, line)
    return values, spans


def _value(name: str, given: Sequence[Use], line: Line | None) -> tuple[Any, tuple[Span, ...]]:
    parameter = given[0].parameter
    assert parameter is not None
    if len(given) > 1 and not parameter.many:
        raise UsageError(f"{label(parameter)} is given twice", code="twice",
                         span=given[1].word.span)  # fmt: skip
    parts: list[Any] = []
    places: list[Span] = []
    for use in given:
        value, spans = _converted(use, line)
        places += [use.word.at(use.start + start, use.start + end) for start, end in spans]
        if is_list(parameter):
            parts.extend(value)
        else:
            parts.append(value)
    whole = parameter.many or is_list(parameter)
    return (tuple(parts) if whole else parts[0]), tuple(places)


def _converted(use: Use, line: Line | None) -> tuple[Any, tuple[Span, ...]]:
    assert use.parameter is not None
    try:
        if use.parameter.kind is Kind.FLAG:
            return use.value, ((0, len(use.value)),)
        return convert(use.parameter, use.value)
    except UsageError as error:
        start, end = error.span or (0, len(use.value))
        error.span = use.word.at(use.start + start, use.start + end)
        if start == end:
            error.span = use.word.span
        if error.code == "bad-pattern" and line and line.pipe_span and _touches(use.word, line):
            error.hint = f"The | after it began a pipe. {error.hint}"
        raise


def _touches(word: Word, line: Line) -> bool:
    return any(start == word.span[1] for start, _ in line.operators)


def _line_value(given: Sequence[Use], line: Line | None, text: str) -> tuple[str, tuple[Span, ...]]:
    """The rest of the line verbatim, without a pipe or file; one quoted word is its text."""
    first, last = given[0].word, given[-1].word
    span = (first.span[0], last.span[1])
    for start, _ in line.operators if line else ():
        if span[0] < start < span[1]:
            raise UsageError("words follow the file", hint="Put > FILE at the end.", span=last.span)
    if len(given) == 1 and first.quoted:
        return first.text, (span,)
    return text[span[0] : span[1]], (span,)


# -- what must and must not stand together ---------------------------------------------------------


def _check(found: Scan, name: Sequence[Word]) -> None:
    scope = found.scope
    end = name[-1].span if name else None
    given = {key: uses[0].word.span for key, uses in found.used.items()}
    for known in scope.known:
        parameter = known.parameter
        others = parameter.excludes if isinstance(parameter, Option) else parameter.unless
        for other in others:
            if known.name in given and scope.key(other) in given:
                raise _together(scope, (known.name, scope.key(other)), given)
    for group in scope.command.exactly_one:
        keys = [scope.key(each) for each in group]
        present = [key for key in keys if key in given]
        if len(present) > 1:
            raise _together(scope, present, given)
        if not present:
            raise _missing(scope, "one of ", keys, end)
    for group in scope.command.at_least_one:
        keys = [scope.key(each) for each in group]
        if not any(key in given for key in keys):
            raise _missing(scope, "at least one of ", keys, end)
    for known in scope.known:
        if known.parameter.required and known.name not in given:
            raise _missing(scope, "", [known.name], end)


def _together(scope: Scope, keys: Sequence[str], given: dict[str, Span]) -> UsageError:
    last = max(keys, key=lambda key: given[key])
    names = " and ".join(_label(scope, key) for key in keys)
    return UsageError(f"{names} cannot stand together", code="together", span=given[last])


def _missing(scope: Scope, which: str, keys: Sequence[str], end: Span | None) -> UsageError:
    names = ", ".join(_label(scope, key) for key in keys)
    return UsageError(f"{scope.command.name} wants {which}{names}", code="missing", span=end)


def _label(scope: Scope, key: str) -> str:
    known = scope.by_name.get(key)
    return label(known.parameter) if known else key


# -- what is wrong with a word ---------------------------------------------------------------------


def _explain(
    trouble: Trouble, scope: Scope, registry: Sequence[Command], line: Line | None
) -> UsageError:
    word, name = trouble.word, trouble.name
    span = word.at(0, len(name)) if name and word.text.startswith(name) else word.span
    hint = ""
    if trouble.code == "unknown-option":
        message = f"unknown option '{_short(name)}' for {scope.command.name}"
        hint = _option_hint(name, scope, registry)
    elif trouble.code == "flag-value":
        message = f"{name} takes no value"
    elif trouble.code == "missing-value":
        known = scope.both(name)[0]
        message = f"{name} wants a value"
        hint = (
            "" if known.parameter.kind is Kind.TEXT else f"Expected: {_expected(known.parameter)}"
        )
    else:
        message = f"one word too many: '{_short(word.text)}'"
        hint = did_you_mean(f"--{word.text}", scope.spellings)
    return UsageError(message, hint=hint, code=trouble.code, span=span)


def _expected(parameter: Argument | Option) -> str:
    return ", ".join(parameter.choices) or parameter.kind.value


def _option_hint(name: str, scope: Scope, registry: Sequence[Command]) -> str:
    if bare(name) == "zookeeper":
        return "Kafka has no ZooKeeper any more: --broker HOST:PORT"
    if any(name == option.name for option in PROGRAM):
        return f"{name} belongs on kafka.sh's own command line."
    for option, hint in scope.command.elsewhere:
        if option == name:
            return hint
    near = did_you_mean(name, scope.spellings)
    owners = [c.name for c in registry if _owns(c, name)]
    if owners:
        more = ", ..." if len(owners) > 3 else ""
        return f"{name} is an option of {', '.join(owners[:3])}{more}" + (
            f"; {near}" if near else ""
        )
    if near or name.startswith("--"):
        return near
    return f"a word that starts with - goes after --: -- {_short(name)}"


def _owns(command: Command, name: str) -> bool:
    option = command.option(name)
    if option is not None:
        return not option.hidden
    return any(argument.option == name for argument in command.arguments)


def _no_command(
    found: Found, registry: Sequence[Command], text: str, extra: Sequence[Option], line: Line
) -> UsageError:
    trouble = found.trouble
    if trouble is None:
        return UsageError("no command", hint="help lists them.", code="no-command", text=text)
    typed, span = trouble.word.text, trouble.word.span
    if trouble.code == "two-commands":
        message = f"{trouble.name} and {typed} are two commands"
        return UsageError(message, hint="One line, one command.", code=trouble.code, span=span,
                          text=text)  # fmt: skip
    names = [command.name for command in registry]
    if trouble.code == "no-command":
        return _no_flag(found.rest, names, text, extra)
    begun = [name for name in names if name.startswith(f"{typed} ")]
    if begun:
        message = f"{typed} wants one of {', '.join(name.split()[1] for name in begun)}"
        following = found.rest[0] if found.rest else None
        hint = did_you_mean(f"{typed} {following.text}", begun) if following else ""
        return UsageError(message, hint=hint, code="unknown-command", text=text,
                          span=following.span if following else span)  # fmt: skip
    hint = _command_hint(typed, registry)
    if line.joint:
        hint += f"\nA program of this machine: {line.joint} !{_short(line.source)}"
    return UsageError(f"unknown command '{_short(typed)}'", hint=hint,
                      code="unknown-command", span=span, text=text)  # fmt: skip


def _command_hint(typed: str, registry: Sequence[Command]) -> str:
    shorts = [short.word for command in registry for short in command.shorts]
    near = did_you_mean(typed, [*(command.name for command in registry), *shorts])
    if near:
        return near
    about = [c.name for c in registry if typed.lower() in c.search]
    return f"Did you mean {' or '.join(about[:3])}?" if about else "help lists the commands."


def _no_flag(
    words: Sequence[Word], names: Sequence[str], text: str, extra: Sequence[Option]
) -> UsageError:
    """Only options: perhaps one of them is a misspelt command."""
    known = {option.name for option in extra}
    for word in words[:50]:
        near = did_you_mean(bare(word.text), names) if word.text.startswith("--") else ""
        if near and word.text not in known:
            return UsageError(f"unknown command '{_short(word.text)}'", code="unknown-command",
                              hint=near.replace("mean ", "mean --"), span=word.span,
                              text=text)  # fmt: skip
    return UsageError(f"no command before '{_short(words[0].text)}'", code="no-command",
                      hint="help lists the commands.", span=words[0].span, text=text)  # fmt: skip


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "..."
