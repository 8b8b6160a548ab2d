"""Lines that undo changes."""

from __future__ import annotations

from kafka_shell.base.plans import Resource
from kafka_shell.commands import REGISTRY
from kafka_shell.language.command import Invocation
from kafka_shell.language.parse import parse
from kafka_shell.language.tokens import tokenize


def read(line: str) -> Invocation:
    assert "\n" not in line
    return parse(tokenize(line), REGISTRY)


def subject(invocation: Invocation) -> Resource:
    """Whose configs the line is about."""
    if invocation["broker-default"]:
        return Resource("broker-default", "")
    for option, kind in (("broker-id", "broker"), ("logger", "logger"), ("topic", "topic")):
        if invocation[option]:
            return Resource(kind, invocation[option])
    (kind,) = (name for name in ("group", "client-metrics") if invocation[name])
    (name,) = invocation[kind]
    return Resource(kind, name)
