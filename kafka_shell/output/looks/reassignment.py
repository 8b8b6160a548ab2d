"""Where replicas go: plans, moves under way, throttles."""

from __future__ import annotations
