"""What executors that are not on this machine need: our packages and the data source."""

from __future__ import annotations

import atexit
import shutil
import tempfile
import zipfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

# The Python packages that executors need in addition to PySpark.
_PACKAGES = ("kafka_shell", "kafka")


def add_packages(session: Any) -> None:
    """Give our packages to the executors of a session, and register the data source."""
    from kafka_shell.audit.source import KafkaSource

    # Executors may start and fetch it at any time, so it is kept until the program ends.
    shipped = tempfile.mkdtemp(prefix="kafka-sh-")
    atexit.register(shutil.rmtree, shipped, ignore_errors=True)
    session.addArtifacts(str(_packages(Path(shipped))), pyfile=True)
    session.dataSource.register(KafkaSource)


def _packages(folder: Path) -> Path:
    """Write our packages into a zip file that Python can import from."""
    path = folder / "kafka_sh.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for package in _PACKAGES:
            spec = find_spec(package)
            assert spec is not None and spec.origin is not None
            root = Path(spec.origin).parent
            for file in sorted(root.rglob("*")):
                if file.suffix in (".py", ".json"):
                    archive.write(file, Path(package) / file.relative_to(root))
    return path
