"""The configuration file config.toml: profiles, and settings of the program."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from kafka_shell.base.command_results import FORMATS
from kafka_shell.base.errors import ShellError, near_miss
from kafka_shell.base.files import read_toml, toml_line
from kafka_shell.base.units import to_path
from kafka_shell.wire.client_properties import KNOWN, Property, bad

GUARDS = ("none", "confirm", "typed", "read-only")  # the strictest last
ENVIRONMENTS = ("prod", "dev")  # of audits: findings in dev are less severe
EDITING_MODES = ("emacs", "vi")
BOOTSTRAP = "bootstrap.servers"
PROGRAM_KEYS = ("default", "theme", "output", "editing-mode", "no-color", "profiles")
PROFILE_KEYS = (
    "bootstrap", "command-config", "cluster-id", "username", "password-command", "keyring",
    "guard", "environment", "color", "colour", "theme", "address-map", "via", "unmask", "topics",
)  # fmt: skip
TOPIC_KEYS = (
    "mask", "key-format", "value-format", "schema", "message-type", "key-schema",
    "key-message-type",
)  # fmt: skip
_TEXTS = {*PROFILE_KEYS} - {"unmask"}


class TopicRule(Struct, frozen=True):
    """What a profile says about the records of the topics that a word selects, by TOPIC_KEYS, and
    whether it allows --unmask."""

    topics: str
    settings: Mapping[str, Property]
    unmask: bool = False

    @property
    def mask(self) -> tuple[str, ...]:
        """The paths of records that are masked."""
        masked = self.settings.get("mask")
        return tuple(map(str.strip, masked.value.split(","))) if masked else ()


class ConfigFile:
    """A parsed config.toml."""

    def __init__(self, path: Path, text: str, values: dict[str, Any]) -> None:
        self.path, self._source, self.values = path, text, values

    @classmethod
    def read(cls, path: Path) -> ConfigFile:
        """Read the file. A file that does not exist is treated as empty."""
        try:
            path.stat()
        except FileNotFoundError:
            return cls(path, "", {})
        except OSError:
            pass  # reading it reports why
        file = cls(path, *read_toml(path))
        file._check_program()
        return file

    @property
    def profiles(self) -> dict[str, Any]:
        """Profiles by name."""
        profiles: dict[str, Any] = self.values.get("profiles", {})
        return profiles

    def profile(self, name: str) -> dict[str, Property]:
        """A profile's settings, checked. Keys of nested tables are joined with dots."""
        table = self.profiles[name]
        if not isinstance(table, dict):
            what = f"profile {name} must be a table"
            raise self.wrong("profiles", name, what, f"Use [profiles.{name}].")
        header = f"profiles.{name}"
        settings: dict[str, Property] = {}
        for key, value in _flatten({key: table[key] for key in table if key != "topics"}):
            text = self._text(header, key, value)
            setting = key if "." in key else key.replace("_", "-")
            if setting in _TEXTS:
                self._check_string(header, key, value)
            setting = "color" if setting == "colour" else setting  # in old files
            settings[setting] = Property(text, self.where(header, key), own=True)
        self._check_profile(header, settings)
        return settings

    def topic_rules(self, name: str) -> tuple[TopicRule, ...]:
        """What a profile says about records, in the order of the file. Paths of files are relative
        to its directory."""
        header, rules = f"profiles.{name}.topics", []
        topics = self.profiles[name].get("topics", {})
        unmask = self.profiles[name].get("unmask") in (True, "true")
        pairs: Iterable[tuple[str, Any]] = [("", None)]
        for pattern, table in topics.items() if isinstance(topics, dict) else pairs:
            nested = table.values() if isinstance(table, dict) else [{}]
            if any(isinstance(each, dict) for each in nested):
                expected = f'Use [profiles.{name}.topics."NAME"].'
                raise self.wrong(f"profiles.{name}", "topics", "topics is not valid", expected)
            place, settings = f"{header}.{pattern}", {}
            for key, value in table.items():
                if key not in TOPIC_KEYS:
                    raise self._unknown(place, key, TOPIC_KEYS)
                self._check_string(place, key, value)
                text = self._text(place, key, value)
                if key in ("schema", "key-schema"):
                    text = str(self.path.parent / to_path(text))
                settings[key] = Property(text, self.where(place, key), own=True)
            rules.append(TopicRule(pattern, settings, unmask))
        return tuple(rules)

    def text(self, key: str) -> Property | None:
        """A setting of the program, or None if it is not set."""
        if key not in self.values:
            return None
        return Property(self._text("", key, self.values[key]), self.where("", key))

    def where(self, header: str, key: str) -> str:
        """`config.toml:3`: the line of a key in the table with this header."""
        line = toml_line(self._source, header, key)
        return f"{self.path}:{line}" if line else str(self.path)

    def wrong(self, header: str, key: str, what: str, expected: str) -> ShellError:
        """An error at a key's line."""
        return bad(self.where(header, key), what, expected)

    def _text(self, header: str, key: str, value: object) -> str:
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, str | int | float):
            return str(value)
        if isinstance(value, list) and all(isinstance(item, str) for item in value):
            return ",".join(value)
        raise self.wrong(header, key, f"{key} is {_type_name(value)}", "Use a string.")

    def _check_string(self, header: str, key: str, value: object) -> None:
        """Raise ShellError unless it is a string: `bootstrap = 9092` has no host."""
        expected = 'Use "host:port".' if key == "bootstrap" else "Use a string."
        if not isinstance(value, str | list):
            raise self.wrong(header, key, f"{key} is {value!r}, not a string", expected)
        if not value or (isinstance(value, str) and not value.strip()):
            raise self.wrong(header, key, f"{key} is empty", expected)

    def _check_program(self) -> None:
        for key in self.values:
            if key not in PROGRAM_KEYS:
                raise self._unknown("", key, PROGRAM_KEYS)
        if not isinstance(self.profiles, dict):
            raise self.wrong("", "profiles", "profiles must be a table", "Use [profiles.NAME].")
        self._check_choice("", "output", self.text("output"), FORMATS)
        self._check_choice("", "editing-mode", self.text("editing-mode"), EDITING_MODES)
        self._check_choice("", "no-color", self.text("no-color"), ("true", "false"))

    def _check_profile(self, header: str, settings: Mapping[str, Property]) -> None:
        for key in settings:
            # A setting of topics in another table is no client property: `customers.mask`.
            name = key.rpartition(".")[2]
            misplaced = name if name in TOPIC_KEYS else "mask" if "mask" in key else ""
            if misplaced and key not in (*KNOWN, *PROFILE_KEYS):
                raise self._unknown(header, misplaced, (), key)
            if "." not in key and key not in PROFILE_KEYS:
                raise self._unknown(header, key, (*PROFILE_KEYS, BOOTSTRAP))
        self._check_choice(header, "guard", settings.get("guard"), GUARDS)
        self._check_choice(header, "environment", settings.get("environment"), ENVIRONMENTS)
        self._check_choice(header, "unmask", settings.get("unmask"), ("true", "false"))

    def _check_choice(
        self, header: str, key: str, setting: Property | None, choices: tuple[str, ...]
    ) -> None:
        if setting is not None and setting.value not in choices:
            what = f"{key} is {setting.value!r}"
            raise self.wrong(header, key, what, f"Use one of {', '.join(choices)}.")

    def _unknown(self, header: str, key: str, keys: tuple[str, ...], place: str = "") -> ShellError:
        if key in TOPIC_KEYS:
            hint = f'Set it in [{header}.topics."NAME"].'
            return self.wrong(header, place or key, f"{key} is about topics", hint)
        near = near_miss(key, keys)
        hint = f"Did you mean {near}?" if near else f"Use one of {', '.join(keys)}."
        return self.wrong(header, key, f"unknown setting {key}", hint)


def _flatten(table: Mapping[str, Any], prefix: str = "") -> Iterable[tuple[str, object]]:
    """Keys and values. Java property names without quotes are nested tables in TOML."""
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _flatten(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _type_name(value: object) -> str:
    return "a list" if isinstance(value, list) else f"a {type(value).__name__}"
