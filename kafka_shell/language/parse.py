"""Parse a line to an Invocation, or raise an error that points to the wrong word."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from kafka_shell.base.errors import UsageError, did_you_mean, is_one_edit
from kafka_shell.base.plans import Effect
from kafka_shell.base.text import quote, short
from kafka_shell.base.units import some
from kafka_shell.language import kinds
from kafka_shell.language.command import (
    CHANGING,
    PROGRAM,
    SANDBOX,
    Command,
    Invocation,
    Option,
    Registry,
    words_of_command,
)
from kafka_shell.language.kinds import convert, is_glob_or_regex
from kafka_shell.language.scan import (
    FoundCommand,
    Scan,
    Scope,
    Use,
    WordProblem,
    bare,
    find_command,
    scan,
)
from kafka_shell.language.tokens import TYPOGRAPHIC_DASHES, Line, Span, Word
from kafka_shell.language.usage import usage, value_hint

# Errors that the usage explains. Of a wrong value, help says more.
_WITH_USAGE = ("unknown-option", "missing", "missing-value")


def parse(line: Line, registry: Registry, *, text: str = "") -> Invocation:
    """Return the invocation of a line.

    Raises UsageError with the span of the word, a suggestion and the usage of the command.
    """
    text = text or line.text
    check_line(line, text)
    command = find_command(line.words, registry)
    if command.command is None or command.problem:
        raise _no_command(command, registry, text, line)
    return parse_words(command.command, command.rest, text=text, line=line, name=command.name,
                       registry=registry)  # fmt: skip


def check_line(line: Line, text: str = "") -> None:
    """Raise UsageError for problems that do not depend on the command."""
    text = text or line.text
    if line.problem:
        raise UsageError(line.problem.message, hint=line.problem.hint, code="syntax",
                         span=line.problem.span, text=text)  # fmt: skip
    if line.incomplete:
        messages = {
            "quote": "unclosed quote",
            "backslash": "trailing backslash",
            "operator": "the line ends with an operator",
        }
        raise UsageError(
            messages[line.incomplete.what], code="incomplete", span=line.incomplete.span, text=text
        )


def parse_words(
    command: Command,
    words: Sequence[Word],
    *,
    text: str,
    line: Line | None = None,
    name: Sequence[Word] = (),
    registry: Sequence[Command] = (),
) -> Invocation:
    """Parse the words after the name of a command."""
    scope = Scope(command)
    try:
        scanned = scan(words, scope)
        help_requested = bool(scanned.used.get("help"))
        if scanned.problems:
            raise _explain(scanned.problems[0], scope, registry, line)
        values, spans = _values(scanned, line, text)
        if not help_requested:
            _check(scanned, name)
    except UsageError as error:
        if _asks_for_help(words, scope):
            return Invocation(command, {**defaults(scope), "help": True}, text)
        typed = name[0].text if len(name) == 1 else ""
        short = typed if any(each.word == typed for each in command.shorts) else ""
        error.text = text
        if error.code in _WITH_USAGE:
            error.usage = usage(command, short)
        else:
            error.hint = error.hint or f"Run help {command.name}."
        raise
    return Invocation(command, values, text, spans)


def _asks_for_help(words: Sequence[Word], scope: Scope) -> bool:
    spellings = [s for s in ("--help", "-h") if any(k.name == "help" for k in scope.both(s))]
    ends = next((i for i, word in enumerate(words) if word.text == "--"), len(words))
    return any(word.text in spellings for word in words[:ends])


# -- values ----------------------------------------------------------------------------------------


def defaults(scope: Scope) -> dict[str, Any]:
    """The values of a line without words."""
    values: dict[str, Any] = {}
    for known in scope.known:
        parameter = known.parameter
        values[known.name] = (
            () if parameter.many else False if parameter.kind is kinds.FLAG else None
        )
    return values


def invocation_of(command: Command, **values: Any) -> Invocation:
    """The command with these values; others have their defaults."""
    named = {name.replace("_", "-"): value for name, value in values.items()}
    return Invocation(command, {**defaults(Scope(command)), **named})


def _values(
    scanned: Scan, line: Line | None, text: str
) -> tuple[dict[str, Any], dict[str, tuple[Span, ...]]]:
    values, spans = defaults(scanned.scope), {}
    for name, uses in scanned.used.items():
        given = scanned.values(name)
        parameter = uses[0].parameter
        assert parameter is not None
        if not given:
            values[name] = True
            spans[name] = tuple(use.word.span for use in uses)
        elif parameter.kind is kinds.LINE:
            values[name], spans[name] = _line_value(given, line, text)
        else:
            values[name], spans[name] = _value(name, given, line)
    return values, spans


def _value(name: str, given: Sequence[Use], line: Line | None) -> tuple[Any, tuple[Span, ...]]:
    parameter = given[0].parameter
    assert parameter is not None
    if len(given) > 1 and not parameter.many:
        raise UsageError(f"{parameter.label} is set twice", code="twice",
                         span=given[1].word.span)  # fmt: skip
    parts: list[Any] = []
    places: list[Span] = []
    for use in given:
        value, spans = _converted(use, line)
        places += [use.word.at(use.start + start, use.start + end) for start, end in spans]
        if parameter.kind.several:
            parts.extend(value)
        else:
            parts.append(value)
    whole = parameter.many or parameter.kind.several
    return (tuple(parts) if whole else parts[0]), tuple(places)


def _converted(use: Use, line: Line | None) -> tuple[Any, tuple[Span, ...]]:
    assert use.parameter is not None
    try:
        return convert(use.parameter, use.value)
    except UsageError as error:
        start, end = error.span or (0, len(use.value))
        error.span = use.word.at(use.start + start, use.start + end)
        if start == end:
            error.span = use.word.span
        if error.code == "bad-pattern" and line and line.pipe_span and _touches(use.word, line):
            error.hint = f"Quote | to use it as part of a word. {error.hint}"
        raise


def _touches(word: Word, line: Line) -> bool:
    return any(start == word.span[1] for start, _ in line.operators)


def _line_value(given: Sequence[Use], line: Line | None, text: str) -> tuple[str, tuple[Span, ...]]:
    """Return the rest of the line verbatim, without pipe or redirect; unquote a single word."""
    first, last = given[0].word, given[-1].word
    span = (first.span[0], last.span[1])
    for start, _ in line.operators if line else ():
        if span[0] < start < span[1]:
            raise UsageError(
                "unexpected words after > FILE", hint="Put > FILE at the end.", span=last.span
            )
    if len(given) == 1 and first.quoted:
        return first.text, (span,)
    return text[span[0] : span[1]], (span,)


# -- combinations ----------------------------------------------------------------------------------


def _check(scanned: Scan, name: Sequence[Word]) -> None:
    scope = scanned.scope
    end = name[-1].span if name else None
    given = {key: uses[0].word.span for key, uses in scanned.used.items()}
    for known in scope.known:
        parameter = known.parameter
        others = parameter.excludes if isinstance(parameter, Option) else parameter.unless
        for other in others:
            if known.name in given and scope.key(other) in given:
                raise _exclusive(scope, (known.name, scope.key(other)), given)
    for group in scope.command.exactly_one:
        keys = [scope.key(option) for option in group]
        present = [key for key in keys if key in given]
        if len(present) > 1:
            raise _exclusive(scope, present, given)
        if not present:
            raise _missing(scope, "one of ", keys, end)
    for group in scope.command.at_least_one:
        keys = [scope.key(option) for option in group]
        if not any(key in given for key in keys):
            raise _missing(scope, "at least one of ", keys, end)
    for known in scope.known:
        if known.parameter.required and known.name not in given:
            raise _missing(scope, "", [known.name], end)
        needed = parameter.requires if isinstance(parameter := known.parameter, Option) else ()
        if needed and known.name in given and not {scope.key(each) for each in needed} & set(given):
            names = " or ".join(_label(scope, scope.key(option)) for option in needed)
            message = f"{parameter.label} requires {names}"
            raise UsageError(message, code="missing", span=given[known.name])


def _exclusive(scope: Scope, keys: Sequence[str], given: dict[str, Span]) -> UsageError:
    last = max(keys, key=lambda key: given[key])
    others = " and ".join(_label(scope, key) for key in keys if key != last)
    message = f"{_label(scope, last)} cannot be used with {others}"
    return UsageError(message, code="mutually-exclusive", span=given[last])


def _missing(scope: Scope, which: str, keys: Sequence[str], end: Span | None) -> UsageError:
    names = ", ".join(_label(scope, key) for key in keys)
    return UsageError(f"{scope.command.name} requires {which}{names}", code="missing", span=end)


def _label(scope: Scope, key: str) -> str:
    known = scope.by_name.get(key)
    return known.parameter.label if known else key


# -- errors ----------------------------------------------------------------------------------------


def _explain(
    problem: WordProblem, scope: Scope, registry: Sequence[Command], line: Line | None
) -> UsageError:
    word, name = problem.word, problem.name
    span = word.at(0, len(name)) if name and word.text.startswith(name) else word.span
    hint = ""
    if problem.code == "unknown-option":
        message = f"unknown option '{short(name)}' for {scope.command.name}"
        hint = _option_hint(name, scope, registry)
    elif problem.code == "flag-value":
        message = f"{name} does not take a value"
    elif problem.code == "missing-value":
        message = f"{name} requires a value"
        hint = value_hint(name, scope.both(name)[0].parameter)
    elif problem.code == "typographic-dash":
        message = f"'{short(word.text)}' starts with a typographic dash"
        dashes = "--" + word.text.lstrip("".join(TYPOGRAPHIC_DASHES))
        hint = f"Put -- before words that start with a dash: -- {short(word.text)}"
        hint = did_you_mean(dashes, scope.spellings, hint)
    else:
        message = f"unexpected argument '{short(word.text)}'"
        hint = did_you_mean(f"--{word.text}", scope.spellings)
        hint = hint or _name_hint(word.text, scope, registry)
    return UsageError(message, hint=hint, code=problem.code, span=span)


def _name_hint(text: str, scope: Scope, registry: Sequence[Command]) -> str:
    """What to run for a name or pattern after a command that lists all: `groups x`."""
    singular = {word[:-1]: word for word in words_of_command(scope.command) if word.endswith("s")}
    named = next(
        (each.word for command in registry for each in command.shorts if each.word in singular), ""
    )
    if not named:
        return ""
    if is_glob_or_regex(text):
        return f"Filter the names: {singular[named]} | grep {quote(text.strip('*?/^$'))}"
    return f"Did you mean {named} {quote(text)}?"


def _option_hint(name: str, scope: Scope, registry: Sequence[Command]) -> str:
    if bare(name) == "zookeeper":
        return "Kafka no longer uses ZooKeeper. Use --broker HOST:PORT."
    if any(name == option.name for option in PROGRAM if option not in SANDBOX):
        return f"{name} is an option of kafka.sh itself: kafka.sh {name}"
    for option, hint in scope.command.elsewhere:
        if option == name:
            return hint
    if name == "--timeout" and scope.find("--deadline"):
        return "Use --deadline to limit the duration of the command."
    if name == "--deadline":
        return "Only commands that use a cluster have a deadline."
    if any(name == option.name for option in CHANGING):
        return f"{name} is an option of commands that change something."
    if name == "--force":
        return "Use --yes to skip the confirmation."
    if near := did_you_mean(name, scope.spellings):
        return near
    if owners := [command.name for command in registry if _owns(command, name)]:
        return f"{name} is an option of {some(owners, 3)}."
    if name.startswith("--"):
        return ""
    return f"Put -- before words that start with -: -- {short(name)}"


def _owns(command: Command, name: str) -> bool:
    option = command.option(name)
    if option is not None:
        return not option.hidden
    return any(argument.option == name for argument in command.arguments)


def _no_command(
    named: FoundCommand, registry: Sequence[Command], text: str, line: Line
) -> UsageError:
    problem = named.problem
    if problem is None:
        return UsageError(
            "no command", hint="Run help to list the commands.", code="no-command", text=text
        )
    typed, span = problem.word.text, problem.word.span
    if problem.code == "two-commands":
        message = f"{problem.name} cannot be used with another command, {typed}"
        hint = "Separate commands with ; or &&."
        return UsageError(message, hint=hint, code=problem.code, span=span, text=text)
    names = [command.name for command in registry]
    if problem.code == "no-command":
        return _no_flag(named.rest, registry, text)
    begun = [name for name in names if name.startswith(f"{typed} ")]
    if begun:
        message = f"{typed} requires one of {', '.join(name.split()[1] for name in begun)}"
        following = named.rest[0] if named.rest else None
        hint = did_you_mean(f"{typed} {following.text}", begun) if following else ""
        return UsageError(message, hint=hint, code="unknown-command", text=text,
                          span=following.span if following else span)  # fmt: skip
    hint = _command_hint(typed, registry)
    if line.joint:
        hint += f"\nTo run a program on this machine: {line.joint} !{short(line.source)}"
    return UsageError(f"unknown command '{short(typed)}'", hint=hint,
                      code="unknown-command", span=span, text=text)  # fmt: skip


def corrections(typed: str, registry: Iterable[Command]) -> list[str]:
    """The names that a misspelled word may be corrected to. A command that changes something must
    differ by one edit, or begin with the word."""
    named = [(c.name, c) for c in registry] + [(s.word, c) for c in registry for s in c.shorts]
    return [
        name
        for name, command in named
        if command.effect is Effect.READ
        or is_one_edit(typed, name)
        or (len(typed) > 2 and name.startswith(typed.lower()))
    ]


def _command_hint(typed: str, registry: Sequence[Command]) -> str:
    if "/" in typed or "." in typed:
        return f"To run a script: source {short(typed)}"
    near = did_you_mean(typed, corrections(typed, registry))
    if near:
        return near
    about = [c.name for c in registry if typed.lower() in c.search]
    return f"Did you mean {' or '.join(about[:3])}?" if about else "Run help to list the commands."


def _no_flag(words: Sequence[Word], registry: Sequence[Command], text: str) -> UsageError:
    """Return the error for a line without command; an option may be a misspelled command."""
    names = {command.name for command in registry}
    for word in words[:50]:
        name = bare(word.text) if word.text.startswith("--") else ""
        near = did_you_mean(name, [each for each in corrections(name, registry) if each in names])
        if near:
            return UsageError(f"unknown command '{short(word.text)}'", code="unknown-command",
                              hint=near.replace("mean ", "mean --"), span=word.span,
                              text=text)  # fmt: skip
    return UsageError(
        f"no command before '{short(words[0].text)}'",
        hint="Run help to list the commands.",
        code="no-command",
        span=words[0].span,
        text=text,
    )
