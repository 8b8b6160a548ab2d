"""Where to connect and how to behave: flags > environment > profile > Java .properties > defaults.

Every value knows where it came from. A file that a flag or the environment names ranks right below
the one that names it, so that a profile never mixes into a connection somebody spelt out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kafka_shell.admin.client_properties import is_secret, misspelt, to_connection
from kafka_shell.admin.endpoint import ConnectionConfig
from kafka_shell.admin.properties import (
    Property,
    bad,
    parse_properties,
    read_located,
    read_properties,
)
from kafka_shell.errors import ShellError, Status, near_miss
from kafka_shell.values import to_path

__all__ = ["FLAGS", "Setting", "Settings", "load", "parse_properties", "read_properties"]

FLAGS = ("broker", "command-config", "adminclient-property", "profile")
GUARDS = ("confirm", "typed", "read-only")
OUTPUTS = ("table", "json", "yaml", "csv")
EDITING_MODES = ("emacs", "vi")

_BOOTSTRAP = "bootstrap.servers"
_ENVIRONMENT = {
    "KAFKA_SH_THEME": "theme",
    "KAFKA_SH_OUTPUT": "output",
}
_PROGRAM = ("default", "theme", "output", "editing-mode", "no-color", "profiles")
_PROFILE = ("bootstrap", "command-config", "guard", "colour", "color", "theme")


@dataclass(frozen=True, slots=True)
class Setting:
    """One value and where it came from; a secret's value is not shown."""

    name: str
    value: str
    source: str


@dataclass(frozen=True)
class Settings:
    """Everything that was asked for. `sources` has each setting that is not a default, by name."""

    connection: ConnectionConfig = field(default_factory=ConnectionConfig)
    profile: str = ""
    guard: str = ""
    colour: str = ""
    theme: str = ""
    output: str = "table"
    editing_mode: str = "emacs"
    pager: str = "on"
    no_color: bool = False
    flags: Mapping[str, object] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    sources: Mapping[str, Setting] = field(default_factory=dict)

    @property
    def cluster_name(self) -> str:
        """What the prompt, the journal and a typed guard call the cluster."""
        return self.profile or ",".join(map(str, self.connection.bootstrap))

    def describe(self) -> tuple[Setting, ...]:
        """Every setting, those left at their defaults too."""
        connection = self.connection
        values = {
            "profile": self.profile,
            _BOOTSTRAP: ",".join(map(str, connection.bootstrap)),
            "security.protocol": connection.security_protocol,
            "guard": self.guard,
            "colour": self.colour,
            "theme": self.theme,
            "output": self.output,
            "editing-mode": self.editing_mode,
            "pager": self.pager,
        }
        rows = {name: Setting(name, value, "default") for name, value in values.items()}
        for name, found in self.sources.items():
            # `set output json` replaces a value without a source of its own.
            same = name not in values or values[name] == found.value
            rows[name] = found if same else Setting(name, values[name], "this session")
        return tuple(rows.values())


def load(flags: Mapping[str, object], environ: Mapping[str, str], config_file: Path) -> Settings:
    """Everything together. Raises ShellError that names the file and line of what is wrong."""
    file = _ConfigFile.read(config_file)
    chosen = _Spoken(flags, environ)
    name, profile = _choose_profile(file, chosen)
    properties = _merged(profile, chosen)
    connection = to_connection(properties)
    if name and _BOOTSTRAP not in properties:
        what = f"profile {name} names no cluster"
        raise file.wrong("profiles", name, what, 'Expected bootstrap = "host:port".')
    program = _program_values(file, profile, chosen)
    values = {key: found.value for key, found in program.items()}
    return Settings(
        connection=connection,
        profile=name,
        guard=values.get("guard", ""),
        colour=values.get("colour", ""),
        theme=values.get("theme", ""),
        output=values.get("output", "table"),
        editing_mode=values.get("editing-mode", "emacs"),
        no_color=values.get("no-color") == "true",
        flags=dict(flags),
        warnings=(*misspelt(properties), *_no_login(properties)),
        sources=_sources(name, chosen, {**program, **properties}),
    )


# -- flags and environment -------------------------------------------------------------------------


class _Spoken:
    """What the command line and the environment say, as layers of properties."""

    def __init__(self, flags: Mapping[str, object], environ: Mapping[str, str]) -> None:
        self._flags = flags
        self._environ = environ
        self.profile = self._one("profile", "KAFKA_SH_PROFILE")
        # The weakest first: a file may name a cluster too, what names the file is stronger.
        self.layers = [
            _file_layer(environ.get("KAFKA_SH_COMMAND_CONFIG"), "KAFKA_SH_COMMAND_CONFIG"),
            self._broker(environ.get("KAFKA_SH_BROKER"), "KAFKA_SH_BROKER"),
            _file_layer(flags.get("command-config"), "--command-config"),
            dict(_pairs(flags.get("adminclient-property"))),
            self._broker(flags.get("broker"), "--broker"),
        ]

    @property
    def names_a_cluster(self) -> bool:
        """Whether the default profile is out of the question."""
        return any(_BOOTSTRAP in layer for layer in self.layers)

    def program_values(self) -> dict[str, Property]:
        """Settings of the program itself in the environment."""
        return {
            name: Property(self._environ[variable], variable)
            for variable, name in _ENVIRONMENT.items()
            if self._environ.get(variable)
        }

    def _one(self, flag: str, variable: str) -> Property | None:
        if self._flags.get(flag):
            return Property(str(self._flags[flag]), f"--{flag}")
        value = self._environ.get(variable)
        return Property(value, variable) if value else None

    def _broker(self, value: object, where: str) -> dict[str, Property]:
        return {_BOOTSTRAP: Property(str(value), where)} if value else {}


def _pairs(given: object) -> Iterable[tuple[str, Property]]:
    """`--adminclient-property k=v`, taken apart already or not."""
    if not given:
        return
    for each in given if isinstance(given, list | tuple) else [given]:
        key, value = each if isinstance(each, tuple) else str(each).partition("=")[::2]
        yield str(key).strip(), Property(str(value), "--adminclient-property")


def _file_layer(path: object, where: str, base: Path | None = None) -> dict[str, Property]:
    if not path:
        return {}
    file = to_path(str(path))
    if base is not None:
        file = base / file
    try:
        return read_located(file)
    except OSError as error:
        raise bad(
            where, f"{file} cannot be read: {error.strerror}", "Expected a .properties file."
        ) from None


# -- config.toml -----------------------------------------------------------------------------------


class _ConfigFile:
    """config.toml: profiles, and settings of the program."""

    def __init__(self, path: Path, text: str, values: dict[str, Any]) -> None:
        self.path = path
        self._lines = text.splitlines()
        self.values = values

    @classmethod
    def read(cls, path: Path) -> _ConfigFile:
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
            found["colour" if key == "color" else key] = Property(text, self.where(header, key))
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

    def _check_program(self) -> None:
        for key in self.values:
            if key not in _PROGRAM:
                raise self._unknown("", key, _PROGRAM)
        if not isinstance(self.profiles, dict):
            raise self.wrong("", "profiles", "profiles is no table", "Write [profiles.NAME].")
        self._check_choice("", "output", self.text("output"), OUTPUTS)
        self._check_choice("", "editing-mode", self.text("editing-mode"), EDITING_MODES)
        self._check_choice("", "no-color", self.text("no-color"), ("true", "false"))

    def _check_profile(self, header: str, found: Mapping[str, Property]) -> None:
        for key in found:
            if "." not in key and key not in _PROFILE:
                raise self._unknown(header, key, (*_PROFILE, _BOOTSTRAP))
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


# -- together --------------------------------------------------------------------------------------


def _choose_profile(file: _ConfigFile, chosen: _Spoken) -> tuple[str, dict[str, Property]]:
    """The profile that was asked for; else the default one, unless a cluster is named already:
    one cluster's password is not for another."""
    asked = chosen.profile
    if asked is None and not chosen.names_a_cluster:
        asked = file.text("default")
    if asked is None:
        return "", {}
    if asked.value not in file.profiles:
        near = near_miss(asked.value, file.profiles)
        known = ", ".join(file.profiles) or "none yet"
        raise ShellError(
            f"{asked.where}: there is no profile {asked.value} in {file.path}",
            hint=f"Did you mean {near}?" if near else f"Profiles: {known}",
            code="no-profile",
            status=Status.WRONG,
        )
    found = file.profile(asked.value)
    config = found.pop("command-config", None)
    below = _file_layer(config.value, config.where, file.path.parent) if config else {}
    if "bootstrap" in found:
        found[_BOOTSTRAP] = found.pop("bootstrap")
    return asked.value, {**below, **found}


def _merged(profile: Mapping[str, Property], chosen: _Spoken) -> dict[str, Property]:
    """Client properties, the stronger over the weaker."""
    merged = {key: found for key, found in profile.items() if key not in _PROFILE}
    for layer in chosen.layers:
        merged.update(layer)
    return merged


def _program_values(
    file: _ConfigFile, profile: Mapping[str, Property], chosen: _Spoken
) -> dict[str, Property]:
    found = {key: value for key in _PROGRAM[1:-1] if (value := file.text(key)) is not None}
    found |= {key: profile[key] for key in ("guard", "colour", "theme") if key in profile}
    found |= chosen.program_values()
    output = found.get("output")
    if output is not None and output.value not in OUTPUTS:
        raise bad(
            output.where, f"there is no output {output.value}", f"Expected {', '.join(OUTPUTS)}."
        )
    return found


def _sources(profile: str, chosen: _Spoken, found: Mapping[str, Property]) -> dict[str, Setting]:
    rows = {}
    if profile:
        source = chosen.profile.where if chosen.profile else "default"
        rows["profile"] = Setting("profile", profile, source)
    for name, each in found.items():
        rows[name] = Setting(name, "***" if is_secret(name) else each.value, each.where)
    return rows


def _no_login(properties: Mapping[str, Property]) -> tuple[str, ...]:
    """Java goes on without a login where only half of one is configured; here it is said."""
    protocol = properties.get("security.protocol")
    found = properties.get("sasl.jaas.config") or properties.get("sasl.mechanism")
    if found is None or (protocol is not None and protocol.value.upper().startswith("SASL_")):
        return ()
    name = protocol.value if protocol else "PLAINTEXT"
    return (f"{found.where}: a login is configured, but security.protocol is {name}: not used",)
