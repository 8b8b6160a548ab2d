"""Store the throttles set by kafka.sh in a file per cluster, in the state folder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import msgspec

from kafka_shell.admin.configs.model import ConfigResource, ResourceType
from kafka_shell.admin.partitions.throttles import Record, Throttled, ThrottleRecord
from kafka_shell.base.errors import ShellError
from kafka_shell.base.files import locked, write_private
from kafka_shell.context import Context

# The type and the name of the resource, the key, its value, and the value that it replaced.
_DECODER = msgspec.json.Decoder(list[tuple[str, str, str, str, str | None]])


def throttle_record(context: Context, cluster: str = "") -> ThrottleFile:
    """The throttle record of the cluster with this ID; without one, of the connected cluster."""
    name = quote(cluster or context.cluster.cluster_id, safe="")
    return ThrottleFile(context.paths.state / "throttles" / f"{name}.json")


class ThrottleFile(ThrottleRecord):
    """A throttle record in a JSON file, shared by all processes with this state folder."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self) -> Record:
        """The record by config; empty if the file is missing. Raises ShellError if it cannot be
        read or is damaged; it is not replaced then."""
        try:
            rows = [
                Throttled(ConfigResource(ResourceType[type], name), key, value, replaced)
                for type, name, key, value, replaced in _DECODER.decode(self._path.read_bytes())
            ]
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise self._unreadable(str(error.strerror)) from None
        except (msgspec.DecodeError, UnicodeDecodeError, KeyError, RecursionError):
            raise self._unreadable("the file is damaged") from None
        return {row.config: row for row in rows}

    def _unreadable(self, why: str) -> ShellError:
        return ShellError(
            f"cannot read {self._path}: {why}",
            hint="Repair the file or move it away. It lists the throttles to remove after"
            " reassignments, and the rates to restore.",
            code="no-file",
        )

    def update(self, change: Callable[[Record], Record]) -> None:
        """Replace the file. Raises ShellError if it cannot be written."""
        try:
            with locked(self._path.with_suffix(".lock")):
                rows = change(self.read()).values()
                write_private(self._path, msgspec.json.encode([
                    (row.resource.type.name, row.resource.name, row.key, row.value, row.replaced)
                    for row in rows
                ]))  # fmt: skip
        except OSError as error:
            raise ShellError(
                f"cannot write {self._path}: {error.strerror} (no partition was moved)",
                code="no-file",
            ) from None
