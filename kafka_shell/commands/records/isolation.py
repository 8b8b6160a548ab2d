"""The isolation levels of consumers (KIP-98)."""

from __future__ import annotations

READ_COMMITTED = "read_committed"
ISOLATION_LEVELS = ("read_uncommitted", READ_COMMITTED)
