"""What a sandbox is asked to be."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from platformdirs import user_data_path

from kafka_shell.errors import ShellError
from kafka_shell.sandbox.jars import locked_versions

DEFAULT_VERSION = "4.3.1"
DEFAULT_PORT = 9092
RACKS = ("rack-a", "rack-b", "rack-c")


def default_folder() -> Path:
    """Where a sandbox lives unless told otherwise: in the XDG data folder."""
    return user_data_path("kafka-sh") / "sandbox"


@dataclass(frozen=True)
class SandboxOptions:
    """What a sandbox is asked to be.

    `port` is the first broker's first port, the rest follow it; 0 takes free ports. `kafka_version`
    may leave out the patch (`4.3`). A secure sandbox is one broker whose clients must log in.
    """

    folder: Path = field(default_factory=default_folder)
    kafka_version: str = DEFAULT_VERSION
    brokers: int = 1
    port: int = DEFAULT_PORT
    secure: bool = False


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


def check_options(options: SandboxOptions) -> None:
    """Refuse what no sandbox can be."""
    if options.brokers < 1:
        raise ShellError("A sandbox has at least one broker", code="bad-sandbox-options")
    if options.secure and options.brokers != 1:
        raise ShellError(
            f"A secure sandbox has one broker, not {options.brokers}",
            hint="Leave out --secure, or ask for one broker.",
            code="bad-sandbox-options",
        )
    if not 0 <= options.port <= 65535:
        raise ShellError(f"{options.port} is not a port", code="bad-sandbox-options")
