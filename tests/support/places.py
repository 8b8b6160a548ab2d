"""Places in this checkout."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "kafka_shell"
CONTROLS = PACKAGE / "audit" / "controls"
