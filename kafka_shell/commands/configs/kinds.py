"""The kinds of config keys and of config values, and the lists of KIP-248: k1=v1,k2=[v1,v2]."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from kafka_shell.admin.quotas.model import ENTITY_FIELDS
from kafka_shell.base.errors import UsageError
from kafka_shell.base.text import masked
from kafka_shell.commands import by_name
from kafka_shell.language import kinds
from kafka_shell.language.command import Invocation, Option
from kafka_shell.language.kinds import CandidateSource, Fragment, Kind, invalid
from kafka_shell.language.tokens import Span

if TYPE_CHECKING:
    from kafka_shell.language.command import Parameter

Pairs = Sequence[tuple[str, str]]


class _ClientMetrics(kinds.Names):
    """Subscriptions: names, whose form may be /a/, or globs of names."""

    pattern = True


CLIENT_METRICS = _ClientMetrics("client-metrics", kinds.in_view("client_metrics"), "NAME")


class _Entity(Kind):
    """--entity-name (KIP-248), whose kind depends on the --entity-type at the same place."""

    _TYPES: Mapping[str, Kind] = {
        "topics": kinds.TOPIC,
        "brokers": kinds.BROKER,
        "broker-loggers": kinds.BROKER,
        "users": kinds.USER,
        "clients": kinds.CLIENT_ID,
        "ips": kinds.IP,
        "groups": kinds.GROUP,
        "client-metrics": CLIENT_METRICS,
    }

    def kind_at(self, words: Mapping[str, Sequence[str]], index: int) -> Kind:
        types = words.get("entity-type", ())
        return self._TYPES.get(types[min(index, len(types) - 1)], self) if types else self


class _ConfigPairs(Kind):
    """k1=v1,k2=[v1,v2] -> each (key, value). Brackets group values that contain commas."""

    several = True

    def convert(self, parameter: Parameter, text: str) -> list[tuple[tuple[str, str], Span]]:
        try:
            return _pairs(parameter, text)
        except UsageError as error:
            if (shown := masked(text)) == text:
                raise
            expected = "k1=v1,k2=[v1,v2]"
            raise invalid(parameter, expected, shown, hint=error.hint, at=error.span) from None

    def format(self, value: Pairs) -> str:
        return ",".join(f"{key}={_grouped(text)}" for key, text in value)

    def last_fragment(self, text: str) -> Fragment:
        """Return the last key or value, or the last item inside [...]."""
        at = 0
        while True:
            pair = _PAIR.match(text, at)
            assert pair is not None  # every part can be empty
            if not pair[2]:
                comma = text.find(",", pair.start(1))
                if comma < 0:
                    return Fragment(pair.start(1), "key")
                at = comma + 1
                continue
            key, start = pair[1].strip(), pair.end()
            group = _GROUP.match(text, start)
            if group and group.end() == len(text) and not _closed(group.group()):
                return Fragment(max(text.rfind(",", start), start) + 1, "value", key)
            comma = text.find(",", group.end() if group else start)
            if comma < 0:
                return Fragment(start, "value", key)
            at = comma + 1


_PAIR = re.compile(r"\s*([^=,]*)(=)?\s*")
_GROUP = re.compile(r"\[(?:\\.|[^\\\]])*+\]?", re.DOTALL)


def _closed(group: str) -> bool:
    return re.sub(r"\\.", "", group, flags=re.DOTALL).endswith("]")


def _grouped(value: str) -> str:
    if "," in value or value.startswith("[") or value != value.strip():
        return "[" + re.sub(r"[\\\]]", r"\\\g<0>", value) + "]"
    return value


def _pairs(parameter: Parameter, text: str) -> list[tuple[tuple[str, str], Span]]:
    pairs, at = [], 0
    while True:
        start = at
        comma = text.find(",", at)
        equals = text.find("=", at, comma if comma >= 0 else len(text))
        key = text[start:equals].strip() if equals >= 0 else ""
        if not key:
            end = comma if comma >= 0 else len(text)
            raise invalid(
                parameter,
                "k1=v1,k2=[v1,v2]",
                text[start:end] or text,
                at=(start, end),
                hint="Put values with commas in brackets: k=[v1,v2].",
            )
        value, at = _pair_value(parameter, text, equals + 1)
        pairs.append(((key, value), (start, at)))
        if at >= len(text):
            return pairs
        at += 1


def _pair_value(parameter: Parameter, text: str, start: int) -> tuple[str, int]:
    """Return the value without brackets, and the end of the pair."""
    begin = start
    while text[begin : begin + 1].isspace():
        begin += 1
    if not text.startswith("[", begin):
        comma = text.find(",", start)
        end = comma if comma >= 0 else len(text)
        return text[start:end].strip(), end
    parts, at = [], begin + 1
    while text[at : at + 1] not in ("]", ""):
        at += text[at] == "\\" and at + 1 < len(text)
        parts.append(text[at])
        at += 1
    if at >= len(text):
        raise invalid(parameter, "k=[v1,v2] with a closing ]", text[begin:], at=(begin, begin + 1))
    end = at + 1
    while text[end : end + 1].isspace():
        end += 1
    if end < len(text) and text[end] != ",":
        raise invalid(
            parameter,
            "k=[v1,v2] with a comma after ]",
            text[end:],
            at=(end, end + 1),
            hint="Escape brackets inside [...] with a backslash: [\\[::1\\]:9092]",
        )
    return "".join(parts), end


CONFIGS = CandidateSource(
    by_name("configs.complete:offer"),
    by_name("configs.complete:needs"),
    by_name("configs.complete:document"),
)
CONFIG_KEY = Kind("config-key", CONFIGS)
CONFIG_KEYS = kinds.Keys("config-keys", CONFIGS, "KEYS")
CONFIG_PAIR = kinds.Pair("config-pair", CONFIGS, "KEY=VALUE")
CONFIG_PAIRS = _ConfigPairs("config-pairs", CONFIGS, "PAIRS")
ENTITY = _Entity("entity", metavar="NAME")


def config_pairs(text: str) -> tuple[tuple[str, str], ...]:
    """Return the pairs of `k1=v1,k2=[v1,v2]` (KIP-248)."""
    pairs = CONFIG_PAIRS.convert(Option("configs", CONFIG_PAIRS, ""), text)
    return tuple(pair for pair, _ in pairs)


# Shorthands of kafka-configs: --user NAME is --entity-type users --entity-name NAME.
NAMED = {"user": "users", "client": "clients", "ip": "ips"}
DEFAULTS = {f"{kind}-defaults": plural for kind, plural in NAMED.items()}
_LITERAL_DEFAULT = "<default>"


def is_client_entity(invocation: Invocation) -> bool:
    """Whether the command is about users, clients or IPs."""
    named = any(invocation[option] is not None for option in NAMED)
    default = any(invocation[option] for option in DEFAULTS)
    return bool({*invocation["entity-type"]} & {*ENTITY_FIELDS}) or named or default


def unnamed(invocation: Invocation, types: Sequence[str], *, default: bool = True) -> UsageError:
    """The error for --alter without an entity name."""
    options = "--entity-name or --entity-default" if default else "--entity-name"
    return UsageError(
        f"--alter of {' and '.join(types)} requires {options}" + (" for each" * (len(types) > 1)),
        span=invocation.span("alter"),
    )


def refuse_literal_default(invocation: Invocation) -> None:
    """Refuse `<default>`, which Kafka's tools print for the default entity but do not accept."""
    for option in ("entity-name", *NAMED):
        given = invocation[option] or ()
        for number, name in enumerate((given,) if isinstance(given, str) else given):
            if name == _LITERAL_DEFAULT:
                raise UsageError(
                    f"'{name}' is not the name of an entity",
                    hint="For the default entity, use --entity-default or --entity-name ''.",
                    span=invocation.span(option, number),
                )
