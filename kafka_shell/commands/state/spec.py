"""Declarations of the state commands."""

from __future__ import annotations

from kafka_shell.base.plans import Effect
from kafka_shell.commands.partitions.spec import THROTTLE, WAIT
from kafka_shell.language import kinds
from kafka_shell.language.command import Argument, Command, Example, Option

# Where the sections of state files are declared, in the order of a file.
SECTIONS = {
    "topics": "topics:Topics",
    "acls": "acls:Acls",
    "quotas": "quotas:Quotas",
    "users": "users:Users",
    "client_configs": "quotas:ClientConfigs",
    "broker_configs": "configs:BrokerConfigs",
    "client_metrics": "configs:ClientMetrics",
    "group_configs": "configs:GroupConfigs",
    "subjects": "subjects:Subjects",
}
KINDS = tuple(SECTIONS)
KIND_NAMES = tuple(kind.replace("_", "-") for kind in KINDS)
_ONLY = Option("--only", kinds.TEXT, f"Only these kinds: {','.join(KIND_NAMES)}.", many=True,
               choices=KIND_NAMES, metavar="KINDS")  # fmt: skip
_FILE = Argument("file", kinds.FILE, "A state file (YAML or JSON), a directory, or -.")


COMMANDS: tuple[Command, ...] = (
    Command(
        name="export",
        summary="Export the state of the cluster as a file: topics, ACLs, quotas, users, configs.",
        family="state",
        run="state.run:export",
        apis=(29, 32, 35, 46, 48, 50, 60, 74),
        arguments=(
            Argument("topic", kinds.TOPIC, "Only these topics and their ACLs: a,b  svc-*  /regex/",
                     many=True, required=False, option="--topic"),
        ),
        options=(
            _ONLY,
            Option("--exclude-internal", kinds.FLAG, "Exclude internal topics."),
            Option("--with-assignments", kinds.FLAG, "Include the replicas of each partition."),
            Option("--directory", kinds.FILE, "Write files to this directory instead.",
                   metavar="DIR"),
            Option("--by", kinds.CHOICE, "One file per kind (default), or per prefix of topics.",
                   choices=("kind", "prefix"), requires=("--directory",)),
        ),
        search=("backup", "dump", "git", "yaml", "state"),
        description=(
            "Exports only values set on a resource itself, never defaults; for users, SCRAM "
            "mechanisms and iterations, never passwords; subjects, if the profile has a schema "
            "registry.\n"
            "Replication throttles and cordoned.log.dirs are temporary, and are not exported.\n"
            "The same state is always exported as the same file.\n"
            "If something cannot be read, it is reported and the exit status is 1.\n"
            "The scope of the file lists what was read completely: diff shows what was added "
            "since, and apply --prune deletes it."
        ),
        examples=(
            Example("export --only topics,acls", "print topics and ACLs as YAML"),
            Example("export 'payments.*' --with-assignments > payments.yaml",
                    "write a file of some topics, their ACLs and their replicas"),
        ),
    ),
    Command(
        name="diff",
        summary="Compare state files and clusters with each other.",
        family="state",
        run="state.run:diff",
        apis=(29, 32, 35, 46, 48, 50, 60, 74),
        arguments=(
            Argument("what", kinds.FILE, "A state file, a directory, a profile, or -."),
            Argument("other", kinds.FILE, "The other side (default: this cluster).",
                     required=False),
        ),
        options=(_ONLY,),
        search=("drift", "compare", "state"),
        description=(
            "The argument is a profile, a file, or - for standard input; for a file with the name"
            " of a profile, use ./NAME.\n"
            "With one argument, the differences are what apply --prune would change on this"
            " cluster.\n"
            "Resources that exist only on the cluster are differences if they are in the scope of"
            " the file.\n"
            "Other configs of resources in the file are listed below the differences.\n"
            "Exit status: 0 without differences, 1 with differences or if a comparison failed."
        ),
        examples=(
            Example("diff payments.yaml", "show differences between the cluster and a file"),
        ),
    ),
    Command(
        name="apply",
        summary="Make the cluster match a state file.",
        family="state",
        run="state.changes:apply",
        apis=(2, 9, 15, 16, 19, 20, 29, 30, 31, 32, 35, 37, 44, 45, 46, 48, 49, 50, 51, 60, 61, 69,
              74, 77, 89, 90),
        effect=Effect.CHANGE,
        arguments=(_FILE,),
        options=(
            _ONLY,
            Option("--prune", kinds.FLAG,
                   "Delete resources that are in the scope of the file but not in the file."),
            Option("--reassign", kinds.FLAG, "Move replicas to the file's replica_assignment."),
            THROTTLE,
            WAIT,
        ),
        search=("state", "yaml", "sync", "gitops", "declarative"),
        description=(
            "The file - is standard input.\n"
            "Nothing is sent if any item is rejected; an interrupted apply continues when it is"
            " run again.\n"
            "Resources and configs that are not in the file stay; --prune deletes them if they"
            " are in the scope of the file.\n"
            "A changed replication factor moves replicas, with --throttle and --wait as in"
            " reassign-partitions; new partitions are added first."
        ),
        examples=(
            Example("apply payments.yaml --dry-run", "show what would change"),
        ),
    ),
    Command(
        name="state-schema",
        rare=True,
        summary="Print the JSON Schema of state files, for editors.",
        family="state",
        run="state.run:state_schema",
        needs_cluster=False,
        examples=(Example("state-schema", "the schema for editors"),),
    ),
)  # fmt: skip
