"""Completion candidates from this machine: files, profiles, themes."""

from __future__ import annotations

import os
from functools import cached_property
from pathlib import Path

from kafka_shell.context import Context
from kafka_shell.language.command import Kind
from kafka_shell.units import to_path
from kafka_shell.view.candidates import NONE, Candidate, Candidates, pick
from kafka_shell.view.match import LIMIT


class Places:
    """Looks up files, profiles and themes."""

    def __init__(self, context: Context) -> None:
        self._context = context

    @property
    def controls(self) -> Path:
        """The folder of the controls of the user."""
        return self._context.paths.config / "controls"

    def of_kind(self, kind: Kind, typed: str) -> Candidates:
        """Return candidates for files, profiles and themes; none for other kinds."""
        if kind is Kind.FILE:
            return files(typed)
        if kind is Kind.PROFILE:
            profiles = self._profiles()
            return pick(profiles, typed, lambda name: (profiles[name], ""))
        if kind is Kind.THEME:
            return pick(self._themes, typed, lambda name: (self._themes[name], ""))
        return NONE

    @cached_property
    def _themes(self) -> dict[str, str]:
        from kafka_shell.output.theme import available

        user = self._context.paths.config / "themes"
        return {info.name: info.description for info in available(user=user)}

    def _profiles(self) -> dict[str, str]:
        """Return profile names with their brokers; empty if the file is malformed."""
        import tomllib

        try:
            found = tomllib.loads(self._context.paths.config_file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        profiles = found.get("profiles", {})
        if not isinstance(profiles, dict):
            return {}
        return {
            name: str(table.get("bootstrap", ""))
            for name, table in profiles.items()
            if isinstance(table, dict)
        }


def files(typed: str) -> Candidates:
    """Return matching files, and folders with a slash."""
    head, slash, begun = typed.rpartition("/")
    head += slash
    found: list[Candidate] = []
    more = 0
    try:
        with os.scandir(to_path(head or ".")) as entries:
            for entry in entries:
                hidden = entry.name.startswith(".") and not begun.startswith(".")
                if hidden or not entry.name.startswith(begun):
                    continue
                if len(found) >= LIMIT:
                    more += 1
                    continue
                tail = "/" if entry.is_dir() else ""
                found.append(Candidate(head + entry.name, tail=tail))
    except OSError:  # no such folder
        return NONE
    return Candidates(tuple(sorted(found, key=lambda each: each.text)), more)
