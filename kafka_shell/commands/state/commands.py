"""Commands on state files: export, diff, apply."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from kafka_shell.base.command_results import Document
from kafka_shell.base.errors import ShellError, UsageError, did_you_mean
from kafka_shell.base.plans import Advice, Effect, Plan
from kafka_shell.base.structs import replace
from kafka_shell.base.units import counted
from kafka_shell.commands.partitions.reassignments import THROTTLE, WAIT
from kafka_shell.commands.state.model import KINDS
from kafka_shell.language import kinds
from kafka_shell.language.command import Argument, Command, Example, Invocation, Option
from kafka_shell.language.kinds import is_pattern, select_whole, split

if TYPE_CHECKING:
    from kafka_shell.base.plans import Secret
    from kafka_shell.base.results import Failure
    from kafka_shell.commands.state.model import Password, State, StateDiff
    from kafka_shell.commands.state.read import StateRequest
    from kafka_shell.context import Context

_KINDS = tuple(kind.replace("_", "-") for kind in KINDS)
_ONLY = Option("--only", kinds.TEXT, f"Only these kinds: {','.join(_KINDS)}.", many=True,
               choices=_KINDS, metavar="KINDS")  # fmt: skip


_OF_TOPICS = ("topics", "acls")  # what can be exported by topic
_ALL_TOPICS = "topic *"  # the literal resource pattern of ACLs on all topics


def _kinds(invocation: Invocation) -> list[str]:
    """The kinds of --only, or all, as in a file."""
    chosen: list[str] = []
    if any(not text.strip(", ") for text in invocation["only"]):
        raise UsageError("--only must not be empty", span=invocation.span("only"),
                         text=invocation.text)  # fmt: skip
    for index, text in enumerate(invocation["only"]):
        for word in filter(None, text.split(",")):
            if word.replace("_", "-") not in _KINDS:
                raise UsageError(
                    f"unknown kind '{word}'",
                    hint=did_you_mean(word, _KINDS, f"Kinds: {', '.join(_KINDS)}."),
                    code="bad-value",
                    span=invocation.span("only", index),
                    text=invocation.text,
                )
            chosen.append(word.replace("-", "_"))
    return [kind for kind in KINDS if kind in chosen or not chosen]


# -- export ----------------------------------------------------------------------------------------


def export(invocation: Invocation, context: Context) -> Document:
    """The state of the cluster as YAML or JSON, on standard output or in a folder."""
    from kafka_shell.commands.state.read import read_state
    from kafka_shell.commands.state.write import document, json_text, yaml_text

    output = invocation["output"] or context.settings.output
    if output == "csv":
        raise UsageError(
            "a state cannot be exported as CSV",
            hint="Use --output yaml (default) or --output json.",
            span=invocation.span("output"),
            text=invocation.text,
        )
    if invocation["directory"]:
        context.refuse_dry_run("export --directory")
    wanted = _export_request(invocation, context)
    state = read_state(context.cluster, wanted)
    if wanted.topics is not None:
        _select(state, invocation["topic"], wanted.topics, context)
    else:
        _cover_everything(state, context)
    for note in state.notes:
        context.note(note)
    as_text = json_text if output == "json" else yaml_text
    if invocation["directory"]:
        from kafka_shell.commands.state.folder import write_folder

        suffix = ".json" if output == "json" else ".yaml"
        made = write_folder(
            state, invocation["directory"], invocation["by"], suffix, as_text,
            whole=_is_whole(invocation, state),
        )  # fmt: skip
        for path in made.deleted:
            context.note(f"{path} was deleted: it is not part of this export")
        if made.not_replaced:
            names = ", ".join(Path(path).name for path in made.not_replaced)
            context.note(
                f"not replaced, because the export is incomplete: {names}; it is in FILE.partial"
            )
        return Document("\n".join(made.written), failures=state.unread)
    return Document(as_text(document(state)), "yaml", state.unread)


def _is_whole(invocation: Invocation, state: State) -> bool:
    """Whether all of the cluster is exported, and could be read."""
    narrowed = any(invocation[name] for name in ("topic", "only", "exclude-internal"))
    return not narrowed and not state.unread


def _export_request(invocation: Invocation, context: Context) -> StateRequest:
    from kafka_shell.commands import select
    from kafka_shell.commands.state.read import StateRequest

    wanted = StateRequest(
        _kinds(invocation),
        internal=not invocation["exclude-internal"],
        assignments=invocation["with-assignments"],
        temporary=False,
    )
    if not invocation["topic"]:
        return wanted
    kinds = wanted.kinds if invocation["only"] else _OF_TOPICS
    others = [kind.replace("_", "-") for kind in kinds if kind not in _OF_TOPICS]
    if others:
        raise UsageError(
            f"{others[0]} cannot be exported by topic",
            hint=f"Omit the topics, or {others[0]}.",
            span=invocation.span("only"),
            text=invocation.text,
        )
    names = frozenset(select.topics(invocation, context.cluster))
    return replace(wanted, kinds=kinds, topics=names, required=True)


def _cover_everything(state: State, context: Context) -> None:
    """Make everything that was read the scope of the file. A kind that could not be read completely
    is left out: --prune would delete what is missing."""
    state.scope |= {kind: ("*",) for kind in state.parts if kind in state.complete}
    missing = [kind for kind in state.parts if kind not in state.complete]
    if missing:
        names = ", ".join(kind.replace("_", " ") for kind in missing)
        context.note(f"not in the scope of the export, because not read completely: {names}")


def _select(
    state: State, words: tuple[str, ...], topics: Collection[str], context: Context
) -> None:
    """Keep the ACLs on the exported topics, and make the topics the scope of the file, if all of
    them could be read."""
    from kafka_shell.admin.acls.model import AclBinding, AclResourceType, PatternType
    from kafka_shell.admin.topics.visibility import HIDDEN, hidden

    if any(map(is_pattern, words)):
        for about, why in hidden(context.cluster, topics).items():
            if about.startswith(HIDDEN) or select_whole(words, [about.removeprefix("topic ")]):
                state.unread[about] = why
    prefixes = {name[:end] for name in topics for end in range(1, len(name) + 1)}

    def applies(binding: AclBinding) -> bool:
        literal = binding.pattern_type is PatternType.LITERAL
        named = binding.name in topics if literal else binding.name in prefixes
        return binding.resource_type is AclResourceType.TOPIC and named

    if "acls" in state.parts:
        others = sum(each.target == _ALL_TOPICS for each in state.part("acls"))
        state.parts["acls"] = {each: {} for each in state.part("acls") if applies(each)}
        if others:
            apply, are = ("applies", "is") if others == 1 else ("apply", "are")
            context.note(
                f"{counted(others, 'ACL')} on {_ALL_TOPICS} also {apply} to these topics and {are}"
                " not exported"
            )
    if any(about.startswith(("topic ", HIDDEN)) for about in state.unread):
        context.note("the export has no scope, because some topics could not be read")
    elif "topics" in state.parts:
        state.scope["topics"] = tuple(item for word in words for item in split(word))


# -- diff ------------------------------------------------------------------------------------------


def diff(invocation: Invocation, context: Context) -> StateDiff:
    """The differences between a state file or cluster and another one, or this cluster."""
    from kafka_shell.commands.state.compare import compare_sources, source_of, this_cluster

    kinds = _kinds(invocation)
    first = source_of(invocation, context, "what")
    if invocation["other"] is None:
        before, after = this_cluster(context), first
    else:
        before, after = first, source_of(invocation, context, "other")
    return compare_sources(before, after, kinds, context)


# -- apply -----------------------------------------------------------------------------------------


_LEFT_OUT = "Use --only KINDS to exclude other kinds."


def apply(invocation: Invocation, context: Context) -> Plan:
    """Make the cluster match a state file."""
    from kafka_shell.commands.partitions.reassignments import Replicas, replicate
    from kafka_shell.commands.state.compare import (
        from_file,
        missing,
        note_unmatched,
        read_covered_state,
        state_in,
    )
    from kafka_shell.commands.state.model import only
    from kafka_shell.commands.state.plan import Options, plan_state
    from kafka_shell.commands.state.render import name_changes

    wanted = only(state_in(invocation, context, "file"), _kinds(invocation))
    now = read_covered_state(context.cluster, wanted)
    _refuse_missing(missing(now, wanted))

    def move(replicas: Replicas, growing: Mapping[str, int]) -> Plan:
        return replicate(invocation, context, replicas, growing)

    def password(source: Password) -> Secret:
        return _password(invocation, context, source)

    options = Options(move, password, invocation["prune"], invocation["reassign"])
    found = from_file(now, wanted)
    plan = plan_state(context, found, wanted, options)
    if invocation["prune"] and not wanted.scope:
        context.note("the file has no scope: --prune deletes nothing")
    elif not invocation["prune"] and found.only_on_cluster:
        kept = name_changes([each.change for each in found.only_on_cluster])
        context.note(f"not in the file (add --prune to delete): {kept}")
    note_unmatched(found, context)
    return plan.advised(Advice(confirm=context.ask is not None))


def _refuse_missing(missing: Mapping[str, Failure]) -> None:
    """Raise an error if something cannot be compared with the file."""
    for about, why in missing.items():
        what = about.replace("_", " ") if about in KINDS else about
        more = counted(len(missing) - 1, "other")
        others = f" (nor can {more}; see: diff)" if len(missing) > 1 else ""
        raise ShellError(
            f"{what} cannot be compared with the file{others}: {why.message}",
            hint=f"{why.hint.rstrip('.')}. {_LEFT_OUT}" if why.hint else _LEFT_OUT,
            code=why.name,
            see=why.see,
        )


def _password(invocation: Invocation, context: Context, source: Password) -> Secret:
    from kafka_shell.commands.users import commands as scram_options

    if not source.generate:
        return scram_options.password_from(source.file)
    scram_options.refuse_lost_password(invocation, context)
    return scram_options.new_password()


def state_schema(invocation: Invocation, context: Context) -> str:
    """The JSON Schema of state files."""
    import json

    from kafka_shell.commands.state.load import schema

    return json.dumps(schema(), indent=2) + "\n"


_FILE = Argument("file", kinds.FILE, "A state file (YAML or JSON), a directory of them, or -.")

COMMANDS: tuple[Command, ...] = (
    Command(
        name="export",
        summary="Export the state of the cluster as a file: topics, ACLs, quotas, users, configs.",
        family="state",
        run=export,
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
            "mechanisms and iterations, never passwords.\n"
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
        summary="Compare a state file or a cluster with this cluster, or with each other.",
        family="state",
        run=diff,
        apis=(29, 32, 35, 46, 48, 50, 60, 74),
        arguments=(
            Argument("what", kinds.FILE, "A state file, a directory of them, a profile, or -."),
            Argument("other", kinds.FILE, "The other side (default: this cluster).",
                     required=False),
        ),
        options=(_ONLY,),
        search=("drift", "compare", "state"),
        description=(
            "A profile name selects that cluster, - is standard input, and any other argument is a"
            " file. If an argument is both a profile and a file, write ./NAME for the file. With"
            " one argument, the differences are what apply --prune would change on this cluster."
            " Resources and configs that exist only on the cluster are differences if the scope of"
            " the file selects them. Outside the scope, additional configs of resources in the file"
            " are listed below the differences. The exit status is 0 if nothing differs, and 1 if"
            " something does or could not be compared."
        ),
        examples=(
            Example("diff payments.yaml", "what differs between the cluster and a file"),
        ),
    ),
    Command(
        name="apply",
        summary="Make the cluster match a state file.",
        family="state",
        run=apply,
        apis=(2, 9, 15, 16, 19, 20, 29, 30, 31, 32, 35, 37, 44, 45, 46, 48, 49, 50, 51, 60, 61, 69,
              74, 77, 89, 90),
        effect=Effect.CHANGE,
        arguments=(_FILE,),
        options=(
            _ONLY,
            Option("--prune", kinds.FLAG,
                   "Delete what is within the scope of the file, and not in the file."),
            Option("--reassign", kinds.FLAG, "Move replicas to the file's replica_assignment."),
            THROTTLE,
            WAIT,
        ),
        search=("state", "yaml", "sync", "gitops", "declarative"),
        description=(
            "The file - is standard input. Applying a file again changes nothing; an interrupted"
            " apply continues when it is run again. Nothing is sent if any item is rejected."
            " Resources and configs that the file does not mention stay; --prune deletes those"
            " within the scope of the file. A changed replication factor moves replicas, with"
            " --throttle and --wait as in reassign-partitions; a topic that gets more partitions at"
            " the same time gets them first."
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
        run=state_schema,
        needs_cluster=False,
        examples=(Example("state-schema", "the schema for editors"),),
    ),
)  # fmt: skip
