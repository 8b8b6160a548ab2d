"""What to write instead of a wrong condition."""

from __future__ import annotations

import pytest

from kafka_shell.admin.records.where import RecordFilter
from kafka_shell.base.errors import UsageError


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("headers.error=x", "Did you mean header.error=x?"),
        ("values.amount>10", "Did you mean value.amount>10?"),
        ("header=x", "Examples: key=4711"),
        ("amount>10", "Examples: key=4711"),
    ],
)
def test_the_field_is_corrected(text: str, hint: str) -> None:
    with pytest.raises(UsageError) as caught:
        RecordFilter([text], [])
    assert caught.value.hint.startswith(hint)
