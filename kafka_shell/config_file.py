"""config.toml: profiles, and settings of the program."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from kafka_shell.admin.wire.properties import Property, bad

from .errors import ShellError, near_miss

GUARDS = ("none", "confirm", "typed", "read-only")  # the strictest last
OUTPUTS = ("table", "json", "yaml", "csv")
EDITING_MODES = ("emacs", "vi")
BOOTSTRAP = "bootstrap.servers"
PROGRAM_KEYS = ("default", "theme", "output", "editing-mode", "no-color", "profiles")
PROFILE_KEYS = (
    "bootstrap", "command-config", "cluster-id", "username", "password-command", "keyring",
    "guard", "color", "colour", "theme",
)  # fmt: skip


class ConfigFile:
    """config.toml: profiles, and settings of the program."""

    def __init__(self, path: Path, text: str, values: dict[str, Any]) -> None:
        self.path = path
        self._lines = text.splitlines()
        self.values = values

    @classmethod
    def read(cls, path: Path) -> ConfigFile:
        """An absent file is an empty one."""
        try:
            text = path.read_bytes().decode("utf-8-sig")
        except FileNotFoundError:
            return cls(path, "", {})
        except (OSError, UnicodeDecodeError) as error:
            why = getattr(error, "strerror", None) or "it is not UTF-8"
            raise bad(str(path), f"it cannot be read: {why}", "Expected a TOML file.") from None
        found = cls(path, text, _parse_toml(path, text))
        found._check_program()
        return found

    @property
    def profiles(self) -> dict[str, Any]:
        """Profiles by name."""
        found: dict[str, Any] = self.values.get("profiles", {})
        return found

    def profile(self, name: str) -> dict[str, Property]:
        """A profile's settings, checked; nested tables are dotted names."""
        table = self.profiles[name]
        if not isinstance(table, dict):
            raise self.wrong("profiles", name, "a profile is a table", f"Write [profiles.{name}].")
        header = f"profiles.{name}"
        found: dict[str, Property] = {}
        for key, value in _flat(table):
            text = self._text(header, key, value)
            known = key if "." in key else key.replace("_", "-")
            if known in PROFILE_KEYS:
                self._check_string(header, key, value)
            known = "colour" if known == "color" else known
            found[known] = Property(text, self.where(header, key))
        self._check_profile(header, found)
        return found

    def text(self, key: str) -> Property | None:
        """A setting of the program at the top of the file."""
        if key not in self.values:
            return None
        return Property(self._text("", key, self.values[key]), self.where("", key))

    def where(self, header: str, key: str) -> str:
        """`config.toml:3`: the line of a key below a table's header."""
        table = ""
        for number, line in enumerate(self._lines, 1):
            line = line.strip()
            if line.startswith("["):
                table = line.partition("#")[0].strip(" []").replace('"', "").replace("'", "")
            name = line.partition("=")[0].strip().replace('"', "").replace("'", "")
            dotted = f"{table}.{name}" if table else name
            if line and line[0] not in "#[" and dotted == (f"{header}.{key}" if header else key):
                return f"{self.path}:{number}"
            if line.startswith("[") and table == (f"{header}.{key}" if header else key):
                return f"{self.path}:{number}"
        return str(self.path)

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
        raise self.wrong(header, key, f"{key} is {_kind(value)}", "Expected a string.")

    def _check_string(self, header: str, key: str, value: object) -> None:
        """`bootstrap = 9092` is no host of that name."""
        expected = 'Expected "host:port".' if key == "bootstrap" else "Expected a string."
        if not isinstance(value, str | list):
            raise self.wrong(header, key, f"{key} is {value!r}, not a string", expected)
        if not value or (isinstance(value, str) and not value.strip()):
            raise self.wrong(header, key, f"{key} is empty", expected)

    def _check_program(self) -> None:
        for key in self.values:
            if key not in PROGRAM_KEYS:
                raise self._unknown("", key, PROGRAM_KEYS)
        if not isinstance(self.profiles, dict):
            raise self.wrong("", "profiles", "profiles is no table", "Write [profiles.NAME].")
        self._check_choice("", "output", self.text("output"), OUTPUTS)
        self._check_choice("", "editing-mode", self.text("editing-mode"), EDITING_MODES)
        self._check_choice("", "no-color", self.text("no-color"), ("true", "false"))

    def _check_profile(self, header: str, found: Mapping[str, Property]) -> None:
        for key in found:
            if "." not in key and key not in PROFILE_KEYS:
                raise self._unknown(header, key, (*PROFILE_KEYS, BOOTSTRAP))
        self._check_choice(header, "guard", found.get("guard"), GUARDS)

    def _check_choice(
        self, header: str, key: str, found: Property | None, choices: tuple[str, ...]
    ) -> None:
        if found is not None and found.value not in choices:
            said = f"{key} is {found.value!r}"
            raise self.wrong(header, key, said, f"Expected one of {', '.join(choices)}.")

    def _unknown(self, header: str, key: str, known: tuple[str, ...]) -> ShellError:
        near = near_miss(key, known)
        hint = f"Did you mean {near}?" if near else f"Expected one of {', '.join(known)}."
        return self.wrong(header, key, f"there is no setting {key}", hint)


def _parse_toml(path: Path, text: str) -> dict[str, Any]:
    import re
    import tomllib

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        at = re.search(r" \(at (?:line (\d+), column \d+|end of document)\)", str(error))
        what = str(error)[: at.start()] if at else str(error)
        line = at[1] if at and at[1] else str(text.count("\n") + 1)
        raise bad(f"{path}:{line}", f"it is no TOML: {what}", 'Expected key = "value".') from None


def _flat(table: Mapping[str, Any], prefix: str = "") -> Iterable[tuple[str, object]]:
    """Java names that somebody left without quotes are nested tables to TOML."""
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _kind(value: object) -> str:
    return "a list" if isinstance(value, list) else f"a {type(value).__name__}"
