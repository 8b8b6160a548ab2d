"""A real Apache Kafka on this machine: fetched, started, shared, stopped and deleted."""

from kafka_shell.sandbox.cluster import (
    leave,
    no_report,
    start,
    start_broker,
    status,
    stop,
    stop_broker,
    wipe,
)
from kafka_shell.sandbox.jars import Report
from kafka_shell.sandbox.options import DEFAULT_VERSION, SandboxOptions, default_folder
from kafka_shell.sandbox.security import passwords
from kafka_shell.sandbox.sharing import Attachment, attach, in_use_by_others
from kafka_shell.sandbox.state import Broker, Sandbox

__all__ = [
    "DEFAULT_VERSION",
    "Attachment",
    "Broker",
    "Report",
    "Sandbox",
    "SandboxOptions",
    "attach",
    "default_folder",
    "in_use_by_others",
    "leave",
    "no_report",
    "passwords",
    "start",
    "start_broker",
    "status",
    "stop",
    "stop_broker",
    "wipe",
]
