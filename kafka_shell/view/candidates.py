"""Completion candidates: commands, options, and names from a view or this machine. Sends no
requests."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from kafka_shell.base.structs import replace
from kafka_shell.base.units import to_path
from kafka_shell.language.command import Command, Option
from kafka_shell.language.cursor import CompletionRequest, WordKind
from kafka_shell.view.match import LIMIT, NameIndex
from kafka_shell.view.view import ClusterView

if TYPE_CHECKING:
    from kafka_shell.wire.model import TopicSummary


class Candidate(Struct, frozen=True):
    """A candidate. `about` is its description, in the style of `role`.

    `tail` is text that follows the candidate: the `=` of a pair, the `/` of a folder.
    """

    text: str
    about: str = ""
    role: str = ""
    tail: str = ""


class Candidates(Struct, frozen=True):
    """Candidates, and the number of further matches."""

    offered: tuple[Candidate, ...] = ()
    more: int = 0

    def __add__(self, other: Candidates) -> Candidates:
        return Candidates(self.offered + other.offered, self.more + other.more)


NONE = Candidates()
About = Callable[[str], tuple[str, str]]


def pick(
    names: Iterable[str] | NameIndex, typed: str, about: About | None = None, tail: str = ""
) -> Candidates:
    """Return the best matches with their descriptions `about`: a function, or a mapping."""
    if about is None:
        described = names if isinstance(names, Mapping) else {}
        return pick(names, typed, lambda name: (described.get(name, ""), ""), tail)
    if isinstance(names, NameIndex):
        indexed = names.find(typed)
        chosen, more = indexed.names, indexed.more
    else:
        in_order = tuple(names)
        matches = NameIndex(in_order).find(typed)
        chosen = matches.names if typed else in_order[:LIMIT]
        more = max(0, (matches.total if typed else len(in_order)) - len(chosen))
    return Candidates(tuple(Candidate(name, *about(name), tail) for name in chosen), more)


def offers(request: CompletionRequest, known: Catalog) -> Candidates:
    """Return candidates for the word at the cursor, best first."""
    if request.word_kind is WordKind.COMMAND:
        return known.commands(request.prefix, flags=request.prefix.startswith("-"))
    if request.word_kind is WordKind.OPTION:
        return options(request.options, request.prefix)
    offered = pick(request.choices, request.prefix)
    for number, kind in enumerate((request.kind, *request.alternatives)):
        if kind is not None and kind.source is not None:
            other = replace(request, kind=kind, part="", key="") if number else request
            offered += kind.source.offer(other, known)
    # drop names that would be parsed as options
    kept = tuple(each for each in offered.offered if not request.is_option(each.text))
    return Candidates(kept, offered.more)


def options(free: Iterable[Option], typed: str) -> Candidates:
    """Return unused options in their declared order, including aliases that match."""
    spelled: dict[str, Option] = {}
    for option in free:
        if option.hidden:
            continue
        spelled[option.name] = option
        if len(typed) > 2 and not option.name.startswith(typed):
            spelled |= {alias: option for alias in option.aliases if alias.startswith(typed)}
    candidates = pick(spelled, typed, lambda name: (spelled[name].help, ""))
    declared = {name: number for number, name in enumerate(spelled)}
    ranked = sorted(
        candidates.offered, key=lambda each: (not each.text.startswith(typed), declared[each.text])
    )
    return Candidates(tuple(ranked), candidates.more)


class Catalog(Struct, frozen=True):
    """What candidates are made of: a view, the commands, and the folders of the config files
    and the journal."""

    view: ClusterView
    registry: Sequence[Command]
    config: Path
    journal: Path

    # -- names of the cluster ----------------------------------------------------------------------

    def names(self, part: str, typed: str) -> Candidates:
        """Return the names in one of NAMES of the view."""
        return pick(self.view.part(part).value, typed)

    def topics(self, typed: str, among: Sequence[str] | None = None) -> Candidates:
        """Return topics with partitions and health; `among` restricts the names."""
        index = self.view.topics.value

        def about(name: str) -> tuple[str, str]:
            summary = index.summary_of(name)
            return _shape(summary) if summary else ("", "")

        return pick(index.index if among is None else among, typed, about)

    def partitions(self, topic: str, typed: str) -> Candidates:
        """Return the partitions of a known topic."""
        summary = self.view.topics.value.summary_of(topic)
        if summary is None:
            return NONE
        numbers = [str(number) for number in range(summary.partitions)]
        fitting = [number for number in numbers if number.startswith(typed)]
        offered = tuple(Candidate(number) for number in fitting[:LIMIT])
        return Candidates(offered, len(fitting) - len(offered))

    def brokers(self, typed: str) -> Candidates:
        """Return broker IDs with address and rack."""
        known = {
            str(b.id): f"{b.host}:{b.port}" + (f"  rack {b.rack}" if b.rack else "")
            for b in self.view.brokers.value
        }
        return pick(known, typed)

    def addresses(self, typed: str) -> Candidates:
        """Return host:port of the known brokers."""
        known = {f"{b.host}:{b.port}": f"broker {b.id}" for b in self.view.brokers.value}
        return pick(known, typed)

    def ips(self, typed: str) -> Candidates:
        """Return the IP addresses that have quotas."""
        ips = {quota.entity.ip for quota in self.view.quotas.value}
        known = sorted(ip for ip in ips if isinstance(ip, str))
        return Candidates(tuple(Candidate(ip) for ip in known if ip.startswith(typed)))

    # -- others ------------------------------------------------------------------------------------

    def commands(self, typed: str, *, flags: bool = False) -> Candidates:
        """Return commands and short forms by name, then commands by search word."""
        stem = typed.strip("-")
        offered = [c for c in self.registry if not c.rare or (stem and f" {stem}" in f" {c.name}")]
        if flags:
            return pick({f"--{c.name}": c.summary for c in offered if c.verb_noun}, typed)
        summaries = {command.name: command.summary for command in offered}
        for command in offered:
            for short in command.shorts:
                summaries.setdefault(short.word, f"short for {short.line}")
        candidates = pick(summaries, typed)
        rare = {command.name for command in offered if command.rare}
        candidates = replace(
            candidates,
            offered=tuple(sorted(candidates.offered, key=lambda each: each.text in rare)),
        )
        if len(typed) < 3:
            return candidates
        known = {candidate.text for candidate in candidates.offered}
        related = tuple(
            Candidate(command.name, command.summary)
            for command in self.registry
            if command.name not in known and any(word.startswith(typed) for word in command.search)
        )
        return Candidates(candidates.offered + related, candidates.more)

    def times(self, typed: str, others: Mapping[str, str] | None = None) -> Candidates:
        """Return `others`, then sample times."""
        known = {"-1h": "one hour ago", "-1d": "one day ago", "-7d": "one week ago",
                 "today": "at 00:00", "yesterday": "at 00:00", "now": ""}  # fmt: skip
        return pick(others or {}, typed) + pick(known, typed)

    def files(self, typed: str) -> Candidates:
        """Return matching files, and folders with a slash."""
        head, slash, begun = typed.rpartition("/")
        head += slash
        candidates: list[Candidate] = []
        more = 0
        try:
            with os.scandir(to_path(head or ".")) as entries:
                for entry in entries:
                    hidden = entry.name.startswith(".") and not begun.startswith(".")
                    if hidden or not entry.name.startswith(begun):
                        continue
                    if len(candidates) >= LIMIT:
                        more += 1
                        continue
                    tail = "/" if entry.is_dir() else ""
                    candidates.append(Candidate(head + entry.name, tail=tail))
        except OSError:  # no such folder
            return NONE
        return Candidates(tuple(sorted(candidates, key=lambda candidate: candidate.text)), more)

    def profiles(self, typed: str) -> Candidates:
        """Return profile names with their brokers; none if the config file is malformed."""
        import tomllib

        try:
            text = (self.config / "config.toml").read_text(encoding="utf-8")
            profiles = tomllib.loads(text).get("profiles", {})
        except (OSError, ValueError):
            return NONE
        if not isinstance(profiles, dict):
            return NONE
        known = {name: str(table.get("bootstrap", "")) for name, table in profiles.items()
                 if isinstance(table, dict)}  # fmt: skip
        return pick(known, typed)


def _shape(summary: TopicSummary) -> tuple[str, str]:
    shape = f"{summary.partitions} × {summary.replication_factor}"
    if summary.offline:
        return f"{shape}  {summary.offline} offline", "bad"
    if summary.under_replicated:
        return f"{shape}  {summary.under_replicated} under-replicated", "warning"
    return f"{shape}  internal" if summary.internal else shape, ""
