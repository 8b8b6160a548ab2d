"""A real Apache Kafka cluster on this machine: download, start, share, stop and delete it."""

from .cluster import leave, no_report, start, start_broker, status, stop, stop_broker, wipe
from .jars import Report
from .options import DEFAULT_VERSION, SandboxOptions, default_folder
from .security import passwords
from .sharing import Attachment, attach, in_use_by_others
from .state import Broker, Sandbox

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
