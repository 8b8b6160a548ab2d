"""What a command is: declared once, read by the parser, the completer, `help` and the docs."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any

from msgspec import Struct, field

from kafka_shell.plan.model import Effect


class Kind(Enum):
    """What a value is. The parser checks and converts it; the completer offers candidates."""

    FLAG = "flag"  # an option without a value
    TEXT = "text"
    INTEGER = "integer"
    NUMBER = "number"
    DURATION = "duration"  # -> int milliseconds; a bare number is milliseconds
    BYTES = "bytes"  # -> int bytes
    CHOICE = "choice"  # one of `choices`
    FILE = "file"
    COMMAND = "command"  # the name of a command
    LINE = "line"  # the rest of the line, verbatim, as one text (watch, help)
    TOPIC = "topic"  # one existing topic, or a selector of many where `many` is set
    NEW_TOPIC = "new-topic"  # a name to be created
    BROKER = "broker"  # broker ids, or a selector of many
    HOST_PORT = "host:port"
    CONFIG_KEY = "config-key"  # a key of the resource named in the same line
    CONFIG_PAIR = "config-pair"  # key=value of the resource named in the same line
    CONFIG_PAIRS = "config-pairs"  # k1=v1,k2=[v1,v2],k3=v3 (KIP-248) -> tuple of (key, value)
    CONFIG_KEYS = "config-keys"  # k1,k2 -> tuple of keys
    GROUP = "group"
    LOGGER = "logger"
    CLIENT_METRICS = "client-metrics"
    ENTITY = "entity"  # KIP-248's --entity-name: its Kind follows from --entity-type
    USER = "user"
    CLIENT_ID = "client-id"
    IP = "ip"
    PRINCIPAL = "principal"
    ASSIGNMENT = "assignment"  # 1:2,2:3 -> replicas of each partition; -
    TOPIC_PARTITIONS = "topic-partitions"  # orders:0,3-5 or orders -> (topic, partitions or None)
    TIME = "time"  # 2026-01-31T10:00, -1h, epoch ms -> the text; units.parse_time reads it
    RATE = "rate"  # 50MB/s -> int bytes a second
    QUOTA_PAIR = "quota-pair"  # producer_byte_rate=5MB/s -> (key, text)
    QUOTA_KEY = "quota-key"
    CLIENT_CONFIG_PAIR = "client-config-pair"  # acks=all -> (key, value), of KIP-649
    CLIENT_CONFIG_KEYS = "client-config-keys"
    ACL_RULE = "acl-rule"  # allow User:bob Read,Write from 10.0.0.1 -> the text
    ACL_OPERATION = "operation"  # Read,describe-configs -> "Read,DescribeConfigs"
    TRANSACTIONAL_ID = "transactional-id"
    LOG_DIR = "log-dir"  # the path of a folder, as brokers tell it
    TOKEN = "token"  # a delegation token's id
    FEATURE = "feature"  # a feature's name
    FEATURE_LEVEL = "feature-level"  # metadata.version=25 or =4.1 -> (name, text)
    PROPERTY = "property"  # k=v of a client .properties file
    SECRET = "secret"  # -> a Secret, which a rendered line shows as ***
    PROFILE = "profile"
    SQL = "sql"  # a query over the tables of audits
    AUDIT_TABLE = "audit-table"  # names of those tables: a,b
    AUDIT_CONTROL = "audit-control"  # ids, families and tags of controls: T03,security
    THEME = "theme"


class Argument(Struct, frozen=True):
    """A word without dashes. With `option` it can be spelled as that option too (`--topic t`).

    `many` takes one or more words (each may hold commas where the kind is a selector) and the
    value is a tuple; otherwise the value is one word, or None when it is optional and absent.
    The argument takes no word where one of the options in `unless` is given.
    """

    name: str
    kind: Kind
    help: str
    many: bool = False
    required: bool = True
    option: str = ""
    choices: tuple[str, ...] = ()
    unless: tuple[str, ...] = ()


class Option(Struct, frozen=True):
    """A word with dashes. `many`: it may be repeated, and the value is a tuple.

    `aliases` are other spellings. `value_optional` takes a value only as `--name=value`
    (`--yes`, `--yes=CLUSTER`): without one its value is True. One that may be `bare` takes the
    next word, but for one with a dash; without a word its value is the empty text. `excludes`
    names options that it cannot stand beside. A number, duration or rate below `least` or above
    `most` (64 bits, unless told) is wrong whatever the cluster holds. An absent option's value is
    None, or () with `many`, or False for a FLAG.
    """

    name: str
    kind: Kind
    help: str
    many: bool = False
    required: bool = False
    aliases: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()
    metavar: str = ""
    excludes: tuple[str, ...] = ()
    value_optional: bool = False
    bare: bool = False
    hidden: bool = False
    least: int | None = None
    most: int | None = None


class Example(Struct, frozen=True):
    """A line that works against the sandbox's demo data, and what it is for. The tests run it.

    `status` is the exit status it ends with.
    """

    line: str
    about: str
    status: int = 0


class Short(Struct, frozen=True):
    """A short form for tired hands: the first word `word` stands for the words `line`."""

    word: str
    line: str


class Command(Struct, frozen=True):
    """One command. `run(invocation, context)` returns a value, an iterator of rows, or a Plan.

    `family` groups commands in help (topics, configs, cluster, shell ...). `exactly_one` and
    `at_least_one` are groups of option or argument names of which one must be given.
    `needs_cluster` is False for commands that only concern the shell. `description` is help's
    longer text. `apis` are the API keys that it speaks, besides those every command may need to
    find its way (Metadata, ApiVersions, FindCoordinator, login): docs/apis.md lists them.
    `elsewhere` are options of Kafka's own tool that this command does not have, each with the hint
    that says what does the same.
    """

    name: str
    summary: str
    family: str
    run: Callable[[Invocation, Any], Any]
    effect: Effect = Effect.READ
    arguments: tuple[Argument, ...] = ()
    options: tuple[Option, ...] = ()
    examples: tuple[Example, ...] = ()
    shorts: tuple[Short, ...] = ()
    search: tuple[str, ...] = ()
    exactly_one: tuple[tuple[str, ...], ...] = ()
    at_least_one: tuple[tuple[str, ...], ...] = ()
    needs_cluster: bool = True
    description: str = ""
    apis: tuple[int, ...] = ()
    elsewhere: tuple[tuple[str, str], ...] = ()

    @property
    def verb_noun(self) -> bool:
        """Whether the name has a flag spelling (`--list-topics`)."""
        return "-" in self.name

    def option(self, name: str) -> Option | None:
        """The option of this name or alias, global ones not included."""
        for option in self.options:
            if name == option.name or name in option.aliases:
                return option
        return None


class Invocation(Struct, frozen=True):
    """A parsed line: the command and the value of each argument and option, by bare name.

    Names are without dashes: `invocation["topic"]`, `invocation["replication-factor"]`. An
    argument and its `option` spelling share the argument's name. `spans` tells where the words of
    each stand in `text`, in order, so that an error found later can still point at its word.
    """

    command: Command
    values: dict[str, Any]
    text: str = ""
    spans: dict[str, tuple[tuple[int, int], ...]] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Any:
        return self.values[name]

    def get(self, name: str, default: Any = None) -> Any:
        """The value of `name`, or `default` where the command has no such thing."""
        return self.values.get(name, default)

    def span(self, name: str, index: int = 0) -> tuple[int, int] | None:
        """Where the words of `name` stand in `text`."""
        spans = self.spans.get(name, ())
        return spans[index] if index < len(spans) else None
