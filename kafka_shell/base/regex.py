"""Regular expressions of users. RE2 takes linear time; Python's re can take exponential time."""

from __future__ import annotations

import re
from typing import Any

from kafka_shell.base.errors import UsageError
from kafka_shell.base.text import short

_NOT_IN_RE2 = re.compile(r"\(\?(?:[=!>]|<[=!]|P=|\()|\\[1-9]|[*+?}]\+")  # supported by Python only


def compile_re2(expression: str, shown: str = "", *, data: bool = False) -> Any:
    """The compiled expression, for text, or with `data` for UTF-8 bytes. Raises UsageError (code
    bad-pattern) with the expression as `shown`."""
    import re2

    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(expression.encode() if data else expression, options)
    except re2.error as error:
        why = error.args[0] if error.args else ""
        why = why.decode(errors="replace") if isinstance(why, bytes) else str(why)
        raise UsageError(
            f"invalid regular expression {short(shown or expression)}: {why}",
            hint="Use RE2 syntax, without look-around and backreferences."
            if _NOT_IN_RE2.search(expression)
            else "",
            code="bad-pattern",
        ) from None
