"""A pasted `kafka-*.sh` line -> the line that does it here."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import TypeVar

from kafka_shell.errors import UsageError
from kafka_shell.nouns.clients import CLIENT_QUOTAS, IP_QUOTAS
from kafka_shell.quoting import join
from kafka_shell.values import in_utc

from .command import Command
from .convert import config_pairs
from .parse import parse, render
from .tokens import words_of

Given = dict[str, list[str]]
"""Options of the pasted line and their values, in order; "" holds the words before any option."""

_TOOL = re.compile(r"(?:.*[/\\])?(kafka-[a-z-]+?)(?:\.sh|\.bat)?")
_EXPRESSION = re.compile(r"[*+?()\[\]{}|^$\\]")
_EVERYWHERE = {"--bootstrap-server": "--broker", "--zookeeper": "", "--broker-list": "--broker"}
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


@dataclass(frozen=True, slots=True)
class Action:
    """What one of a tool's actions is called here. `renames` maps its options to ours; "" drops."""

    command: str
    renames: Mapping[str, str] = field(default_factory=dict)
    extra: tuple[str, ...] = ()


def translate(words: Sequence[str], registry: Sequence[Command]) -> str | None:
    """The line that does here what a pasted `kafka-topics.sh --list ...` does; None if it is none.

    Raises UsageError where it is one of Kafka's tools but no line does the same: it says which
    command comes nearest, or that there is none yet.
    """
    tool = _TOOL.fullmatch(words[0]) if words else None
    if tool is None or tool[1] not in _TOOLS:
        return None
    try:
        line = _TOOLS[tool[1]](_read(words[1:]))
    except UsageError as error:
        raise _no_line(tool[1], f"{error.message}. {error.hint}".strip()) from None
    if line is None:
        raise _no_line(tool[1], f"{join(words[:2])} has no line here.")
    names = {command.name for command in registry}
    if line[0] not in names:
        raise _no_line(tool[1], f"The command for it, {line[0]}, is not here yet.")
    try:
        return render(parse(words_of(line), registry))
    except UsageError as error:
        raise _no_line(tool[1], f"{line[0]} comes nearest: {error.message}.") from None


def _no_line(tool: str, hint: str) -> UsageError:
    return UsageError(f"{tool}.sh is Kafka's own tool", hint=hint, code="pasted")


def _read(words: Sequence[str]) -> Given:
    """The options with the words that follow each."""
    given: Given = {"": []}
    current = given[""]
    for word in words:
        name, equals, value = word.partition("=")
        if not word.startswith("--"):
            current.append(word)
            continue
        current = given.setdefault(name if equals else word, [])
        if equals:
            current.append(value)
    return given


def _line(action: Action, given: Given, done: Sequence[str]) -> list[str]:
    """The action's command with the options that are not `done`, under their names here."""
    line = [*action.command.split(), *action.extra]
    renames = _EVERYWHERE | dict(action.renames)
    cluster: dict[str, str] = {}  # what names the cluster, and by which option
    for name, values in given.items():
        ours = renames.get(name, name)
        if not name or not ours or name in done:
            continue
        if ours == "--broker":
            cluster |= dict.fromkeys(values, name)
        else:
            line += [f"{ours}={value}" for value in values] or [ours]
    if len(cluster) > 1:
        said = " and ".join(f"{name} {value}" for value, name in cluster.items())
        raise UsageError(f"two clusters are named: {said}", hint="Leave one of them out.")
    return [*line, *(f"--broker={value}" for value in cluster)]


_T = TypeVar("_T")


def _first(given: Given, options: Mapping[str, _T]) -> tuple[str, _T] | None:
    return next(((name, value) for name, value in options.items() if name in given), None)


# -- topics ----------------------------------------------------------------------------------------

_TOPICS = {
    "--list": Action("list-topics"),
    "--describe": Action("describe-topic"),
    "--create": Action("create-topic"),
    "--alter": Action("alter-topic"),
    "--delete": Action("delete-topic"),
}
_TOPIC_OPTIONS = {"--partition-size-limit-per-response": "", "--force": "", "--delete-config": ""}


def _topics(given: Given) -> list[str] | None:
    found = _first(given, _TOPICS)
    if found is None:
        return None
    action = Action(found[1].command, _TOPIC_OPTIONS)
    if found[0] != "--create":  # Kafka's tool takes an expression everywhere else
        given = given | {"--topic": [_selector(each) for each in given.get("--topic", [])]}
        if not given["--topic"]:
            del given["--topic"]
    deleted = [f"--delete-config={key}" for key in _split(given.get("--delete-config", []))]
    return _line(action, given, [found[0]]) + deleted


def _selector(expression: str) -> str:
    """Kafka's expression as a selector here: what is only a name stays a name, dots and all."""
    items = expression.strip().strip("\"'").replace(" ", "").split(",")
    return ",".join(f"/{item}/" if _EXPRESSION.search(item) else item for item in items)


def _split(values: Sequence[str]) -> list[str]:
    return [key.strip() for value in values for key in value.split(",") if key.strip()]


# -- configs ---------------------------------------------------------------------------------------


def _configs(given: Given) -> list[str] | None:
    types, names = _entities(given)
    action = _first(given, {"--describe": "describe-configs", "--alter": "alter-configs"})
    if action is None or not types:
        return None
    if len(types) > 1 or types[0] not in _SUBJECTS:
        return _client_configs(types, names, given, action[0])
    if "--add-config-file" in given or (types[0] == "groups" and not names):
        return ["config-command", *_original(given)]
    done = {*_ENTITIES, *_DEFAULTS, "--entity-type", "--entity-name", "--entity-default",
            "--add-config", "--delete-config", *action[:1]}  # fmt: skip
    if action[0] == "--alter":
        done |= {"--describe", "--all"}
    line = _line(Action(action[1]), {k: v for k, v in given.items() if _kept(k, given)}, [*done])
    return [*line, *_subject(types[0], names, given), *_changes(given)]


def _kept(name: str, given: Given) -> bool:
    # the connection is --bootstrap-server here; --broker is the entity
    return name != "--broker" or "--bootstrap-server" not in given


def _entities(given: Given) -> tuple[list[str], list[str]]:
    """(entity types, entity names) by either spelling."""
    types, names = list(given.get("--entity-type", [])), list(given.get("--entity-name", []))
    for option, entity in (*_ENTITIES.items(), *_DEFAULTS.items()):
        if option in given:
            types.append(entity)
            names += given[option] if option in _ENTITIES else []
    return types, names


def _subject(entity: str, names: Sequence[str], given: Given) -> list[str]:
    if entity == "brokers" and ("--entity-default" in given or "--broker-defaults" in given):
        return ["--broker-default"]
    return [f"{_SUBJECTS[entity]}={name}" for name in names or ["*"]]


def _changes(given: Given) -> list[str]:
    pairs = [pair for text in given.get("--add-config", []) for pair in config_pairs(text)]
    changes = [f"{key}={value}" for key, value in pairs]
    return changes + [f"--delete-config={key}" for key in _split(given.get("--delete-config", []))]


_QUOTA_SUBJECTS = {"users": "--user", "clients": "--client-id", "ips": "--ip"}


def _original(given: Given) -> list[str]:
    return _line(Action("", {"--bootstrap-server": "--bootstrap-server"}), given, [])


def _client_configs(
    types: Sequence[str], names: Sequence[str], given: Given, action: str
) -> list[str]:
    """Quotas, SCRAM credentials and dynamic configs of clients (KIP-649), each by its own command;
    what is about several of them, or about which of two is the default, by `config-command`."""
    added, deleted = given.get("--add-config", []), _split(given.get("--delete-config", []))
    keys = [key for text in added for key, _ in config_pairs(text)] + deleted
    default = "--entity-default" in given or any(option in given for option in _DEFAULTS)
    unsure = (default and names) or any(kind not in _QUOTA_SUBJECTS for kind in types)
    of_ips = list(types) == ["ips"]
    if unsure or "--add-config-file" in given or (action == "--describe" and not of_ips):
        return ["config-command", *_original(given)]
    about = {_client_command(key) for key in keys} or {"describe-quotas"}
    if len(about) > 1 or (
        "scram-credentials" in about and (len(names) != 1 or (added and deleted))
    ):
        return ["config-command", *_original(given)]
    (name,) = about
    known = {*_ENTITIES, *_DEFAULTS, "--entity-type", "--entity-name", "--entity-default",
             "--add-config", "--delete-config", "--describe", "--alter"}  # fmt: skip
    line = _line(Action(name), {k: v for k, v in given.items() if _kept(k, given)}, [*known])
    if name == "scram-credentials":
        change = ["--add", ",".join(added)] if added else ["--delete", ",".join(deleted)]
        return [*line, *change, f"--username={names[0]}"]
    for kind, which in zip_longest(types, names):
        option = _QUOTA_SUBJECTS[kind]
        line += [f"{option}-default"] if default else [f"{option}={which}"] if which else []
    return [*line, *_changes(given)]


def _client_command(key: str) -> str:
    if key.startswith("SCRAM-"):
        return "scram-credentials"
    return "alter-quotas" if key in (*CLIENT_QUOTAS, *IP_QUOTAS) else "alter-client-configs"


# -- the other tools -------------------------------------------------------------------------------


def _by_option(actions: Mapping[str, Action]) -> Callable[[Given], list[str] | None]:
    def line(given: Given) -> list[str] | None:
        found = _first(given, actions)
        return _line(found[1], given, [found[0]]) if found else None

    return line


def _by_word(actions: Mapping[str, Action]) -> Callable[[Given], list[str] | None]:
    """Tools whose action is a word: `kafka-features.sh describe`. It may follow an option."""

    def line(given: Given) -> list[str] | None:
        for name, values in given.items():
            for value in values[0 if not name else 1 :]:
                if value in actions:
                    rest = given | {name: [each for each in values if each != value]}
                    return _line(actions[value], rest, [])
        return None

    return line


def _always(action: Action | None) -> Callable[[Given], list[str] | None]:
    return lambda given: _line(action, given, []) if action else None


_RESETS: dict[str, Callable[[str], str]] = {
    "--to-earliest": lambda _: "earliest",
    "--to-latest": lambda _: "latest",
    "--to-current": lambda _: "current",
    "--to-offset": str,
    "--to-datetime": in_utc,
    "--shift-by": lambda by: by if by.startswith(("-", "+")) else f"+{by}",
    "--by-duration": lambda duration: f"-{duration}",
    "--from-file": lambda file: f"file:{file}",
}
_GROUPS = {
    "--list": Action("list-groups", {"--group-type": "--type"}),
    "--describe": Action("describe-group", {"--all-groups": "", "--timeout": "", "--verbose": ""}),
    "--delete": Action("delete-group"),
    "--delete-offsets": Action("delete-offsets"),
}


def _groups(given: Given) -> list[str] | None:
    if "--reset-offsets" in given:
        return _reset(given)
    found = _first(given, _GROUPS)
    if found is None:
        return None
    if found[0] == "--list":
        given = _listing(given)
    return _line(found[1], given, [found[0]])


def _listing(given: Given) -> Given:
    """Kafka's filters take lists, and without a value show what they would filter by."""
    listed = {name: _split(given[name]) for name in ("--state", "--type") if name in given}
    shown = any(not values for values in listed.values())
    rest = {name: values for name, values in given.items() if name not in listed}
    filters = {name: values for name, values in listed.items() if values}
    return rest | filters | ({"--long": []} if shown else {})


def _reset(given: Given) -> list[str] | None:
    to = _first(given, _RESETS)
    if to is None:
        return None
    where = to[1](given[to[0]][0] if given[to[0]] else "")
    renames = {"--execute": "", "--export": "", "--dry-run": "", "--all-topics": "",
               "--timeout": ""}  # fmt: skip
    dry = () if "--execute" in given else ("--dry-run",)
    action = Action("reset-offsets", renames, (f"--to={where}", *dry))
    return _line(action, given, ["--reset-offsets", to[0]])


def _groups_of(kind: str) -> Callable[[Given], list[str] | None]:
    """The tools of one type of groups: share, streams."""
    return lambda given: _groups(given | {"--type": [kind]} if "--list" in given else given)


_ACL_RESOURCES = ("--topic", "--group", "--cluster", "--transactional-id", "--delegation-token",
                  "--user-principal")  # fmt: skip


def _acls(given: Given) -> list[str] | None:
    """Each side as a rule; --producer, --consumer and --remove alone are as they are there."""
    patterns = [each.lower() for each in given.get("--resource-pattern-type", [])]
    given = given | ({"--resource-pattern-type": patterns} if patterns else {})
    if "--list" in given:
        # Kafka's tool means ACLs on this very name; list-acls, all that apply to it.
        named = not patterns and any(option in given for option in _ACL_RESOURCES)
        extra = ("--resource-pattern-type=literal",) if named else ()
        return _line(Action("list-acls", {}, extra), given, ["--list"])
    from kafka_shell.nouns.access import word

    verb = "--add" if "--add" in given else "--remove"
    sides = [side for side in ("allow", "deny") if f"--{side}-principal" in given]
    action = Action("alter-acls", {"--force": "--yes"})
    if verb not in given:
        return None
    if not sides or "--producer" in given or "--consumer" in given:
        return _line(action, given, [])
    operations = ",".join(given.get("--operation", [])) or "All"
    rules: list[str] = []
    for side in sides:
        hosts = ",".join(given.get(f"--{side}-host", []))
        origin = f" from {hosts}" if hosts not in ("", "*") else ""
        rules += [
            f"{verb}={side} {word(who)} {operations}{origin}"
            for who in given[f"--{side}-principal"]
        ]
    done = ["--add", "--remove", "--operation"]
    done += [f"--{side}-{what}" for side in sides for what in ("principal", "host")]
    return [*_line(action, given, done), *rules]


def _election(given: Given) -> list[str] | None:
    """`--topic t --partition 0` is one word here."""
    topics, numbers = given.get("--topic", []), given.get("--partition", [])
    words = [f"{topic}:{number}" for topic, number in zip(topics, numbers, strict=False)]
    action = Action("elect-leaders", {"--admin.config": "--command-config"}, tuple(words))
    return _line(action, given, ["--topic", "--partition"] if words else [])


def _get_offsets(given: Given) -> list[str] | None:
    """Kafka's tool lists where partitions end, unless told."""
    times = given.get("--time", [])
    time = _OFFSETS.get(times[0], times[0]) if times else "latest"
    topics = [_selector(each) for each in given.get("--topic", [])]
    pairs = [each for text in given.get("--topic-partitions", []) for each in text.split(",")]
    numbers = ",".join(given.get("--partitions", []))
    words = [*pairs, *(f"{topic}:{numbers}" if numbers else topic for topic in topics)]
    action = Action("list-offsets", {"--exclude-internal-topics": "--exclude-internal"},
                    (*words, f"--time={time}"))  # fmt: skip
    return _line(action, given, ["--time", "--topic", "--topic-partitions", "--partitions"])


_OFFSETS = {
    "-1": "latest",
    "-2": "earliest",
    "-3": "max-timestamp",
    "-4": "earliest-local",
    "-5": "latest-tiered",
    "-6": "earliest-pending-upload",
}

_TOOLS: dict[str, Callable[[Given], list[str] | None]] = {
    "kafka-topics": _topics,
    "kafka-configs": _configs,
    "kafka-consumer-groups": _groups,
    "kafka-share-groups": _groups_of("share"),
    "kafka-streams-groups": _groups_of("streams"),
    "kafka-groups": _groups,
    "kafka-acls": _acls,
    "kafka-console-producer": _always(None),
    "kafka-console-consumer": _always(None),
    "kafka-console-share-consumer": _always(None),
    "kafka-reassign-partitions": _by_option({
        "--execute": Action("reassign-partitions", {"--timeout": ""}),
        "--verify": Action("verify-reassign-partitions"),
        "--list": Action("list-reassignments"),
        "--cancel": Action("reassign-partitions", {"--preserve-throttles": ""}, ("--cancel",)),
        "--generate": Action(
            "reassign-partitions",
            {"--broker-list": "--broker-list", "--disable-rack-aware": ""}, ("--dry-run",),
        ),
    }),
    "kafka-leader-election": _election,
    "kafka-preferred-replica-election": _always(Action("preferred-replica-leader-election")),
    "kafka-log-dirs": _always(Action("describe-log-dirs", {
        "--describe": "", "--broker-list": "--broker-id", "--topic-list": "--topic",
    })),
    "kafka-metadata-quorum": _by_word({
        "describe": Action(
            "describe-quorum", {"--status": "", "--replication": "", "--human-readable": ""}
        ),
        "add-controller": Action("alter-quorum"),
        "remove-controller": Action("alter-quorum"),
    }),
    "kafka-features": _by_word({
        "describe": Action("describe-features"),
        "upgrade": Action("update-features"),
        "downgrade": Action("update-features"),
        "disable": Action("update-features"),
    }),
    "kafka-broker-api-versions": _always(Action("api-versions")),
    "kafka-cluster": _by_word({
        "cluster-id": Action("cluster-metadata"),
        "list-endpoints": Action("cluster-metadata"),
        "unregister": Action("unregister-broker", {"--id": "--broker-id"}),
    }),
    "kafka-transactions": _by_word({
        "list": Action("list-transactions"),
        "describe": Action("describe-transactions"),
        "describe-producers": Action("describe-producers"),
        "abort": Action("abort-transaction"),
        "find-hanging": Action("find-hanging-transactions"),
    }),
    "kafka-delegation-tokens": _by_option({
        "--create": Action("create-token"),
        "--describe": Action("describe-tokens"),
        "--renew": Action("renew-token"),
        "--expire": Action("expire-token"),
    }),
    "kafka-get-offsets": _get_offsets,
    "kafka-delete-records": _always(Action("delete-records")),
}  # fmt: skip
