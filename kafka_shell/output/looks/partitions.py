"""Log dirs, offsets, elections."""

from __future__ import annotations
