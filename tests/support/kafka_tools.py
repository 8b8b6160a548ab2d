"""Kafka's own tools for topics and configs, with their output as plain values."""

from __future__ import annotations

import re

from tests.support.jvm_tools import CONFIGS, run_tool

Words = tuple[str, ...]
ConfigFacts = tuple[str, bool, list[Words]]  # value, sensitive, synonyms

_ENTRY = re.compile(r"  (\S+?)=(.*) sensitive=(true|false) synonyms=\{(.*)\}")
_SYNONYM = re.compile(r"([A-Z_]+_CONFIG):([^=]+)=(.*)")


class Tools:
    """Runs them against one cluster, and fails where they fail."""

    def __init__(self, bootstrap: str) -> None:
        self._bootstrap = bootstrap

    def topics(self, *arguments: str) -> str:
        """kafka-topics.sh"""
        return self._run("org.apache.kafka.tools.TopicCommand", arguments)

    def configs(self, *arguments: str) -> str:
        """kafka-configs.sh"""
        return self._run(CONFIGS, arguments)

    def _run(self, main_class: str, arguments: Words) -> str:
        done = run_tool(main_class, "--bootstrap-server", self._bootstrap, *arguments)
        assert done.returncode == 0, f"{main_class} {arguments}: {done.stdout}{done.stderr}"
        return done.stdout


def described_topics(text: str) -> dict[str, tuple[dict[str, str], list[dict[str, str]]]]:
    """What `kafka-topics --describe` prints: each topic's fields, and those of its partitions."""
    found: dict[str, tuple[dict[str, str], list[dict[str, str]]]] = {}
    for line in text.splitlines():
        parts = (part.partition(":") for part in line.strip().split("\t"))
        fields = {key: value.strip() for key, _, value in parts}
        if "TopicId" in fields:
            found[fields["Topic"]] = (fields, [])
        elif fields.get("Topic"):
            found[fields["Topic"]][1].append(fields)
    return found


def described_configs(text: str) -> dict[str, ConfigFacts]:
    """What `kafka-configs --describe --all` prints: key to value, sensitivity and synonyms."""
    found: dict[str, ConfigFacts] = {}
    for line in text.splitlines():
        entry = _ENTRY.fullmatch(line)
        if entry:
            key, value, sensitive, synonyms = entry.groups()
            found[key] = (value, sensitive == "true", _synonyms(synonyms))
    return found


def _synonyms(text: str) -> list[Words]:
    """(source, key, value) of each; values may hold commas."""
    parts = re.split(r", (?=[A-Z_]+_CONFIG:)", text) if text else []
    return [match.groups() for part in parts if (match := _SYNONYM.fullmatch(part))]
