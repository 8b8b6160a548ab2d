"""The settings of a session: flags > environment > profile > Java .properties > defaults.

Every value has its source. A file that a flag or the environment names ranks right below that flag
or variable, so a profile is never mixed into an explicit connection. If --profile is given,
environment variables that name a cluster are ignored; so is KAFKA_SH_PROFILE if a flag names one.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

from msgspec import Struct, field

from kafka_shell.base.command_results import FORMATS
from kafka_shell.base.errors import ShellError, Status, near_miss
from kafka_shell.base.structs import replace
from kafka_shell.base.text import with_option
from kafka_shell.config_file import BOOTSTRAP, PROGRAM_KEYS, ConfigFile, TopicRule
from kafka_shell.connection_options import ConnectionOptions, as_list, file_layer, same_cluster
from kafka_shell.wire.client_properties import (
    LOGINS,
    Property,
    bad,
    connection_warnings,
    file_warnings,
    resolve,
    shown_value,
    to_connection,
)
from kafka_shell.wire.endpoint import Address, ConnectionConfig, parse_addresses


class Setting(Struct, frozen=True):
    """One setting with its source. Secret values are masked."""

    name: str
    value: str
    source: str


class Settings(Struct, frozen=True):
    """The settings of a session or line. `sources` has every setting that is not a default.
    `file_warnings` are the warnings about files that other users can read.

    `properties` are the client properties of the connection. `profile_address` says whether the
    bootstrap servers are those of the profile. `label` names a cluster that has no profile.
    `topics` is what the profile says about records.
    """

    connection: ConnectionConfig = field(default_factory=ConnectionConfig)
    profile: str = ""
    guard: str = ""
    color: str = ""
    theme: str = ""
    output: str = "table"
    editing_mode: str = "emacs"
    pager: str = "2"
    refresh: str = "off"
    no_color: bool = False
    flags: Mapping[str, object] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    file_warnings: tuple[str, ...] = ()
    sources: Mapping[str, Setting] = field(default_factory=dict)
    properties: Mapping[str, Property] = field(default_factory=dict)
    profile_address: bool = False
    label: str = ""
    topics: tuple[TopicRule, ...] = ()

    @property
    def cluster_name(self) -> str:
        """The name of the cluster for the prompt, questions and typed guards: the first address, as
        in `kafka-1:9092,...`, if that is not the profile's."""
        profile = self.profile if self.profile_address else ""
        first, *others = map(str, self.connection.bootstrap)
        return self.label or profile or f"{first}{',...' if others else ''}"

    def connecting(self, command: str) -> str:
        """The command with the options that name this cluster, for another session."""
        named = {word.partition("=")[0] for word in command.split()}
        if not command or not named.isdisjoint(("--profile", "--broker", "--bootstrap-server")):
            return command
        if self.profile:
            command += f" {with_option('--profile', self.profile)}"
        if self.profile_address:
            return command
        command += f" {with_option('--broker', ','.join(map(str, self.connection.bootstrap)))}"
        file = self.flags.get("command-config")
        return f"{command} {with_option('--command-config', str(file))}" if file else command

    def describe(self) -> tuple[Setting, ...]:
        """Every setting, including defaults."""
        connection = self.connection
        own = ("theme", "output", "editing-mode", "pager", "refresh")
        values = {
            "profile": self.profile,
            BOOTSTRAP: ",".join(map(str, connection.bootstrap)),
            "security.protocol": connection.security_protocol,
            "guard": self.guard,
            "color": self.color,
            **{name: getattr(self, name.replace("-", "_")) for name in own},
        }
        defaults = {name: getattr(Settings(), name.replace("-", "_")) for name in own}
        rows = {
            name: Setting(
                name, value, "default" if defaults.get(name, value) == value else "this session"
            )
            for name, value in values.items()
        }
        for name, setting in self.sources.items():
            # `set output json` changes the value, but not the source.
            same = name not in values or values[name] == setting.value
            rows[name] = setting if same else Setting(name, values[name], "this session")
        return tuple(rows.values())


class GuardedProfile(Struct, frozen=True):
    """A profile with a guard or masks, and its cluster: the ID (empty if unknown) and the address.
    `masks` are its rules that mask fields of records."""

    name: str
    guard: str
    cluster_id: str
    bootstrap: str
    masks: tuple[TopicRule, ...] = ()


def load(flags: Mapping[str, object], environ: Mapping[str, str], config_file: Path) -> Settings:
    """The settings of a session. Raises ShellError with the file and line of an error."""
    file = ConfigFile.read(config_file)
    options = ConnectionOptions(flags, environ)
    name, profile = _choose_profile(file, options)
    own = profile.get(BOOTSTRAP)
    servers = own or options.merged.get(BOOTSTRAP)  # without its own, its login is for any cluster
    ours = addresses_of(servers.value) if servers else ()
    kept, login_warnings = _without_login(profile, options.merged, ours, f"profile {name}")
    properties = {**kept, **options.merged}
    connection = to_connection(properties)
    if name and BOOTSTRAP not in properties:
        what = f"profile {name} has no bootstrap servers"
        raise file.wrong("profiles", name, what, 'Use bootstrap = "host:port".')
    program = _program_values(file, profile, options)
    values = {key: setting.value for key, setting in program.items()}
    return Settings(
        connection=connection,
        profile=name,
        guard=values.get("guard", ""),
        color=values.get("color", ""),
        theme=values.get("theme", ""),
        output=values.get("output", "table"),
        editing_mode=values.get("editing-mode", "emacs"),
        no_color=values.get("no-color") == "true",
        flags=dict(flags),
        warnings=(*options.warnings, *login_warnings, *connection_warnings(properties, connection)),
        file_warnings=tuple(file_warnings(properties)),
        sources=_sources(name, options, {**program, **properties}),
        properties=properties,
        profile_address=own is not None and same_cluster(own, properties[BOOTSTRAP]),
        topics=file.topic_rules(name) if name else (),
    )


def load_for_line(
    session: Settings,
    flags: Mapping[str, object],
    environ: Mapping[str, str],
    config_file: Path,
    known: Collection[Address] = (),
) -> Settings:
    """The settings of a line with connection options. `known` are the brokers of the session.

    They override those of the session: its cluster, login and guard are kept unless the line has
    others. Only --broker, --profile and bootstrap.servers in --adminclient-property select another
    cluster. With --profile, nothing of the session's connection is used. The login of the session
    is used for its cluster only.
    """
    if "profile" in flags:
        return kept_from(session, load(flags, environ, config_file))
    options = ConnectionOptions(flags, {})
    warnings: tuple[str, ...] = ()
    added = options.merged
    in_file = options.files.pop(BOOTSTRAP, None)
    if in_file is not None and added[BOOTSTRAP] is in_file:
        del added[BOOTSTRAP]
        current = ",".join(map(str, session.connection.bootstrap))
        if not same_cluster(in_file, Property(current, "")):
            warning = f"bootstrap.servers is ignored: this session is connected to {current}"
            warnings = (f"{in_file.where}: {warning}",)
    ours = {*session.connection.bootstrap, *known}
    kept, dropped = _without_login(session.properties, added, ours, "this session")
    warnings += dropped
    properties = {**kept, **added}
    connection = to_connection(properties)
    if BOOTSTRAP not in properties:
        connection = replace(connection, bootstrap=session.connection.bootstrap)
    return replace(
        session,
        connection=connection,
        flags=_merged_flags(session, flags),
        warnings=(*options.warnings, *warnings, *connection_warnings(added, connection)),
        file_warnings=tuple(file_warnings(added)),
        properties=properties,
        profile_address=session.profile_address and BOOTSTRAP not in added,
    )


def _without_login(
    kept: Mapping[str, Property],
    added: Mapping[str, Property],
    ours: Collection[Address],
    whose: str,
) -> tuple[dict[str, Property], tuple[str, ...]]:
    """The kept properties, without a login if the added ones replace its server: by brokers that
    are not all `ours`, or another URL. Then with a warning, unless they have one of their own."""
    kept, warnings = dict(kept), []
    for name, parts in LOGINS.items():
        there, before = added.get(name), kept.get(name)
        login = [key for key in kept if key.startswith(parts) and key not in LOGINS]
        if there is None or not login:
            continue
        same = before is None or before.value == there.value
        if name == BOOTSTRAP:
            same = set(ours).issuperset(addresses_of(there.value))
        if not same and not any(key.startswith(parts) and key not in LOGINS for key in added):
            server = shown_value(name, there.value)
            warning = f"the credentials of {whose} are not sent to {server}"
            warnings.append(f"{warning}; to send credentials, add --command-config FILE")
        for each in () if same else login:
            del kept[each]
    return kept, tuple(warnings)


def kept_from(session: Settings, other: Settings) -> Settings:
    """The settings of another cluster with what `set` and `theme` have changed in this session."""
    configured = session.sources.get("theme")
    chosen = session.theme != (configured.value if configured else "")
    return replace(
        other,
        output=session.output,
        editing_mode=session.editing_mode,
        pager=session.pager,
        refresh=session.refresh,
        theme=session.theme if chosen else other.theme,
    )


def profile_names(config_file: Path) -> tuple[str, ...]:
    """The names of the profiles."""
    return tuple(ConfigFile.read(config_file).profiles)


def names_a_cluster(flags: Mapping[str, object]) -> bool:
    """Whether these connection options, or a file that they name, select a cluster."""
    return "profile" in flags or BOOTSTRAP in ConnectionOptions(flags, {}).merged


def development_profiles(config_file: Path) -> frozenset[str]:
    """The profiles with environment = "dev". A malformed profile is none."""
    tables = ConfigFile.read(config_file).profiles.items()
    return frozenset(
        name
        for name, table in tables
        if isinstance(table, dict) and table.get("environment") == "dev"
    )


def require_profiles(names: Collection[str], config_file: Path) -> None:
    """Raise ShellError if one does not exist."""
    file = ConfigFile.read(config_file)
    for name in names:
        _require_profile(file, name)


def guarded_profiles(config_file: Path) -> tuple[GuardedProfile, ...]:
    """The profiles that have a guard or masks. Raises ShellError for an unknown guard."""
    file = ConfigFile.read(config_file)
    guarded = []
    for name in file.profiles:
        profile = file.profile(name)
        guard = profile["guard"].value if "guard" in profile else ""
        guard = "" if guard == "none" else guard
        masks = tuple(rule for rule in file.topic_rules(name) if rule.mask)
        if not (guard or masks):
            continue
        try:
            properties = _properties_of(profile, file)
        except ShellError:  # a file is missing, but the cluster ID may be enough
            properties = profile
        cluster_id, bootstrap = profile.get("cluster-id"), properties.get(BOOTSTRAP)
        guarded.append(
            GuardedProfile(
                name,
                guard,
                cluster_id.value if cluster_id else "",
                bootstrap.value if bootstrap else "",
                masks,
            )
        )
    return tuple(guarded)


def addresses_of(bootstrap: str) -> tuple[Address, ...]:
    """The addresses of a profile, or none if they are malformed."""
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
        for table in (session.flags, flags)
        for pair in as_list(table.get("adminclient-property"))
    ]
    if pairs:
        merged["adminclient-property"] = tuple(pairs)
    return merged


# -- layers ----------------------------------------------------------------------------------------


def _choose_profile(
    file: ConfigFile, options: ConnectionOptions
) -> tuple[str, dict[str, Property]]:
    """The name and properties of the selected profile. The default profile is not used if the
    options name a cluster: the credentials of one cluster must not be sent to another."""
    name = options.profile
    if name is None and not options.names_a_cluster:
        name = file.text("default")
    if name is None:
        return "", {}
    _require_profile(file, name.value, f"{name.where}: ")
    return name.value, _properties_of(file.profile(name.value), file)


def _require_profile(file: ConfigFile, name: str, place: str = "") -> None:
    if name not in file.profiles:
        near = near_miss(name, file.profiles)
        names = ", ".join(file.profiles)
        known = f"Use one of: {names}." if names else f"Add [profiles.{name}] to this file."
        raise ShellError(
            f"{place}profile {name} does not exist in {file.path}",
            hint=f"Did you mean {near}?" if near else known,
            code="no-profile",
            status=Status.WRONG,
        )


def _properties_of(profile: Mapping[str, Property], file: ConfigFile) -> dict[str, Property]:
    """A profile as client properties: those of its command-config file, overridden by its own."""
    properties = dict(profile)
    config = properties.pop("command-config", None)
    in_file = file_layer(config.value, config.where, file.path.parent) if config else {}
    if "bootstrap" in properties:
        properties[BOOTSTRAP] = properties.pop("bootstrap")
    return resolve({**in_file, **properties})


def _program_values(
    file: ConfigFile, profile: Mapping[str, Property], options: ConnectionOptions
) -> dict[str, Property]:
    values = {key: value for key in PROGRAM_KEYS[1:-1] if (value := file.text(key)) is not None}
    values |= {key: profile[key] for key in ("guard", "color", "theme") if key in profile}
    values |= options.program_values()
    output = values.get("output")
    if output is not None and output.value not in FORMATS:
        what = f"unknown output format {output.value}"
        raise bad(output.where, what, f"Use one of {', '.join(FORMATS)}.")
    return values


def _sources(
    profile: str, options: ConnectionOptions, values: Mapping[str, Property]
) -> dict[str, Setting]:
    rows = {}
    if profile:
        source = options.profile.where if options.profile else "default"
        rows["profile"] = Setting("profile", profile, source)
    for name, setting in values.items():
        rows[name] = Setting(name, shown_value(name, setting.value), setting.where)
    return rows
