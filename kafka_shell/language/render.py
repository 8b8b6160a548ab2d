"""Convert an Invocation to the canonical line, which parses to the same Invocation."""

from __future__ import annotations

from typing import Any

from kafka_shell.base.text import join, quote
from kafka_shell.language import kinds
from kafka_shell.language.command import Argument, Command, Invocation, Option
from kafka_shell.language.scan import Known, Scope, distribute
from kafka_shell.language.tokens import tokenize


def render(invocation: Invocation) -> str:
    """Return the line: full name, arguments, then options without a default value."""
    command = invocation.command
    scope = Scope(command)
    values = _ordered(invocation, scope)
    arguments = [known for known in scope.known if isinstance(known.parameter, Argument)]
    placed = _placed(arguments, command, values)
    plain: list[str] = []
    options: list[str] = []
    line = ""
    for known in scope.known:
        value = values.get(known.name)
        if _absent(value):
            continue
        if known.parameter.kind is kinds.LINE:
            line = _line(str(value))
        elif known.name in placed:
            plain += _texts(known, value)
        else:
            options += _option(known, value)
    name = command.name.split()
    first = [word.text for word in tokenize(line).words[:1]]
    dashes = ["--"] if any(word.startswith("-") for word in (*plain, *first)) else []
    if dashes or line or (arguments and arguments[0].name not in placed):
        return " ".join(filter(None, [join([*name, *options, *dashes, *plain]), line]))
    return join([*name, *plain, *options])


def _ordered(invocation: Invocation, scope: Scope) -> dict[str, Any]:
    """The values. A flag that is an empty value of another option is written as one if it has to
    keep its place: options are not written in the order given."""
    values = dict(invocation.values)
    for known in scope.known:
        of = known.parameter.empty_of if isinstance(known.parameter, Option) else ""
        flags, places = invocation.spans.get(known.name, ()), invocation.spans.get(of, ())
        if of and len(flags) + len(places) > 1 and flags and len(places) == len(values[of]):
            placed = [*zip(places, values[of], strict=True), *((span, "") for span in flags)]
            values[of] = tuple(text for _, text in sorted(placed))
            values[known.name] = False
    return values


def _absent(value: Any) -> bool:
    return value is None or value is False or value == ()


def _texts(known: Known, value: Any) -> list[str]:
    kind = known.parameter.kind
    whole = kind.several or not known.parameter.many
    return [kind.format(value)] if whole else [kind.format(item) for item in value]


def _option(known: Known, value: Any) -> list[str]:
    if value is True:
        return [known.spelling]
    optional = isinstance(known.parameter, Option) and known.parameter.value_optional
    words: list[str] = []
    bare = isinstance(known.parameter, Option) and known.parameter.bare
    for text in _texts(known, value):
        if bare and not text:
            words.append(known.spelling)
        elif optional or text.startswith("-"):
            words.append(f"{known.spelling}={text}")
        else:
            words += [known.spelling, text]
    return words


def _placed(arguments: list[Known], command: Command, values: dict[str, Any]) -> set[str]:
    """Return the arguments that can be written without their option."""
    given = {name for name, value in values.items() if not _absent(value)}
    words: list[str] = []
    meant: list[str] = []
    plain = [
        k for k in arguments if k.name in given and k.parameter.kind is not kinds.LINE
    ]  # fmt: skip
    for known in plain:
        texts = _texts(known, values[known.name])
        words += texts
        meant += [known.name] * len(texts)
    takes_line = any(known.parameter.kind is kinds.LINE for known in arguments)
    placed = distribute(words, command, given - {known.name for known in plain})
    same = [argument.name if argument else "" for argument, _ in placed] == meant
    if same and not takes_line:
        return {known.name for known in plain}
    return {known.name for known in plain if not known.spelling}


def _line(text: str) -> str:
    """Return the rest of the line, quoted if necessary."""
    line = tokenize(text)
    words = line.words
    verbatim = (
        words
        and (words[0].span[0], words[-1].span[1]) == (0, len(text))  # no `;` at the end either
        and not (line.operators or line.incomplete or line.problem)
        and not (len(words) == 1 and words[0].quoted)
    )
    return text if verbatim else quote(text)
