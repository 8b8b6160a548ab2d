"""Requests that an authorizer decides."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

from kafka_shell.admin.acls.model import (
    Verdict,
)

names = st.sampled_from(["a", "ab", "abc", "b"])


def said(verdicts: Sequence[Verdict]) -> list[tuple[str, bool | None]]:
    return [(str(each.access), each.allowed) for each in verdicts]
