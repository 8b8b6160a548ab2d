"""A pasted `kafka-configs.sh` line: configs, quotas, credentials and dynamic client configs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import zip_longest

from kafka_shell.admin.quotas.model import CLIENT_QUOTAS, IP_QUOTAS
from kafka_shell.commands.configs.kinds import config_pairs
from kafka_shell.errors import UsageError
from kafka_shell.pasted.options import Action, Given, first, line_of, split_keys

_ENTITIES = {
    "--topic": "topics",
    "--broker": "brokers",
    "--broker-logger": "broker-loggers",
    "--group": "groups",
    "--client-metrics": "client-metrics",
    "--user": "users",
    "--client": "clients",
    "--ip": "ips",
}
_DEFAULTS = {
    "--broker-defaults": "brokers",
    "--user-defaults": "users",
    "--client-defaults": "clients",
    "--ip-defaults": "ips",
}
_SUBJECTS = {
    "topics": "--topic",
    "brokers": "--broker-id",
    "broker-loggers": "--logger",
    "groups": "--group",
    "client-metrics": "--client-metrics",
}


def configs(given: Given) -> list[str] | None:
    """A `kafka-configs.sh` line. `--entity-default` is an empty `--entity-name`."""
    types, names = _entities(given)
    action = first(given, {"--describe": "describe-configs", "--alter": "alter-configs"})
    if action is None or not types:
        return None
    if action[0] == "--alter" and len(names) < len(types):
        # The commands here would change every entity: an omitted name selects all of them.
        each = " for each" if len(types) > 1 else ""
        raise UsageError(f"--alter requires the name of an entity{each}")
    if len(types) > 1 or types[0] not in _SUBJECTS:
        return _client_configs(types, names, given, action[0])
    if "--add-config-file" in given or (types[0] == "groups" and not names):
        return ["config-command", *_original(given)]
    done = {*_ENTITIES, *_DEFAULTS, "--entity-type", "--entity-name", "--add-config",
            "--delete-config", *action[:1]}  # fmt: skip
    if action[0] == "--alter":
        done |= {"--describe", "--all"}
    line = line_of(Action(action[1]), {k: v for k, v in given.items() if _kept(k, given)}, [*done])
    return [*line, *_subjects(types[0], names), *_changes(given)]


_METRICS = {"--interval": "interval.ms", "--match": "match", "--metrics": "metrics"}


def client_metrics(given: Given) -> list[str] | None:
    """A `kafka-client-metrics.sh` line; a subscription without configs does not exist."""
    if "--list" in given:
        return line_of(Action("list-configs client-metrics"), given, ["--list"])
    alter = "--alter" in given or "--delete" in given
    command = Action("alter-configs" if alter else "describe-configs")
    if alter and not given.get("--name"):
        raise UsageError("--alter and --delete require --name")
    names = [f"--client-metrics={name}" for name in given.get("--name", ["*"])]
    done = ["--alter", "--delete", "--describe", "--name", *_METRICS]
    if "--delete" in given:
        changes = [f"--delete-config={key}" for key in _METRICS.values()]
    else:
        named = [(key, given[name]) for name, key in _METRICS.items() if name in given]
        changes = [f"{key}={','.join(values)}" for key, values in named]
    return [*line_of(command, given, done), *names, *changes]


def _kept(name: str, given: Given) -> bool:
    # the connection is --bootstrap-server here; --broker is the entity
    return name != "--broker" or "--bootstrap-server" not in given


def _entities(given: Given) -> tuple[list[str], list[str]]:
    """(entity types, entity names) by either spelling; an empty name is the default entity."""
    types, names = list(given.get("--entity-type", [])), list(given.get("--entity-name", []))
    for option, entity in (*_ENTITIES.items(), *_DEFAULTS.items()):
        if option in given:
            types.append(entity)
            names += given[option] if option in _ENTITIES else [""]
    return types, names


def _subjects(entity: str, names: Sequence[str]) -> list[str]:
    """The options that name the resources: all of them if a line that describes has no names."""
    if "" in names and entity != "brokers":
        raise UsageError(f"{entity} have no default entity")
    return [
        f"{_SUBJECTS[entity]}={name}" if name else "--broker-default" for name in names or ["*"]
    ]


def _changes(given: Given) -> list[str]:
    pairs = [pair for text in given.get("--add-config", []) for pair in config_pairs(text)]
    changes = [f"{key}={value}" for key, value in pairs]
    return changes + [
        f"--delete-config={key}" for key in split_keys(given.get("--delete-config", []))
    ]


_QUOTA_SUBJECTS = {"users": "--user", "clients": "--client-id", "ips": "--ip"}


def _original(given: Given) -> list[str]:
    return line_of(Action("", {"--bootstrap-server": "--bootstrap-server"}), given, [])


def _client_configs(
    types: Sequence[str], names: Sequence[str], given: Given, action: str
) -> list[str]:
    """Quotas, SCRAM credentials and dynamic configs of clients (KIP-649), each by its own command.
    A line with a default of two entities, by `config-command`."""
    added, deleted = given.get("--add-config", []), split_keys(given.get("--delete-config", []))
    keys = [key for text in added for key, _ in config_pairs(text)] + deleted
    default = "" in names
    unsure = (default and any(names)) or any(kind not in _QUOTA_SUBJECTS for kind in types)
    of_ips = list(types) == ["ips"]
    if unsure or "--add-config-file" in given or (action == "--describe" and not of_ips):
        return ["config-command", *_original(given)]
    name, *others = dict.fromkeys(map(_client_command, keys)) or ["describe-quotas"]
    if others:
        parts = (_part_of(given, each) for each in (name, *others))
        lines = [_client_configs(types, names, part, action) for part in parts]
        return [word for line in lines for word in ("&&", *line)][1:]
    if name == "scram-credentials" and (len(names) != 1 or default or (added and deleted)):
        return ["config-command", *_original(given)]
    known = {*_ENTITIES, *_DEFAULTS, "--entity-type", "--entity-name", "--add-config",
             "--delete-config", "--describe", "--alter"}  # fmt: skip
    line = line_of(Action(name), {k: v for k, v in given.items() if _kept(k, given)}, [*known])
    if name == "scram-credentials":
        change = (
            ["--add", _without_password(",".join(added))]
            if added
            else ["--delete", ",".join(deleted)]
        )
        return [*line, *change, f"--username={names[0]}"]
    for kind, which in zip_longest(types, names):
        option = _QUOTA_SUBJECTS[kind]
        line += [f"{option}-default"] if default else [f"{option}={which}"] if which else []
    return [*line, *_changes(given)]


def _part_of(given: Given, command: str) -> Given:
    """The options with the changes that this command makes."""
    pairs = [pair for text in given.get("--add-config", []) for pair in config_pairs(text)]
    escaped = ((key, re.sub(r"[\\\]]", r"\\\g<0>", value)) for key, value in pairs)
    changes = {
        "--add-config": [f"{k}=[{v}]" for k, v in escaped if _client_command(k) == command],
        "--delete-config": [
            key
            for key in split_keys(given.get("--delete-config", []))
            if _client_command(key) == command
        ],
    }
    rest = {name: values for name, values in given.items() if name not in changes}
    return rest | {name: values for name, values in changes.items() if values}


def _without_password(text: str) -> str:
    """The credentials without their passwords: scram-credentials asks for them, unseen."""
    from kafka_shell.commands.users.scram_options import read_list

    return ",".join(
        each.mechanism.label + (f"=[iterations={each.iterations}]" if each.iterations else "")
        for each in read_list(text)
    )


def _client_command(key: str) -> str:
    if key.startswith("SCRAM-"):
        return "scram-credentials"
    return "alter-quotas" if key in (*CLIENT_QUOTAS, *IP_QUOTAS) else "alter-client-configs"
