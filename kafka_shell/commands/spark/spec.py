"""Declarations of the spark commands."""

from __future__ import annotations

import re

from kafka_shell.audit.model import RISKS, SEVERITIES, WEBHOOK_FORMATS
from kafka_shell.base.command_results import FORMATS
from kafka_shell.base.errors import UsageError
from kafka_shell.base.plans import Effect
from kafka_shell.commands import by_name
from kafka_shell.language import kinds
from kafka_shell.language.command import Argument, Command, Example, Option
from kafka_shell.language.kinds import CandidateSource, Fragment, Kind, Parameter, Words

FAIL_ON = {each: each for each in SEVERITIES[:-1]} | {"any": SEVERITIES[-1]}
FINDINGS = "findings"
SOURCE_OPTIONS = (
    Option("--clusters", kinds.PROFILE, "Profiles of config.toml: a,b; may be repeated.", many=True,
           metavar="NAMES"),
    Option("--snapshot", kinds.FILE, "Read a snapshot instead: DIR (the newest) or DIR@ID.",
           metavar="DIR", excludes=("--clusters",)),
)  # fmt: skip
SPARK_OPTIONS = (
    Option("--master", kinds.TEXT, "The Spark master URL (default: spark.master, or local[*]).",
           metavar="URL"),
    Option("--remote", kinds.TEXT, "The Spark Connect URL: sc://host:port.", metavar="URL",
           excludes=("--master",)),
    Option("--conf", kinds.TEXT, "A Spark config; may be repeated.", many=True,
           metavar="KEY=VALUE"),
    Option("--packages", kinds.TEXT, "Maven packages for Spark: group:artifact:version[,...].",
           metavar="NAMES", excludes=("--remote",)),
)  # fmt: skip
POLICY = Option(
    "--policy", kinds.FILE,
    "A TOML file with thresholds and suppressions, or a directory with policy.toml and controls"
    " (.sql).",
)  # fmt: skip
SAMPLE_OPTIONS = (
    Option("--log-samples", kinds.CHOICE,
           "Positions in the logs that are sampled (default: all); latest does not read cold"
           " segments.", choices=("all", "latest", "none")),
    Option("--sample-rate", kinds.RATE,
           "Maximum bytes per second that a task reads for samples (default: 20MB/s).", least=1),
)  # fmt: skip

# The tables of log samples.
SAMPLED = frozenset({"batches", "record_samples"})

# The APIs that the table readers use.
READ_APIS = (1, 2, 9, 15, 16, 29, 32, 35, 46, 48, 50, 55, 60, 61, 65, 66, 69, 77, 89, 90)

_WORD = re.compile(r"\w*$")


class _Sql(Kind):
    """A query on audit tables."""

    def last_fragment(self, text: str) -> Fragment:
        """Return the last word; its key is the query so far."""
        word = _WORD.search(text)
        assert word is not None  # can be empty
        return Fragment(word.start(), "sql", text[: word.start()])

    def quoted(self, text: str, tail: str, open_quote: str) -> str:
        # queries contain spaces and single quotes, and may continue after every word
        return text if open_quote else f'"{text}'


class _Output(Kind):
    """A format, or a directory whose name ends in the format of the rows."""

    def convert(self, parameter: Parameter, text: str) -> str:
        if is_file(text):
            return text
        if text not in parameter.choices:
            endings = " or a new directory named *.csv, *.json, *.jsonl or *.parquet"
            raise UsageError(
                f"--output must be {', '.join(parameter.choices)}{endings}, got {text!r}"
            )
        return text


def is_file(output: str) -> bool:
    """Whether an output is a directory to write to, not a format."""
    return output.endswith((".csv", ".json", ".jsonl", ".parquet"))


TABLES = CandidateSource(by_name("spark.complete:offer_tables"))
CONTROLS = CandidateSource(by_name("spark.complete:offer_controls"))
QUERY = CandidateSource(by_name("spark.complete:offer_words"))
SQL = _Sql("sql", QUERY)
AUDIT_TABLE = Words("audit-table", TABLES)  # a,b
AUDIT_CONTROL = Words("audit-control", CONTROLS, "NAMES")  # IDs, families and tags: T03,security


COMMANDS: tuple[Command, ...] = (
    Command(
        name="spark audit",
        rare=True,
        summary="Audit clusters with controls, and show findings with remedies.",
        family="audit",
        run="spark.audit:audit",
        apis=READ_APIS,
        effect=Effect.CHANGE,
        options=(
            *SOURCE_OPTIONS,
            *SAMPLE_OPTIONS,
            Option("--controls", AUDIT_CONTROL, "Only controls with these IDs, families or tags;"
                   " all adds the controls with the tag opinion.", many=True),
            Option("--severity", kinds.CHOICE, "Only controls with at least this severity.",
                   choices=SEVERITIES),
            Option("--fail-on", kinds.CHOICE,
                   "The lowest severity of findings for exit status 1 (default: high).",
                   choices=(*FAIL_ON,)),
            Option("--output", kinds.CHOICE, "The output format.",
                   choices=(*FORMATS, "sarif")),
            POLICY,
            Option("--owner", kinds.TEXT, "Only findings of this team, by owners.toml beside the"
                   " policy or config.toml.", metavar="TEAM"),
            Option("--accept", kinds.TEXT, "Add the findings to the suppressions of --policy, until"
                   " --expires; asks for confirmation.", metavar="REASON",
                   requires=("--policy",), excludes=("--fix",)),
            Option("--expires", kinds.TEXT, "The last day of the suppressions of --accept.",
                   metavar="DATE", requires=("--accept",)),
            Option("--against", kinds.TEXT,
                   "Also compare with a state file, a snapshot (DIR) or a profile.",
                   metavar="WHAT"),
            Option("--plan", kinds.FILE,
                   "Only findings that a script or state file would cause, without applying it.",
                   excludes=("--fix", "--new-only", "--against", "--findings", "--report")),
            Option("--new-only", kinds.FILE, "Exclude findings of the newest audit in the"
                   " snapshots of a directory.", metavar="DIR"),
            Option("--findings", kinds.FILE,
                   "Also write all findings, however many, to a new directory: as JSON lines if its"
                   " name ends in .json or .jsonl, else as Parquet.", metavar="DIR"),
            Option("--report", kinds.FILE, "Also write the report as an HTML file."),
            Option("--metrics", kinds.FILE,
                   "Also write the numbers of findings in Prometheus' text format."),
            Option("--webhook", kinds.SECRET, "Post the findings that are new, returned or fixed"
                   " since the previous audit, of --snapshot or --new-only;"
                   " @FILE contains the URL.",
                   metavar="URL", excludes=("--fix",),
                   requires=("--snapshot", "--new-only")),
            Option("--webhook-format", kinds.CHOICE, "What is posted (default: json).",
                   choices=WEBHOOK_FORMATS, requires=("--webhook",)),
            Option("--fix", kinds.FLAG, "Apply the remedies; asks for confirmation."),
            Option("--risk", kinds.CHOICE,
                   "The highest risk of the remedies that --fix applies (default: safe).",
                   choices=RISKS),
            *SPARK_OPTIONS,
        ),
        search=("check", "controls", "compliance", "findings", "lint"),
        description=(
            "The state of the clusters is collected as tables, and each control is a query over"
            " them; controls with the tag opinion are evaluated only if selected.\n"
            "Add your own controls as .sql files in the directory controls next to config.toml.\n"
            "Exit status: 0 without findings of a high severity (--fail-on); 1 with such"
            " findings, or if such a control could not be evaluated; 3 if a cluster could not be"
            " read.\n"
            "--fix shows the safe remedies as one plan (--risk adds others); it rejects"
            " remedies that contradict another one or remove access that is needed.\n"
            "Findings of profiles with environment = 'dev' are at most medium."
        ),
        examples=(
            Example("spark audit", "audit this cluster with all controls", status=1),
            Example("spark audit --controls security --severity high --output json",
                    "print severe security findings as JSON", status=1),
            Example("spark audit --controls T13 --fix --dry-run",
                    "preview the remedies of one control"),
            Example("spark audit --plan /tmp/change.kafka",
                    "judge a script before it is run, such as in a pull request"),
        ),
    ),
    Command(
        name="spark sql",
        rare=True,
        summary="Query the state of clusters with SQL.",
        family="audit",
        run="spark.query:sql",
        apis=READ_APIS,
        arguments=(Argument("query", SQL, "A quoted SELECT statement."),),
        options=(
            *SOURCE_OPTIONS,
            *SAMPLE_OPTIONS,
            Option("--output", _Output("output"),
                   "The output format, or a new directory for all rows: its name ends in .csv,"
                   " .json, .jsonl or .parquet.", choices=FORMATS),
            *SPARK_OPTIONS,
        ),
        search=("select", "query"),
        description="spark tables lists the tables. Only tables named in the query are read."
        " At most 10,000 rows are shown; --output DIR writes all of them.",
        examples=(
            Example("spark sql 'select topic, partitions from topics order by partitions desc"
                    " limit 5'", "show the five topics with the most partitions"),
        ),
    ),
    Command(
        name="spark snapshot",
        rare=True,
        summary="Save the state of clusters as Parquet, for later audits and comparisons.",
        family="audit",
        run="spark.query:snapshot",
        apis=READ_APIS,
        arguments=(
            Argument("dir", kinds.FILE, "The directory to add the snapshot to, or catalog:SCHEMA."),
        ),
        options=(
            SOURCE_OPTIONS[0],
            *SAMPLE_OPTIONS,
            POLICY,
            Option("--keep", kinds.DURATION, "Delete snapshots of the directory that are older.",
                   least=1000),
            Option("--no-findings", kinds.FLAG, "Save only the tables, without running an audit."),
            *SPARK_OPTIONS,
        ),
        search=("save", "parquet", "export", "baseline"),
        description=(
            "The findings of all controls are added as the table findings, for spark trend and"
            " spark audit --new-only. Each table is a directory of Parquet files that Spark and"
            " DuckDB can read; a local one is stored once while it does not change. With"
            " catalog:SCHEMA, it is a table of that schema of a Spark catalog, such as a Delta or"
            " Iceberg table. spark audit, spark sql and spark diff accept the directory or schema"
            " (newest snapshot), or DIR@ID."
        ),
        examples=(Example("spark snapshot /tmp/kafka-state", "save the current state"),),
    ),
    Command(
        name="spark diff",
        rare=True,
        summary="Compare snapshots, clusters, or a snapshot with the current state.",
        family="audit",
        run="spark.query:diff",
        apis=READ_APIS,
        arguments=(
            Argument("a", kinds.TEXT, "A snapshot (DIR or DIR@ID), a profile, or now."),
            Argument("b", kinds.TEXT, "What to compare it with (default: now).", required=False),
        ),
        options=SPARK_OPTIONS,
        search=("compare", "drift", "changed"),
        description="Each difference shows the command that would restore the state of A, if any.",
        examples=(Example("spark diff now now", "compare a cluster with itself"),),
    ),
    Command(
        name="spark tables",
        rare=True,
        summary="List the tables that audits read, or the columns of tables.",
        family="audit",
        run="spark.run:tables",
        needs_cluster=False,
        arguments=(
            Argument("table", AUDIT_TABLE, "Table names.", many=True, required=False),
        ),
        search=("schema", "columns"),
        examples=(
            Example("spark tables", "list all tables"),
            Example("spark tables topic_configs", "list the columns of a table"),
        ),
    ),
    Command(
        name="spark trend",
        rare=True,
        summary="Show growth, forecasts and findings over the snapshots of a directory.",
        family="audit",
        run="spark.query:trend",
        needs_cluster=False,
        arguments=(
            Argument("what", kinds.CHOICE,
                     "Bytes of topics, partitions, lag of groups, used bytes of disks, or findings"
                     " (default: all but findings).",
                     choices=("topics", "partitions", "lag", "disks", FINDINGS), required=False),
        ),
        options=(
            Option("--snapshot", kinds.FILE, "The directory of the snapshots.", metavar="DIR"),
            Option("--top", kinds.INTEGER, "Only the N series that change most, of each kind"
                   " (default: 20 for one kind, else 5).", least=1, metavar="N"),
            *SPARK_OPTIONS,
        ),
        search=("growth", "forecast", "capacity", "history", "over time"),
        description=(
            "The growth per day is the slope of a regression line through all snapshots. A forecast"
            " needs three, over at least a day. findings shows what is new, returned, fixed or open"
            " since the snapshot before, and since when."
        ),
        examples=(
            Example("spark trend disks --snapshot /tmp/kafka-state",
                    "forecast when disks will be full"),
            Example("spark trend findings --snapshot /tmp/kafka-state",
                    "show new findings, and the age of the others"),
        ),
    ),
    Command(
        name="spark controls",
        rare=True,
        summary="List the controls of audits, or explain one.",
        family="audit",
        run="spark.run:controls",
        needs_cluster=False,
        arguments=(
            Argument("control", AUDIT_CONTROL, "IDs, families or tags (default: all controls).",
                     many=True, required=False),
        ),
        options=(
            Option("--severity", kinds.CHOICE, "Only controls with at least this severity.",
                   choices=SEVERITIES),
        ),
        search=("checks", "rules", "rationale", "explain", "catalog"),
        description=(
            "One ID shows what is at risk, the source of the rule, the tables that are read, the"
            " parameters with their defaults, and the kind of remedy."
        ),
        examples=(
            Example("spark controls security --severity high", "list the severe security controls"),
            Example("spark controls T03", "explain one control"),
        ),
    ),
    Command(
        name="spark test-controls",
        summary="Test your own controls on given rows.",
        family="audit",
        run="spark.query:test_controls",
        needs_cluster=False,
        arguments=(
            Argument("dir", kinds.FILE, "The directory of the controls (default: controls next to"
                     " config.toml).", required=False),
        ),
        options=SPARK_OPTIONS,
        search=("verify", "rules", "policy"),
        description=(
            "U01.test.toml beside U01.sql contains the tests of a control: rows of tables, and the"
            " expected findings. The exit status is 1 if a test failed."
        ),
        examples=(Example("spark test-controls", "test the controls next to config.toml"),),
        rare=True,
    ),
    Command(
        name="spark start",
        rare=True,
        summary="Start a local Spark server, which audits use while it runs.",
        family="audit",
        run="spark.run:start",
        needs_cluster=False,
        options=(
            Option("--idle", kinds.DURATION, "Stop when idle for this time (default: 1h).",
                   least=1000),
        ),
        search=("connect", "fast"),
        description=(
            "Spark takes several seconds to start, and is slow until it has run some queries. The"
            " server is used by all audits of this user without --master and --remote. Only this"
            " user can connect to it: it listens on 127.0.0.1, and requires a token."
        ),
        examples=(Example("spark start --idle 8h", "keep Spark running for a day of audits"),),
    ),
    Command(
        name="spark stop",
        rare=True,
        summary="Stop the local Spark server.",
        family="audit",
        run="spark.run:stop",
        needs_cluster=False,
        examples=(Example("spark stop", "stop the server"),),
    ),
    Command(
        name="spark status",
        rare=True,
        summary="Show whether the local Spark server is running.",
        family="audit",
        run="spark.run:status",
        needs_cluster=False,
        examples=(Example("spark status", "show its address, and when it ends"),),
    ),
)  # fmt: skip
