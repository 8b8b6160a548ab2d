"""Post the findings that are new, returned or fixed to a webhook, as JSON or as Slack's message."""

from __future__ import annotations

import json
import re
from ssl import SSLContext
from typing import Any
from urllib.parse import urlsplit
from urllib.request import Request

from kafka_shell.audit.model import CHANGED, AuditReport, FindingHistory
from kafka_shell.base.errors import UsageError
from kafka_shell.base.files import read_text
from kafka_shell.base.plans import Secret
from kafka_shell.base.structs import asdict, replace
from kafka_shell.base.text import printable
from kafka_shell.base.units import counted
from kafka_shell.wire import http
from kafka_shell.wire.endpoint import ConnectionConfig, Via
from kafka_shell.wire.tls import make_context

_SHOWN = 20  # findings in a message of Slack
_TIMEOUT_S = 15.0
_MOST_BYTES = 1 << 20  # of the response
_EMOJI = {
    "critical": ":red_circle:", "high": ":large_orange_circle:", "fixed": ":white_check_mark:",
}  # fmt: skip


def url_of(given: Secret) -> Secret:
    """Return the URL that is given, or that is in the file of `@FILE`. Raises ShellError."""
    text = given.reveal()
    url = read_text(text[1:]).strip() if text.startswith("@") else text
    try:
        parts = urlsplit(url)
        valid = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        valid = False
    if not valid or not re.fullmatch(r"[!-~]+", url):
        raise UsageError(
            "--webhook must be an http or https URL, or @FILE that contains one",
            hint="Example: --webhook @/etc/kafka-sh/webhook",
        )
    return Secret(url)


def body(report: AuditReport, format: str) -> bytes | None:
    """Return what is posted; None if there is nothing new, returned, fixed or unread."""
    by_state = {state: [c for c in report.changes if c.state == state] for state in CHANGED}
    if not any(by_state.values()) and not report.unread:
        return None
    if format == "slack":
        return json.dumps({"text": _message(report, by_state)}).encode()
    content: dict[str, Any] = {
        "snapshot_id": report.snapshot_id,
        "collected_at": report.collected_at,
        "clusters": report.clusters,
        "unread": dict(report.unread),
        **{state: [asdict(each) for each in rows] for state, rows in by_state.items()},
    }
    return json.dumps(content).encode()


def _message(report: AuditReport, by_state: dict[str, list[FindingHistory]]) -> str:
    counts = ", ".join(f"{len(rows):,} {state}" for state, rows in by_state.items() if rows)
    clusters = [*report.clusters]
    where = _escaped(clusters[0]) if len(clusters) == 1 else counted(len(clusters), "cluster")
    lines = [f"*Audit of {where}*: {counts or 'no change'}"]
    lines += [
        f":warning: {_escaped(name)} could not be read: {_escaped(why)}"
        for name, why in report.unread.items()
    ]
    rows = [each for found in by_state.values() for each in found]
    for each in rows[:_SHOWN]:
        mark = _EMOJI.get("fixed" if each.state == "fixed" else each.severity, ":white_circle:")
        owner = f" ({_escaped(each.owner)})" if each.owner else ""
        lines.append(
            f"{mark} {each.state} {each.severity} *{each.control}* {_escaped(each.title)}:"
            f" {_escaped(each.cluster)} `{_escaped(each.resource)}`{owner}"
        )
    if len(rows) > _SHOWN:
        lines.append(f"and {len(rows) - _SHOWN:,} more")
    return "\n".join(lines)


def _escaped(text: str) -> str:
    """The text without what Slack would read as a mention, a link or code."""
    text = printable(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return text.replace("`", "'")


def trust_of(url: Secret, connection: ConnectionConfig) -> SSLContext | None:
    """Return the TLS context of the webhook, with the CAs of the connection; None for plain HTTP.
    Raises ShellError if they cannot be read."""
    if urlsplit(url.reveal()).scheme == "http":
        return None
    trust = replace(
        connection.tls, certificate_file="", certificate_text="", key_text=None, check_hostname=True
    )
    return make_context(trust)


def post(url: Secret, content: bytes, trust: SSLContext | None, via: Via | None) -> str:
    """Post through a proxy. Return why it failed, without the URL, or an empty string."""
    text = url.reveal()
    parts = urlsplit(text)
    request = Request(text, content, {"Content-Type": "application/json"}, method="POST")
    try:
        http.fetch(http.opener(trust, via), request, _TIMEOUT_S, _MOST_BYTES)
    except http.HttpFailure as failure:
        why = str(failure)
        secrets = (parts.path.strip("/"), parts.query, parts.username, parts.password)
        shown = any(each in why for each in secrets if each)
        return f"the webhook at {parts.hostname} failed: {'invalid request' if shown else why}"
    return ""
