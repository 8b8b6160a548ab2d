"""The topic and the group of the live tests, on the brokers of this tier."""

from __future__ import annotations

from tests.live.commands.groups.conftest import group, topic  # noqa: F401
