"""What this shell's throttles replaced, kept in a file until it is put back.

One file a cluster, below the state folder. Shells that run side by side share it.
"""

from __future__ import annotations

import fcntl
import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from kafka_shell.admin.partitions.throttle_configs import Config
from kafka_shell.admin.partitions.throttle_ledger import Ledger, Recorded, Setting, by_config
from kafka_shell.errors import ShellError
from kafka_shell.private import open_private

from .reassignment_files import read_settings, settings_rows

if TYPE_CHECKING:
    from kafka_shell.context import Context


def ledger(context: Context) -> FileLedger:
    """This shell's, of the cluster it is connected to."""
    name = quote(context.cluster.cluster_id, safe="")
    return FileLedger(context.paths.state / "throttles" / f"{name}.json")


class FileLedger(Ledger):
    """A ledger in a file of JSON. One that cannot be read is as good as none."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self) -> Recorded:
        """What is not put back yet."""
        try:
            rows = json.loads(self._path.read_text(encoding="utf-8"))
            return by_config(read_settings(rows))
        except (OSError, KeyError, TypeError, ValueError, AttributeError, RecursionError):
            return {}

    def keep(self, settings: Iterable[Setting]) -> None:
        """Remember these. Raises ShellError where the file cannot be written."""
        try:
            with self._changed() as kept:
                for each in settings:
                    kept[each.config] = each
        except OSError as error:
            raise ShellError(
                f"{self._path} cannot be written: {error.strerror}",
                hint="Nothing was moved: what the throttle replaces could not be remembered.",
                code="no-file",
            ) from None

    def forget(self, settings: Iterable[Setting]) -> None:
        """They are put back. A file that cannot be written keeps them: that they are not what
        stands there any more is seen when they are looked at."""
        try:
            with self._changed() as kept:
                for each in settings:
                    kept.pop(each.config, None)
        except OSError:
            return

    @contextmanager
    def _changed(self) -> Iterator[dict[Config, Setting]]:
        with open_private(self._path.with_suffix(".lock"), "a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            before = dict(self.read())
            after = dict(before)
            yield after
            if after != before:
                new = self._path.with_suffix(".new")
                with open_private(new, "w") as file:
                    json.dump(settings_rows(after.values()), file)
                new.replace(self._path)
