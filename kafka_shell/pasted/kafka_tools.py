"""A pasted line of `kafka-*.sh` or another Kafka tool -> the line that does it here."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import zip_longest

from kafka_shell.admin.acls.model import word as acl_word
from kafka_shell.admin.quotas.model import CLIENT_QUOTAS, IP_QUOTAS
from kafka_shell.base.errors import UsageError, did_you_mean, is_one_edit
from kafka_shell.base.text import join, masked, naming, quote
from kafka_shell.commands import REGISTRY
from kafka_shell.commands.configs.kinds import config_pairs
from kafka_shell.context import Context
from kafka_shell.language.command import Registry
from kafka_shell.language.parse import parse
from kafka_shell.language.render import render
from kafka_shell.language.tokens import Line, Word, words_of
from kafka_shell.pasted.other_tools import (
    Action,
    Given,
    console_consumer,
    console_producer,
    first,
    is_reading,
    line_of,
    other_tool,
    reorder,
    split_keys,
)
from kafka_shell.wire.endpoint import parse_addresses

# A pasted `kafka-configs.sh` line: configs, quotas, credentials and dynamic client configs.

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
        parts = (_part_of(given, client) for client in (name, *others))
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
    from kafka_shell.commands.users.run import read_list

    return ",".join(
        item.mechanism.label + (f"=[iterations={item.iterations}]" if item.iterations else "")
        for item in read_list(text)
    )


def _client_command(key: str) -> str:
    if key.startswith("SCRAM-"):
        return "scram-credentials"
    return "alter-quotas" if key in (*CLIENT_QUOTAS, *IP_QUOTAS) else "alter-client-configs"


_TOOL = re.compile(r"(?:.*[/\\])?(kafka-[a-z-]+?)(?:\.sh|\.bat)?")
# Names and defaults of kafka-configs are matched to entity types in the order given.
_SAME = {"--entity-default": "--entity-name="}
_EXPRESSION = re.compile(r"[*+?()\[\]{}|^$\\]")


def translate(words: Sequence[str], registry: Registry) -> str | None:
    """The equivalent of a pasted `kafka-topics.sh --list ...`; None if it is not one of Kafka's
    tools.

    Raises UsageError if there is no equivalent, with the nearest command if there is one.
    """
    if words and (line_here := other_tool(words, registry)):
        return line_here
    tool = _TOOL.fullmatch(words[0]) if words else None
    if tool is None:
        return None
    if tool[1] not in _TOOLS:
        near = [f"{name}.sh" for name in _TOOLS if is_one_edit(tool[1], name)]
        hint = did_you_mean(f"{tool[1]}.sh", near)
        raise _no_line(tool[1], hint or f"kafka.sh has no equivalent of {tool[1]}.sh.")
    try:
        line = _TOOLS[tool[1]](_read([_SAME.get(word, word) for word in words[1:]]))
    except UsageError as error:
        raise _no_line(tool[1], f"{error.message}. {error.hint}".strip()) from None
    if line is None:
        raise _no_line(tool[1], f"{join(words[:2])} has no equivalent in kafka.sh.")
    rendered: list[str] = []
    while line:
        end = line.index("&&") if "&&" in line else len(line)
        one, line = line[:end], line[end + 1 :]
        try:
            rendered.append(render(parse(words_of(one), registry)))
        except UsageError as error:
            raise _no_line(tool[1], f"The closest command is {one[0]}: {error.message}.") from None
    return " && ".join(rendered)


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
    chosen = first(given, _TOPICS)
    if chosen is None:
        return None
    action = Action(chosen[1].command, _TOPIC_OPTIONS)
    if chosen[0] != "--create":  # Kafka's tool takes an expression everywhere else
        given = given | {"--topic": [_selector(topic) for topic in given.get("--topic", [])]}
        if not given["--topic"]:
            del given["--topic"]
    deleted = [f"--delete-config={key}" for key in split_keys(given.get("--delete-config", []))]
    return line_of(action, given, [chosen[0]]) + deleted


def _selector(expression: str) -> str:
    """Kafka's expression as a selector here: what is only a name stays a name, dots and all."""
    items = expression.strip().strip("\"'").replace(" ", "").split(",")
    return ",".join(f"/{item}/" if _EXPRESSION.search(item) else item for item in items)


# -- the other tools -------------------------------------------------------------------------------


def _by_option(actions: Mapping[str, Action]) -> Callable[[Given], list[str] | None]:
    def line(given: Given) -> list[str] | None:
        action = first(given, actions)
        return line_of(action[1], given, [action[0]]) if action else None

    return line


def _by_word(actions: Mapping[str, Action]) -> Callable[[Given], list[str] | None]:
    """Tools whose action is a word: `kafka-features.sh describe`. It may follow an option."""

    def line(given: Given) -> list[str] | None:
        for name, values in given.items():
            for value in values[0 if not name else 1 :]:
                if value in actions:
                    rest = given | {name: [each for each in values if each != value]}
                    return line_of(actions[value], rest, [])
        return None

    return line


def _removing_throttles(
    of: Callable[[Given], list[str] | None],
) -> Callable[[Given], list[str] | None]:
    """Kafka's --verify also removes the throttle of a reassignment that is complete."""

    def line(given: Given) -> list[str] | None:
        action = of(given)
        finish = "--verify" in given and "--preserve-throttles" not in given
        return [*action, "--finish"] if action and finish else action

    return line


def _always(action: Action | None) -> Callable[[Given], list[str] | None]:
    return lambda given: line_of(action, given, []) if action else None


_GROUPS = {
    "--list": Action("list-groups", {"--group-type": "--type"}),
    "--describe": Action("describe-group", {"--all-groups": "", "--timeout": "", "--verbose": ""}),
    "--delete": Action("delete-group"),
    "--delete-offsets": Action("delete-offsets"),
}


def _groups(given: Given) -> list[str] | None:
    action = first(given, {"--reset-offsets": _reset(given), **_GROUPS})
    if action is None:
        return None
    names = [naming("--group", name) for name in given.get("--group", [])]
    if action[0] == "--list":
        given = _listing(given)
    command, *rest = line_of(action[1], given, [action[0], "--group"])
    return [command, *names, *rest]


def _listing(given: Given) -> Given:
    """Kafka's filters take lists, and without a value show what they would filter by."""
    listed = {name: split_keys(given[name]) for name in ("--state", "--type") if name in given}
    shown = any(not values for values in listed.values())
    rest = {name: values for name, values in given.items() if name not in listed}
    filters = {name: values for name, values in listed.items() if values}
    return rest | filters | ({"--long": []} if shown else {})


def _reset(given: Given) -> Action:
    """reset-offsets has the options of Kafka's tool, which changes nothing without --execute."""
    dropped = ("--export", "--timeout", "--execute", "--all-topics", "--dry-run")
    dry = () if "--execute" in given else ("--dry-run",)
    return Action("reset-offsets", dict.fromkeys(dropped, ""), dry)


def _groups_of(kind: str) -> Callable[[Given], list[str] | None]:
    """The tools of one type of groups: share, streams."""
    return lambda given: _groups(given | {"--type": [kind]} if "--list" in given else given)


_ACL_RESOURCES = ("--topic", "--group", "--cluster", "--transactional-id", "--delegation-token",
                  "--user-principal")  # fmt: skip


def _acls(given: Given) -> list[str] | None:
    """Each side as a rule; --producer, --consumer and --remove alone are the same here."""
    patterns = [pattern.lower() for pattern in given.get("--resource-pattern-type", [])]
    given = given | ({"--resource-pattern-type": patterns} if patterns else {})
    if "--list" in given:
        # Kafka's tool means ACLs on this very name; list-acls, all that apply to it.
        named = not patterns and any(option in given for option in _ACL_RESOURCES)
        extra = ("--resource-pattern-type=literal",) if named else ()
        return line_of(Action("list-acls", {}, extra), given, ["--list"])
    verb = "--add" if "--add" in given else "--remove"
    sides = [side for side in ("allow", "deny") if f"--{side}-principal" in given]
    action = Action("alter-acls")
    if verb not in given:
        return None
    if not sides or "--producer" in given or "--consumer" in given:
        return line_of(action, given, [])
    operations = ",".join(given.get("--operation", [])) or "All"
    rules: list[str] = []
    for side in sides:
        hosts = ",".join(given.get(f"--{side}-host", []))
        origin = f" from {hosts}" if hosts not in ("", "*") else ""
        rules += [
            f"{verb}={side} {acl_word(who)} {operations}{origin}"
            for who in given[f"--{side}-principal"]
        ]
    done = ["--add", "--remove", "--operation"]
    done += [f"--{side}-{what}" for side in sides for what in ("principal", "host")]
    return [*line_of(action, given, done), *rules]


def _election(given: Given) -> list[str] | None:
    """`--topic t --partition 0` is one word here."""
    topics, numbers = given.get("--topic", []), given.get("--partition", [])
    if len(topics) == 1:
        topics = topics * len(numbers)
    if numbers and len(topics) != len(numbers):
        raise UsageError("each --topic requires a --partition")
    words = [f"{topic}:{number}" for topic, number in zip(topics, numbers, strict=False)]
    action = Action("elect-leaders", {"--admin.config": "--command-config"}, tuple(words))
    return line_of(action, given, ["--topic", "--partition"] if words else [])


def _get_offsets(given: Given) -> list[str] | None:
    """By default, Kafka's tool lists the end offsets of partitions."""
    times = given.get("--time", [])
    time = _OFFSETS.get(times[0], times[0]) if times else "latest"
    topics = [_selector(topic) for topic in given.get("--topic", [])]
    pairs = [
        _with_partitions(part)
        for text in given.get("--topic-partitions", [])
        for part in text.split(",")
    ]
    numbers = ",".join(given.get("--partitions", []))
    words = [*pairs, *(f"{topic}:{numbers}" if numbers else topic for topic in topics)]
    action = Action("list-offsets", {"--exclude-internal-topics": "--exclude-internal"},
                    (*words, f"--time={time}"))  # fmt: skip
    return line_of(action, given, ["--time", "--topic", "--topic-partitions", "--partitions"])


def _with_partitions(pattern: str) -> str:
    """`EXPRESSION:0-3` of Kafka's tool, whose ranges do not include the upper bound."""
    topic, colon, listed = pattern.rpartition(":")
    if not colon:
        return _selector(listed)
    first, dash, end = listed.partition("-")
    if dash:
        if not end.isdecimal() or int(end) <= int(first or 0):
            raise UsageError(f"partitions {listed} of a topic have no equivalent")
        listed = f"{first or 0}-{int(end) - 1}"
    return f"{_selector(topic) or '*'}{':' if listed else ''}{listed}"


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
    "kafka-configs": configs,
    "kafka-consumer-groups": _groups,
    "kafka-share-groups": _groups_of("share"),
    "kafka-streams-groups": _groups_of("streams"),
    "kafka-groups": _groups,
    "kafka-acls": _acls,
    "kafka-client-metrics": client_metrics,
    "kafka-console-producer": console_producer,
    "kafka-console-consumer": console_consumer,
    "kafka-console-share-consumer": _always(None),
    "kafka-reassign-partitions": _removing_throttles(_by_option({
        "--execute": Action("reassign-partitions", {"--timeout": ""}),
        "--verify": Action("verify-reassign-partitions", {"--preserve-throttles": ""}),
        "--list": Action("list-reassignments"),
        "--cancel": Action("reassign-partitions", {"--preserve-throttles": ""}, ("--cancel",)),
        "--generate": Action(
            "reassign-partitions",
            {"--broker-list": "--broker-list", "--disable-rack-aware": ""}, ("--dry-run",),
        ),
    })),
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


# -- Lines of other tools, and lines whose words are in another order: suggest the command to run --


def suggest_reordered(line: Line, text: str, context: Context) -> None:
    """Raise UsageError with the command meant by `describe topic x` or `list-users`, for `describe
    x` with that of a topic; return if there is none."""
    typed = [word.text for word in line.words]
    if not typed or any(command.name in (typed[0], " ".join(typed[:2])) for command in REGISTRY):
        return  # with an unknown option, for example
    parts = typed[0].split("-")
    command = reorder([*parts, *typed[1:]], REGISTRY)
    if not command and is_reading(typed[0]) and len(typed) > 1:
        command = reorder([typed[0], "topic", *typed[1:]], REGISTRY)
    if not command:
        return
    last = 0 if len(parts) > 1 else 1
    suggestion = _in_place(command, line, line.words, text)
    context.script.suggested = suggestion
    raise UsageError(
        f"unknown command '{' '.join(typed[: last + 1])}'",
        hint=f"Run: {suggestion}",
        code="unknown-command",
        span=(line.words[0].span[0], line.words[last].span[1]),
        text=text,
    )


def note_reordered(line: Line, context: Context) -> None:
    """Add a note that `topics list` describes a topic of that name, if that is what will run."""
    command = reorder([word.text for word in line.words], REGISTRY)
    if command:
        context.script.notes.append(
            f"'{line.words[1].text}' was read as a name. To run the command: {command}"
        )


def suggest_equivalent(line: Line, words: Sequence[Word], text: str, context: Context) -> None:
    """Raise UsageError with the command equivalent to a line of another tool; return if the tool is
    unknown."""
    typed = [word.text for word in words]
    if context.shell is not None and "--command-config" not in typed:
        typed = _without_current_cluster(typed, context)
    equivalent = translate(typed, REGISTRY)
    if equivalent is None:
        return
    tool = "a Kafka tool" if "kafka-" in typed[0] else "another tool"
    label = "Run" if equivalent.startswith("help") else "Equivalent"
    if "--export" in typed and line.redirect is not None:  # Kafka's tool prints the offsets
        suggestion = f"{equivalent} --export {quote(line.redirect.path)}"
    else:
        suggestion = _in_place(equivalent, line, words, text)
    if masked(suggestion) == suggestion:  # else the prompt would show a password
        context.script.suggested = suggestion
    raise UsageError(
        f"{typed[0]} is {tool}, not a kafka.sh command",
        hint=f"{label}: {suggestion}",
        code="pasted",
        span=words[0].span,
        text=text,
    )


def _in_place(command: str, line: Line, words: Sequence[Word], text: str) -> str:
    """The text with `command` in place of these words; the rest of the line is kept."""
    last = words[-1].span[1]
    if line.redirect is not None and line.redirect.span[0] < last:
        return command
    return f"{text[: line.words[0].span[0]]}{command}{text[last:]}".strip()


def _without_current_cluster(words: Sequence[str], context: Context) -> list[str]:
    """Remove the bootstrap option if it names the current cluster.

    For another cluster it is kept: the command must not run on the current cluster instead.
    """
    for index, word in enumerate(words):
        name, equals, value = word.partition("=")
        end = index + (1 if equals else 2)
        value = value if equals else "".join(words[index + 1 : end])
        # Of some tools, --broker-list has IDs.
        if name == "--bootstrap-server" or (name == "--broker-list" and ":" in value):
            named = parse_addresses(value)
            if named == context.settings.connection.bootstrap:
                return [*words[:index], *words[end:]]
    return list(words)
