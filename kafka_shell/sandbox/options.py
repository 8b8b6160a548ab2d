"""The options of a sandbox."""

from __future__ import annotations

import os
from pathlib import Path

from msgspec import Struct, field

from kafka_shell.common.xdg import xdg_folder
from kafka_shell.errors import ShellError, UsageError
from kafka_shell.sandbox.jars import locked_versions

DEFAULT_VERSION = "4.3.1"
DEFAULT_PORT = 9092
RACKS = ("rack-a", "rack-b", "rack-c")


def default_folder() -> Path:
    """Return the default sandbox folder in the XDG data folder."""
    return xdg_folder("data", os.environ) / "sandbox"


class SandboxOptions(Struct, frozen=True):
    """The options of a sandbox.

    `port` is the first port of the first broker, followed by the other ports; 0 uses free ports.
    `kafka_version` may omit the patch version (`4.3`). A `secure` sandbox requires authentication.
    `topics` are created on `stand_in_brokers`, which have no process.
    """

    folder: Path = field(default_factory=default_folder)
    kafka_version: str = DEFAULT_VERSION
    brokers: int = 1
    port: int = DEFAULT_PORT
    secure: bool = False
    topics: int = 0
    stand_in_brokers: int = 0


def exact_version(requested: str) -> str:
    """Return the available Kafka version: the requested one, or its newest patch version."""
    versions = locked_versions()
    matches = [v for v in versions if v == requested or v.startswith(f"{requested}.")]
    if not matches:
        raise ShellError(
            f"Kafka {requested} is not available for the sandbox",
            hint=f"Use one of {', '.join(versions)}.",
            code="unknown-kafka-version",
        )
    return max(matches, key=lambda v: [int(part) for part in v.split(".")])


def stand_ins_for(topics: int) -> int:
    """Return the number of brokers that a cluster with this many topics typically has."""
    return max(3, topics // 100) if topics else 0


def check_options(options: SandboxOptions) -> None:
    """Raise UsageError or ShellError for invalid options."""
    if options.brokers < 1:
        raise UsageError(
            f"--brokers must be at least 1, got {options.brokers}", code="bad-sandbox-options"
        )
    if options.stand_in_brokers and (options.secure or options.brokers != 1):
        raise ShellError(
            "--stand-in-brokers cannot be used with --secure or --brokers",
            hint="Omit --secure and --brokers.",
            code="bad-sandbox-options",
        )
    if options.topics < 0 or options.stand_in_brokers < 0:
        raise ShellError("--topics and --stand-in-brokers must not be negative",
                         code="bad-sandbox-options")  # fmt: skip
    if options.topics and not options.stand_in_brokers:
        raise ShellError(
            f"{options.topics:,} topics require stand-in brokers",
            hint=f"Add --stand-in-brokers {stand_ins_for(options.topics)}.",
            code="bad-sandbox-options",
        )
    if not 0 <= options.port <= 65535:
        raise UsageError(
            f"--port must be between 0 and 65535, got {options.port}", code="bad-sandbox-options"
        )
