"""Where to connect and how to behave: flags > environment > profile > Java .properties > defaults.

Every value knows where it came from. A file that a flag or the environment names ranks right below
the one that names it, so that a profile never mixes into a connection somebody spelt out. A profile
that a flag names is not mixed with an environment that names another cluster.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct, field

from kafka_shell.admin.wire.client_properties import shown_value, to_connection
from kafka_shell.admin.wire.endpoint import Address, ConnectionConfig, parse_addresses
from kafka_shell.admin.wire.properties import Property, bad
from kafka_shell.admin.wire.property_warnings import connection_warnings
from kafka_shell.structs import replace

from .config_file import BOOTSTRAP, OUTPUTS, PROGRAM_KEYS, ConfigFile
from .connection_options import (
    CONNECTION_VARIABLES,
    Spoken,
    as_list,
    file_layer,
    same_cluster,
)
from .errors import ShellError, Status, near_miss


class Setting(Struct, frozen=True):
    """One value and where it came from; a secret's value is not shown."""

    name: str
    value: str
    source: str


class Settings(Struct, frozen=True):
    """Everything that was asked for. `sources` has each setting that is not a default, by name.

    `properties` are the client properties that made the connection. `own_address` tells that the
    bootstrap servers are the profile's own, and not others that somebody named beside it.
    """

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
    properties: Mapping[str, Property] = field(default_factory=dict)
    own_address: bool = False

    @property
    def cluster_name(self) -> str:
        """What the prompt, the journal and a typed guard call the cluster."""
        return self.profile or ",".join(map(str, self.connection.bootstrap))

    def describe(self) -> tuple[Setting, ...]:
        """Every setting, those left at their defaults too."""
        connection = self.connection
        values = {
            "profile": self.profile,
            BOOTSTRAP: ",".join(map(str, connection.bootstrap)),
            "security.protocol": connection.security_protocol,
            "guard": self.guard,
            "colour": self.colour,
            "theme": self.theme,
            "output": self.output,
            "editing-mode": self.editing_mode,
            "pager": self.pager,
        }
        untouched = {"theme": "", "output": "table", "editing-mode": "emacs", "pager": "on"}
        rows = {
            name: Setting(
                name, value, "default" if untouched.get(name, value) == value else "this session"
            )
            for name, value in values.items()
        }
        for name, found in self.sources.items():
            # `set output json` replaces a value without a source of its own.
            same = name not in values or values[name] == found.value
            rows[name] = found if same else Setting(name, values[name], "this session")
        return tuple(rows.values())


class GuardedProfile(Struct, frozen=True):
    """A profile with a guard, and what tells its cluster: its id where it is known, its address."""

    name: str
    guard: str
    cluster_id: str
    bootstrap: str


def load(flags: Mapping[str, object], environ: Mapping[str, str], config_file: Path) -> Settings:
    """Everything together. Raises ShellError that names the file and line of what is wrong."""
    file = ConfigFile.read(config_file)
    chosen = Spoken(flags, environ)
    name, profile = _choose_profile(file, chosen)
    own = profile.get(BOOTSTRAP)
    properties = {**profile, **chosen.merged}
    connection = to_connection(properties)
    if name and BOOTSTRAP not in properties:
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
        warnings=(*chosen.warnings, *connection_warnings(properties, connection)),
        sources=_sources(name, chosen, {**program, **properties}),
        properties=properties,
        own_address=own is not None and same_cluster(own, properties[BOOTSTRAP]),
    )


def load_over(
    session: Settings, flags: Mapping[str, object], environ: Mapping[str, str], config_file: Path
) -> Settings:
    """The settings of a line with connection options of its own.

    They are merged over the session's: its cluster, login and guard stay unless the line names
    others. Only --broker, --profile and bootstrap.servers as --adminclient-property name another
    cluster. A line with --profile has nothing of the session's connection.
    """
    if "profile" in flags:
        found = load(flags, environ, config_file)
        return replace(found, output=session.output, editing_mode=session.editing_mode,
                       pager=session.pager)  # fmt: skip
    chosen = Spoken(flags, {})
    warnings: tuple[str, ...] = ()
    added = chosen.merged
    named = chosen.files.pop(BOOTSTRAP, None)
    if named is not None and added[BOOTSTRAP] is named:
        del added[BOOTSTRAP]
        here = ",".join(map(str, session.connection.bootstrap))
        if not same_cluster(named, Property(here, "")):
            warnings = (f"{named.where}: bootstrap.servers is not used: this session is on {here}",)
    properties = {**session.properties, **added}
    connection = to_connection(properties)
    if BOOTSTRAP not in properties:
        connection = replace(connection, bootstrap=session.connection.bootstrap)
    return replace(
        session,
        connection=connection,
        flags=_merged_flags(session, flags),
        warnings=(*chosen.warnings, *warnings, *connection_warnings(added, connection)),
        properties=properties,
        own_address=session.own_address and BOOTSTRAP not in added,
    )


def profile_names(config_file: Path) -> tuple[str, ...]:
    """The names of the profiles."""
    return tuple(ConfigFile.read(config_file).profiles)


def without_connection(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment without what names a cluster or a login."""
    return {name: value for name, value in environ.items() if name not in CONNECTION_VARIABLES}


def names_a_cluster(flags: Mapping[str, object]) -> bool:
    """Whether these connection options name a cluster, in a file perhaps."""
    return "profile" in flags or BOOTSTRAP in Spoken(flags, {}).merged


def guarded_profiles(config_file: Path) -> tuple[GuardedProfile, ...]:
    """The profiles that have a guard. Raises ShellError for a guard that does not exist."""
    file = ConfigFile.read(config_file)
    found = []
    for name in file.profiles:
        profile = file.profile(name)
        guard = profile["guard"].value if "guard" in profile else ""
        if guard in ("", "none"):
            continue
        try:
            properties = _properties_of(profile, file)
        except ShellError:  # a file that is not there: its cluster may still be known by its id
            properties = profile
        bootstrap = properties.get(BOOTSTRAP)
        known = profile.get("cluster-id")
        found.append(GuardedProfile(name, guard, known.value if known else "",
                                    bootstrap.value if bootstrap else ""))  # fmt: skip
    return tuple(found)


def addresses_of(bootstrap: str) -> tuple[Address, ...]:
    """The addresses of a profile; none where they are malformed."""
    try:
        return parse_addresses(bootstrap)
    except ShellError:
        return ()


def _merged_flags(session: Settings, flags: Mapping[str, object]) -> dict[str, object]:
    merged = {**session.flags, **flags}
    if session.profile:
        merged["profile"] = session.profile
    pairs = [
        pair
        for each in (session.flags, flags)
        for pair in as_list(each.get("adminclient-property"))
    ]
    if pairs:
        merged["adminclient-property"] = tuple(pairs)
    return merged


# -- together --------------------------------------------------------------------------------------


def _choose_profile(file: ConfigFile, chosen: Spoken) -> tuple[str, dict[str, Property]]:
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
    return asked.value, _properties_of(file.profile(asked.value), file)


def _properties_of(profile: Mapping[str, Property], file: ConfigFile) -> dict[str, Property]:
    """A profile with its own file below it and its bootstrap by Java's name."""
    found = dict(profile)
    config = found.pop("command-config", None)
    below = file_layer(config.value, config.where, file.path.parent) if config else {}
    if "bootstrap" in found:
        found[BOOTSTRAP] = found.pop("bootstrap")
    return {**below, **found}


def _program_values(
    file: ConfigFile, profile: Mapping[str, Property], chosen: Spoken
) -> dict[str, Property]:
    found = {key: value for key in PROGRAM_KEYS[1:-1] if (value := file.text(key)) is not None}
    found |= {key: profile[key] for key in ("guard", "colour", "theme") if key in profile}
    found |= chosen.program_values()
    output = found.get("output")
    if output is not None and output.value not in OUTPUTS:
        raise bad(
            output.where, f"there is no output {output.value}", f"Expected {', '.join(OUTPUTS)}."
        )
    return found


def _sources(profile: str, chosen: Spoken, found: Mapping[str, Property]) -> dict[str, Setting]:
    rows = {}
    if profile:
        source = chosen.profile.where if chosen.profile else "default"
        rows["profile"] = Setting("profile", profile, source)
    for name, each in found.items():
        rows[name] = Setting(name, shown_value(name, each.value), each.where)
    return rows
