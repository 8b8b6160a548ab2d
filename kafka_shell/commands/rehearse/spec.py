"""Declarations of the rehearse commands."""

from __future__ import annotations

from kafka_shell.language import kinds
from kafka_shell.language.command import Argument, Command, Example, Option

COMMANDS: tuple[Command, ...] = (
    Command(
        name="rehearse",
        summary="Run a script on a twin of the cluster, and show what it would change.",
        family="state",
        run="rehearse.run:rehearse",
        apis=(15, 29, 32, 46, 48, 50, 60, 74),
        arguments=(
            Argument("line", kinds.LINE,
                     "A command line, a script file, or - for standard input.", required=False),
        ),
        exactly_one=(("line", "--limits"),),
        options=(
            Option("--topics", kinds.TOPIC, "Copy only these topics: a,b  svc-*  /regex/",
                   many=True),
            Option("--keep-going", kinds.FLAG, "Continue after a line that fails."),
            Option("--keep", kinds.FLAG, "Open a prompt on the twin afterwards."),
            Option("--limits", kinds.FLAG, "List the limits of a rehearsal."),
        ),
        search=("simulate", "what if", "dry run", "test", "twin"),
        description=(
            "The twin is a real Kafka on this machine with the brokers, topics, configs, ACLs, "
            "quotas and users of the cluster, but without records and groups; requires Java.\n"
            "Runs the same commands there and confirms them; the cluster itself is only read.\n"
            "Each line is ok, failed or unknown (the rehearsal cannot check it).\n"
            "Exit status: 0 if all lines are ok; 1 if a line failed; else 4 if one is unknown.\n"
            "At a terminal, a twin for the next rehearsal is kept in the background for 10 minutes."
        ),
        examples=(
            Example("rehearse alter-topic orders.placed --partitions 12",
                    "try one command on a twin"),
            Example("rehearse --limits", "list the limits of a rehearsal"),
        ),
    ),
)  # fmt: skip
