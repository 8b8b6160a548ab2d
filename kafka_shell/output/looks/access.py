"""ACLs, verdicts on them, and delegation tokens."""

from __future__ import annotations
