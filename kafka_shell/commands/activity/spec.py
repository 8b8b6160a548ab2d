"""Declarations of the activity commands."""

from __future__ import annotations

from kafka_shell.language import kinds
from kafka_shell.language.command import Argument, Command, Example, Option

TOPICS, GROUPS, BROKERS = VIEWS = ("topics", "groups", "brokers")


COMMANDS: tuple[Command, ...] = (
    Command(
        name="top",
        summary="Show the current rates of topics, groups or brokers on the full screen.",
        family="cluster",
        run="activity.run:top",
        arguments=(
            Argument("view", kinds.CHOICE, "topics (default), groups or brokers.", required=False,
                     choices=VIEWS),
        ),
        options=(
            Option("--interval", kinds.DURATION, "Time between two measurements (default: 2s).",
                   least=200, most=3_600_000),
            Option("--once", kinds.FLAG, "Measure once over the interval, and print the result."),
            Option("--idle", kinds.DURATION,
                   "Pause after this time without a key press (default: 10m).", least=1000,
                   excludes=("--once",)),
        ),
        search=("live", "rate", "throughput", "traffic", "monitor", "lag", "busy", "activity"),
        apis=(1, 2, 9, 15, 16, 35, 69, 77, 89, 90),
        description=(
            "topics: records and stored bytes per second, without replicas; brokers: the rates "
            "of the partitions they lead.\n"
            "groups: lag in records and in time (see help lag), its change per second over the "
            "last 15 s, and the time to catch up; a partition is stuck if its committed offset has "
            "not moved for 10 s while records arrived.\n"
            "- means unknown (see NOTE), and + marks a sum that lacks such partitions.\n"
            "Press ? for the keys.\n"
            "Measuring stops while the program is suspended, and after 10 minutes without a key "
            "press."
        ),
        examples=(
            Example("top --once --interval 500ms", "measure the rates of all topics"),
            Example("top groups --once --interval 500ms --output json",
                    "print the lag of all groups and its change for a program"),
            Example("top brokers --once --interval 500ms", "measure the load of the brokers"),
        ),
    ),
)  # fmt: skip
