"""The connection options of the command line and the environment, as client properties."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from kafka_shell.base.errors import UsageError
from kafka_shell.base.units import to_path
from kafka_shell.config_file import BOOTSTRAP
from kafka_shell.wire.client_properties import Property, bad, read_located, resolve
from kafka_shell.wire.endpoint import parse_addresses, parse_via

if TYPE_CHECKING:
    from kafka_shell.language.command import Invocation

FLAGS = ("broker", "command-config", "adminclient-property", "profile", "address-map", "via")
ADDRESS_MAP, VIA = "KAFKA_SH_ADDRESS_MAP", "KAFKA_SH_VIA"

# A comma separates two settings only if the name of a Java property follows: `a:1,b:2` is a value.
_NEXT_PROPERTY = re.compile(r",\s*(?=[A-Za-z][\w-]*(?:\.[\w-]+)+=)")
_ENVIRONMENT = {
    "KAFKA_SH_THEME": "theme",
    "KAFKA_SH_OUTPUT": "output",
}
CONNECTION_VARIABLES = ("KAFKA_SH_BROKER", "KAFKA_SH_PROFILE", "KAFKA_SH_COMMAND_CONFIG")


def flags_of(invocation: Invocation) -> dict[str, object]:
    """The connection options of a line, by bare name."""
    own = {option.name for option in invocation.command.options}
    return {
        name: value
        for name in FLAGS
        # In `config-command --broker 1`, --broker is a broker ID, so it uses --bootstrap-server.
        if (value := invocation.get("bootstrap-server" if f"--{name}" in own else name))
        not in (None, ())
    }


def without_connection(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment without the variables of a connection."""
    return {name: value for name, value in environ.items() if name not in CONNECTION_VARIABLES}


class ConnectionOptions:
    """The connection options of the command line and the environment, as layers of properties."""

    def __init__(self, flags: Mapping[str, object], environ: Mapping[str, str]) -> None:
        self._flags = flags
        self._environ = environ
        for name in FLAGS:
            _check_not_empty(flags.get(name), f"--{name}")
        for variable in CONNECTION_VARIABLES:
            _check_not_empty(environ.get(variable), variable)
        self.profile = self._one("profile", "KAFKA_SH_PROFILE")
        self.warnings: tuple[str, ...] = ()
        self.files: dict[str, Property] = {}
        """The properties in the file of --command-config."""
        if "profile" in flags:
            self._environ = self._without_another_cluster(environ)
        # The lowest precedence first.
        self.files = file_layer(flags.get("command-config"), "--command-config")
        self._layers = [
            file_layer(self._environ.get("KAFKA_SH_COMMAND_CONFIG"), "KAFKA_SH_COMMAND_CONFIG"),
            _setting(BOOTSTRAP, self._environ.get("KAFKA_SH_BROKER"), "KAFKA_SH_BROKER"),
            self.files,
            dict(_pairs(flags.get("adminclient-property"))),
            _setting(BOOTSTRAP, flags.get("broker"), "--broker"),
            _address_map(environ.get(ADDRESS_MAP), ADDRESS_MAP),
            _address_map(flags.get("address-map"), "--address-map"),
            _setting("via", environ.get(VIA), VIA),
            _setting("via", _without_password(flags.get("via")), "--via"),
        ]
        of_flags = [layer[BOOTSTRAP] for layer in self._layers[2:] if BOOTSTRAP in layer]
        if of_flags and self.profile is not None and "profile" not in flags:
            # Its login is for another cluster.
            warning = f"KAFKA_SH_PROFILE is ignored: {of_flags[-1].where} selects the cluster"
            self.profile, self.warnings = None, (*self.warnings, warning)
        self._warn_of_ignored_clusters()

    @property
    def merged(self) -> dict[str, Property]:
        """Client properties of all layers."""
        merged: dict[str, Property] = {}
        for layer in self._layers:
            merged |= layer
        return merged

    @property
    def names_a_cluster(self) -> bool:
        """Whether any option selects a cluster: then the default profile is not used."""
        return any(BOOTSTRAP in layer for layer in self._layers)

    def program_values(self) -> dict[str, Property]:
        """Settings of the program in the environment."""
        return {
            name: Property(self._environ[variable], variable)
            for variable, name in _ENVIRONMENT.items()
            if self._environ.get(variable)
        }

    def _without_another_cluster(self, environ: Mapping[str, str]) -> dict[str, str]:
        """The environment without connection variables: --profile selects cluster and login."""
        for variable in ("KAFKA_SH_BROKER", "KAFKA_SH_COMMAND_CONFIG"):
            if variable in environ:
                warning = f"{variable} is ignored: --profile selects the cluster"
                self.warnings = (*self.warnings, warning)
        return without_connection(environ)

    def _warn_of_ignored_clusters(self) -> None:
        selected = self.merged.get(BOOTSTRAP)
        for file in (self._layers[0], self.files):
            other = file.get(BOOTSTRAP)
            if selected is not None and other is not None and not same_cluster(other, selected):
                warning = (
                    f"{other.where}: bootstrap.servers is ignored, because {selected.where} selects"
                    f" {selected.value}"
                )
                self.warnings = (*self.warnings, warning)

    def _one(self, flag: str, variable: str) -> Property | None:
        if self._flags.get(flag):
            return Property(str(self._flags[flag]), f"--{flag}")
        value = self._environ.get(variable)
        return Property(value, variable) if value else None


def _check_not_empty(value: object, name: str) -> None:
    """Raise UsageError if empty: an unset variable in a script must not select the default
    cluster."""
    if value is None or any(str(item).strip() for item in as_list(value)):
        return
    if isinstance(value, list | tuple) and not value:
        return
    flag = name.startswith("--")
    raise UsageError(
        f"{name} is empty" if flag else f"the environment variable {name} is set but empty",
        hint=f"Set {name} to a value, or {'omit' if flag else 'unset'} it.",
        code="empty",
    )


def _setting(name: str, value: object, where: str) -> dict[str, Property]:
    return {name: Property(str(value), where)} if value else {}


def _without_password(via: object) -> object:
    """Raise UsageError if a URL has a password: others can read the command line."""
    if via is not None and parse_via(str(via)).password is not None:
        raise UsageError(
            "--via has a password, which other users can read on the command line",
            hint="Set via in a profile, or KAFKA_SH_VIA.",
            code="secret-argument",
        )
    return via


def _address_map(value: object, where: str) -> dict[str, Property]:
    pairs = ("=".join(pair) if isinstance(pair, tuple) else str(pair) for pair in as_list(value))
    return _setting("address-map", ",".join(pairs), where)


def as_list(given: object) -> list[object]:
    """The values of an option that may be repeated."""
    if given is None:
        return []
    return list(given) if isinstance(given, list | tuple) else [given]


def _pairs(given: object) -> Iterable[tuple[str, Property]]:
    """The settings of `--adminclient-property k=v,k=v`, as text or already split."""
    for each in as_list(given):
        text = "=".join(map(str, each)) if isinstance(each, tuple) else str(each)
        for pair in _NEXT_PROPERTY.split(text):
            key, equals, value = pair.partition("=")
            if not (key.strip() and equals):
                raise UsageError(
                    "--adminclient-property must be key=value[,key=value]",
                    code="bad-property",
                )
            yield key.strip(), Property(value, "--adminclient-property")


def file_layer(path: object, where: str, base: Path | None = None) -> dict[str, Property]:
    """The properties in a file (relative to `base`), or none without a path. Raises ShellError."""
    if not path:
        return {}
    file = to_path(str(path))
    if base is not None:
        file = base / file
    try:
        layer = resolve(read_located(file))
    except OSError as error:
        raise bad(
            where, f"{file} cannot be read: {error.strerror}", "Use a .properties file."
        ) from None
    servers = layer.get(BOOTSTRAP)
    if servers is not None and not servers.value.strip():
        raise bad(servers.where, f"{BOOTSTRAP} is empty", "Set it to host:port, or remove it.")
    return layer


def same_cluster(one: Property, other: Property) -> bool:
    """Whether two lists of bootstrap servers are equal. Malformed ones are not."""
    try:
        return parse_addresses(one.value) == parse_addresses(other.value)
    except UsageError:
        return False
