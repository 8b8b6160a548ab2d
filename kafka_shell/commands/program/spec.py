"""Declarations of the program commands."""

from __future__ import annotations

from kafka_shell.base.command_results import FORMATS
from kafka_shell.base.plans import Effect
from kafka_shell.commands import by_name
from kafka_shell.language import kinds
from kafka_shell.language.command import (
    DEADLINE,
    SANDBOX,
    TIMEOUT,
    Argument,
    Command,
    Example,
    Option,
    Short,
)
from kafka_shell.language.kinds import CandidateSource, Kind

SETTINGS = {
    setting.name: setting
    for setting in (
        Option("output", kinds.CHOICE, "", choices=FORMATS),
        Option("editing-mode", kinds.CHOICE, "", choices=("emacs", "vi")),
        Option("pager", kinds.INTEGER, "", choices=("off", "1", "2"), least=1),
        Option("refresh", kinds.DURATION, "", choices=("off", "10s", "1m"), least=1_000),
    )
}
_THEME, _VALUE = (
    Kind("theme", CandidateSource(by_name("program.complete:offer_themes"))),
    Kind("text", CandidateSource(by_name("program.complete:offer_values"))),
)
_LAST = Option("--last", kinds.INTEGER, "Only the newest N.", least=1)
JOURNAL_ENTRY = Kind("journal-entry", CandidateSource(by_name("program.complete:offer_entries")))
UNDOABLE_ENTRY = Kind("journal-entry", CandidateSource(by_name("program.complete:offer_undoable")))


COMMANDS: tuple[Command, ...] = (
    Command(
        name="connect",
        summary="Connect to another cluster, or show the current one.",
        family="shell",
        run="program.run:connect",
        needs_cluster=False,
        arguments=(
            Argument("where", kinds.PROFILE, "A profile's name, host:port, or sandbox.",
                     required=False),
        ),
        options=(
            Option("--discover", kinds.FLAG,
                   "Show an address-map to complete, for brokers that cannot be reached at their"
                   " advertised addresses. Does not switch to the cluster."),
            DEADLINE,
        ),
        examples=(Example("connect", "show the current cluster"),),
    ),
    Command(
        name="refresh",
        summary="Reload the metadata cache.",
        family="shell",
        run="program.run:refresh",
        needs_cluster=False,
    ),
    Command(
        name="watch",
        summary="Run a command repeatedly.",
        family="shell",
        run="program.run:watch",
        needs_cluster=False,
        arguments=(
            Argument("seconds", kinds.INTERVAL, "The interval: 5 (seconds), 500ms, 1m (default:"
                     " 2s).", required=False),
            Argument("line", kinds.LINE, "The command to run."),
        ),
        repeats=True,
        search=("repeat", "every"),
        description="Ctrl-C ends it. For example: watch 5 health\n"
        "A pipe is part of the command and runs each time: watch 2 list-topics | wc -l. A redirect"
        " collects the output of all runs.",
    ),
    Command(
        name="source",
        summary="Run the commands in a file.",
        family="shell",
        run="program.run:source",
        needs_cluster=False,
        arguments=(Argument("file", kinds.FILE, "A file of shell commands."),),
        options=(
            Option("--keep-going", kinds.FLAG, "Continue after a command fails."),
            Option("--generated", kinds.FLAG,
                   "Accept plain commands only: reject !, pipes, redirects and source."),
            Option("--check", kinds.FLAG, "Check the syntax and run nothing."),
        ),
        search=("script", "run"),
    ),
    Command(
        name="history",
        summary="Show commands typed earlier.",
        family="shell",
        run="program.run:history",
        needs_cluster=False,
        arguments=(Argument("text", kinds.TEXT, "Only commands with this text.", required=False),),
        options=(_LAST,),
        examples=(Example("history --last 5", "show the last five commands"),),
    ),
    Command(
        name="theme",
        summary="Switch to another theme, or list all themes.",
        family="shell",
        run="program.run:theme",
        needs_cluster=False,
        arguments=(Argument("name", _THEME, "The name of a theme, or pygments:STYLE.",
                            required=False),),
        search=("colour", "color", "dark", "light"),
        examples=(Example("theme", "list all themes"),
                  Example("theme mono", "switch to a theme without color"),
                  Example("theme pygments:monokai", "switch to a style of Pygments")),
    ),
    Command(
        name="set",
        summary="Change a setting for this session, or show all settings.",
        family="shell",
        run="program.run:set_option",
        needs_cluster=False,
        arguments=(
            Argument("name", kinds.CHOICE, "The setting.", required=False, choices=tuple(SETTINGS)),
            Argument("value", _VALUE, "Its new value.", required=False),
        ),
        description="pager: off, or the number of screens that are shown without a pager (default:"
        " 2).\nrefresh: off, or how often an idle prompt reads the cluster, for example 10s.",
        examples=(Example("set", "show all settings and their sources"),),
    ),
    Command(
        name="clear",
        summary="Clear the screen, as Ctrl-L does.",
        family="shell",
        run="program.run:clear",
        needs_cluster=False,
        search=("cls",),
    ),
    Command(
        name="exit",
        summary="End the session or the script.",
        family="shell",
        run="program.run:leave",
        needs_cluster=False,
        shorts=(Short("quit", "exit"),),
        search=("bye", "leave"),
    ),
    Command(
        name="undo",
        summary="Undo the last change made with kafka.sh, or other changes in the journal.",
        family="shell",
        run="program.undo:undo",
        effect=Effect.CHANGE,
        arguments=(
            Argument("id", UNDOABLE_ENTRY, "The changes to undo, as listed by journal.",
                     many=True, required=False, unless=("--last", "--session")),
        ),
        options=(
            Option("--last", kinds.INTEGER, "Undo the newest N changes that are not undone yet.",
                   metavar="N", least=1, excludes=("--session",)),
            Option("--session", kinds.FLAG, "Undo all changes of this prompt or script."),
            Option("--despite-changes", kinds.FLAG,
                   "Undo a change even if the same value was changed again since."),
            TIMEOUT,
        ),
        search=("take back", "revert", "rollback", "restore", "redo"),
        description=(
            "By default, undoes the newest change to this cluster; run it again to undo the change "
            "before it.\n"
            "If another shell, script or one-shot command made the change, undo asks for "
            "confirmation; without a terminal, use --yes or the ID.\n"
            "To redo a change, undo its undo: undo ID.\n"
            "If the last change is irreversible, nothing is undone.\n"
            "If a value has changed since, undo asks again; only --despite-changes skips that "
            "confirmation."
        ),
        apis=(0, 1, 2, 3, 8, 9, 15, 16, 20, 22, 29, 30, 31, 32, 34, 35, 39, 40, 41, 44, 45, 46, 47,
              48, 49, 50, 51, 55, 57, 60, 61, 69, 74, 77, 80, 81, 89, 90, 91, 92),
        examples=(
            Example("undo --dry-run", "preview undoing the last change"),
            Example("undo --yes", "undo the last change without confirmation"),
        ),
    ),
    Command(
        name="journal",
        summary="List the changes made with kafka.sh.",
        family="shell",
        run="program.journal:journal",
        needs_cluster=False,
        arguments=(
            Argument("id", JOURNAL_ENTRY, "Only these entries.", many=True, required=False),
        ),
        options=(
            Option("--last", kinds.INTEGER, "Only the newest N.", metavar="N", least=1,
                   excludes=("id",)),
            Option("--session", kinds.FLAG, "Only changes of this prompt or script.",
                   excludes=("id",)),
            Option("--since", kinds.TEXT, "Only changes since a time, or of the last 2h.",
                   metavar="TIME", excludes=("id",)),
            Option("--resource", kinds.TEXT,
                   "Only changes of a resource: orders, 'topic orders', 'user *'.",
                   metavar="RESOURCE", excludes=("id",)),
            Option("--undo", kinds.FLAG,
                   "Print only the commands that undo the named entries; undo runs them."),
        ),
        search=("log", "changes", "audit trail"),
        description=(
            "Entries are kept per cluster: the newest 1,000, for 400 days.\nWith an ID: each"
            " change, whether it was done, failed, was not sent or has an unknown outcome, and the"
            " commands that undo it."
        ),
        examples=(
            Example("journal --last 3", "show the last three changes"),
            Example("journal --since 2h --resource 'orders.*'",
                    "show the changes of the last two hours to these resources"),
        ),
    ),
    Command(
        name="sandbox",
        summary="Start, stop, show or wipe a Kafka cluster on this machine.",
        family="shell",
        run="program.sandbox:sandbox",
        needs_cluster=False,
        arguments=(
            Argument(
                "action",
                kinds.CHOICE,
                "start, stop, status or wipe.",
                choices=("start", "stop", "status", "wipe"),
            ),
        ),
        options=(
            *SANDBOX,
            Option("--topics", kinds.INTEGER,
                   "Create N topics on stand-in brokers, to simulate a large cluster.",
                   least=0, most=1_000_000),
            Option("--stand-in-brokers", kinds.INTEGER,
                   "Registered brokers without a process (default: one per 100 topics).",
                   least=0, most=10_000),
            Option("--yes", kinds.FLAG, "Wipe without confirmation."),
        ),
        search=("demo", "try", "local", "playground"),
        description="`wipe` stops the sandbox and deletes its data. `kafka.sh --sandbox` starts it"
        " and opens the prompt. `start --topics 100000` simulates a large cluster with metadata"
        " only: the topics are on registered brokers without a process. Requires 3 GiB of memory.",
        examples=(Example("sandbox status", "show whether the sandbox is running, and where"),),
    ),
    Command(
        name="help",
        summary="List the commands, or show the options and examples of one.",
        family="shell",
        run="program.help:show_help",
        needs_cluster=False,
        arguments=(
            Argument("command", kinds.COMMAND, "A command, options, or a word to search for.",
                     required=False, many=True),
        ),
        examples=(
            Example("help", "every command"),
            Example("help alter-configs", "one command"),
            Example("help options", "the options that all commands have"),
            Example("help retention", "commands found by a word"),
        ),
    ),
)  # fmt: skip
