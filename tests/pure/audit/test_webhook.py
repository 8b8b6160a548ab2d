"""What is posted to a webhook, and which URLs are accepted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kafka_shell.audit.history import comparable
from kafka_shell.audit.model import AuditReport, ControlResult, FindingHistory, LeftOut
from kafka_shell.audit.webhook import body, trust_of, url_of
from kafka_shell.base.errors import ShellError
from kafka_shell.base.plans import Secret
from kafka_shell.base.structs import replace
from kafka_shell.base.text import masked
from kafka_shell.shell.history import holds_secret
from kafka_shell.wire.endpoint import ConnectionConfig, Tls


def of(
    state: str, resource: str = "orders", severity: str = "high", **more: object
) -> FindingHistory:
    at = {"since": 1, "until": 2, "first": 1, "now": 2, **more}
    return FindingHistory("prod", "T04", "Too few replicas", severity, resource, state, **at)  # type: ignore[arg-type]


CONTROLS = (ControlResult("T04", "", "high", "topics", {}),)
REPORT = AuditReport("s", 7, ("prod",), {}, CONTROLS, ())


def posted(report: AuditReport, format: str = "json") -> Any:
    content = body(report, format)
    assert content is not None
    return json.loads(content)


def test_new_returned_and_fixed_findings_are_posted() -> None:
    report = replace(REPORT, changes=(of("new", owner="web"), of("fixed", "payments")))
    found = posted(report)
    assert [each["resource"] for each in found["new"]] == ["orders"]
    assert found["new"][0]["owner"] == "web"
    assert [each["resource"] for each in found["fixed"]] == ["payments"]
    assert (found["returned"], found["clusters"], found["unread"]) == ([], ["prod"], {})


def test_nothing_is_posted_if_nothing_changed_but_a_lost_cluster_is() -> None:
    assert body(REPORT, "json") is None
    lost = replace(REPORT, unread={"prod": "no response"})
    assert posted(lost)["unread"] == {"prod": "no response"}
    assert "prod could not be read: no response" in str(posted(lost, "slack")["text"])


def test_a_message_of_slack_counts_everything_and_names_a_few() -> None:
    changes = (*(of("new", f"t{n}") for n in range(25)), of("fixed", "<!channel> `x`"))
    text = str(posted(replace(REPORT, changes=changes), "slack")["text"])
    assert text.startswith("*Audit of prod*: 25 new, 1 fixed\n")
    assert "new high *T04* Too few replicas: prod `t0`" in text
    assert text.endswith("and 6 more")
    evil = str(posted(replace(REPORT, changes=changes[-1:]), "slack")["text"])
    assert "`&lt;!channel&gt; 'x'`" in evil and "<!channel>" not in evil


def test_only_what_the_audit_has_read_is_fixed() -> None:
    known = (of("fixed"), of("new"), of("not checked"), of("open"))
    assert [each.state for each in comparable(known, REPORT, {"prod"})] == ["fixed", "new"]
    assert not comparable(known, REPORT, {"dev"})
    assert not comparable(known, replace(REPORT, controls=()), {"prod"})
    limited = replace(REPORT, left_out=(LeftOut("T04", "high", "prod", 5),))
    assert [each.state for each in comparable(known, limited, {"prod"})] == ["new"]
    first = (of("open", since=2),)
    assert [each.state for each in comparable(first, REPORT, {"prod"})] == ["new"]


def test_the_url_may_be_in_a_file_and_is_never_shown(tmp_path: Path) -> None:
    file = tmp_path / "webhook"
    file.write_text("https://hooks.example.com/T0/secret\n")
    url = url_of(Secret(f"@{file}"))
    assert url.reveal() == "https://hooks.example.com/T0/secret"
    for wrong in (
        "hooks.example.com/secret", "ftp://x/secret", "https:///secret", "https://x/secret more",
        "https://x:port/secret", "https://\u00fc/secret",
    ):  # fmt: skip
        with pytest.raises(ShellError) as raised:
            url_of(Secret(wrong))
        assert "secret" not in f"{raised.value}{raised.value.hint}"


@pytest.mark.parametrize("option", ["--webhook ", "--webhook="])
def test_a_line_with_a_webhook_is_a_secret(option: str) -> None:
    line = f"spark audit {option}https://hooks.example.com/T0/key"
    assert "T0" not in masked(line, "***")
    assert holds_secret(line)
    assert not holds_secret("spark audit --webhook-format slack")


def test_a_truststore_is_read_before_anything_is_posted(tmp_path: Path) -> None:
    missing = ConnectionConfig(tls=Tls(ca_file=str(tmp_path / "missing.pem")))
    with pytest.raises(ShellError, match=r"missing\.pem"):
        trust_of(Secret("https://host/x"), missing)
    assert trust_of(Secret("http://host/x"), missing) is None
