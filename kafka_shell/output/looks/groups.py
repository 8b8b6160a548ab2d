"""Groups: members, assignment, offsets and lag."""

from __future__ import annotations
