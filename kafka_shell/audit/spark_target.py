"""Which Spark an audit uses: what the user configured, before Spark is started."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

from msgspec import Struct

LOCAL = "local[*]"
_GATEWAY = "PYSPARK_GATEWAY_PORT"  # set by spark-submit


class SparkTarget(Struct, frozen=True):
    """A master or a Spark Connect server (by default what Spark is configured with, or the local
    cores), and Spark configs. `server_folder` is that of the server of `spark start`, if used."""

    master: str = ""
    remote: str = ""
    conf: tuple[tuple[str, str], ...] = ()
    server_folder: str = ""

    def user_configs(self) -> dict[str, str]:
        """The Spark configs of the user: of spark-defaults.conf, then of the command line."""
        found = {**_defaults(), **dict(self.conf)}
        return found | {"spark.master": self.master} if self.master else found

    def runs_locally(self) -> bool | None:
        """Whether Spark runs on this machine only, as part of this program or of `spark start`;
        None if only the session can tell."""
        if self.remote:
            return bool(self.server_folder)
        if is_submitted():
            return None
        return is_local(self.user_configs().get("spark.master", LOCAL))


def is_local(master: str) -> bool:
    """Whether executors are threads of the driver."""
    return re.fullmatch(r"local(\[.*\])?", master) is not None


def is_submitted() -> bool:
    """Whether spark-submit started this program."""
    return _GATEWAY in os.environ


def _defaults() -> Mapping[str, str]:
    """The configs in spark-defaults.conf."""
    home = os.environ.get("SPARK_HOME") or _home()
    folder = os.environ.get("SPARK_CONF_DIR") or Path(home, "conf")
    try:
        lines = Path(folder, "spark-defaults.conf").read_text(encoding="utf-8").splitlines()
    except OSError:
        return {}
    pairs = (re.match(r"\s*([^#\s=:]+)\s*[\s=:]\s*(.*?)\s*$", line) for line in lines)
    return {pair[1]: pair[2] for pair in pairs if pair is not None}


def _home() -> str:
    """The folder of the installed PySpark, which is not imported for it."""
    spec = find_spec("pyspark")
    return str(Path(spec.origin).parent) if spec is not None and spec.origin else ""
