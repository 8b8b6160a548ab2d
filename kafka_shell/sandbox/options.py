"""What a sandbox is asked to be."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

from kafka_shell.errors import ShellError, UsageError
from kafka_shell.xdg import xdg_folder

from .jars import locked_versions

DEFAULT_VERSION = "4.3.1"
DEFAULT_PORT = 9092
RACKS = ("rack-a", "rack-b", "rack-c")


def default_folder() -> Path:
    """Where a sandbox lives unless told otherwise: in the XDG data folder."""
    return xdg_folder("data", os.environ) / "sandbox"


@dataclass(frozen=True)
class SandboxOptions:
    """What a sandbox is asked to be.

    `port` is the first broker's first port, the rest follow it; 0 takes free ports. `kafka_version`
    may leave out the patch (`4.3`). A secure sandbox is one broker whose clients must log in.
    `topics` are made on `stand_in_brokers`, which are registered and have no process.
    """

    folder: Path = field(default_factory=default_folder)
    kafka_version: str = DEFAULT_VERSION
    brokers: int = 1
    port: int = DEFAULT_PORT
    secure: bool = False
    topics: int = 0
    stand_in_brokers: int = 0


def exact_version(asked: str) -> str:
    """The locked Kafka version that `asked` names: itself, or the newest of that release."""
    versions = locked_versions()
    matches = [v for v in versions if v == asked or v.startswith(f"{asked}.")]
    if not matches:
        raise ShellError(
            f"There is no sandbox of Kafka {asked}",
            hint=f"Use one of {', '.join(versions)}.",
            code="unknown-kafka-version",
        )
    return max(matches, key=lambda v: [int(part) for part in v.split(".")])


def stand_ins_for(topics: int) -> int:
    """As many brokers as a cluster of so many topics would have; none for none."""
    return max(3, topics // 100) if topics else 0


def check_options(options: SandboxOptions) -> None:
    """Refuse what no sandbox can be."""
    if options.brokers < 1:
        raise UsageError("A sandbox has at least one broker", code="bad-sandbox-options")
    if options.secure and options.brokers != 1:
        raise ShellError(
            f"A secure sandbox has one broker, not {options.brokers}",
            hint="Leave out --secure, or ask for one broker.",
            code="bad-sandbox-options",
        )
    if options.stand_in_brokers and (options.secure or options.brokers != 1):
        raise ShellError(
            "Stand-in brokers stand beside one real broker that nobody has to log in to",
            hint="Leave out --secure and --brokers.",
            code="bad-sandbox-options",
        )
    if options.topics < 0 or options.stand_in_brokers < 0:
        raise ShellError("There is no negative number of brokers or topics",
                         code="bad-sandbox-options")  # fmt: skip
    if options.topics and not options.stand_in_brokers:
        raise ShellError(
            f"{options.topics:,} topics want brokers to stand in for theirs",
            hint=f"Add --stand-in-brokers {stand_ins_for(options.topics)}.",
            code="bad-sandbox-options",
        )
    if not 0 <= options.port <= 65535:
        raise UsageError(f"{options.port} is not a port", code="bad-sandbox-options")
