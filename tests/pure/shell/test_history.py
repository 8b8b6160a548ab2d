"""The history file: private and without secrets."""

from __future__ import annotations

import stat
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_shell.admin.configs.model import ResourceType
from kafka_shell.history import read
from kafka_shell.shell.history import PrivateHistory, holds_secret
from kafka_shell.view.view import ClusterView, ConfigDoc, Part


def test_lines_come_back_in_the_next_session(tmp_path: Path) -> None:
    path = tmp_path / "state" / "history"
    history = PrivateHistory(path)
    for line in ("topics", "alter-configs orders \\\n  retention.ms=7d", "health"):
        history.append_string(line)
    later = list(PrivateHistory(path).load_history_strings())
    assert later == ["health", "alter-configs orders \\\n  retention.ms=7d", "topics"]
    assert [line.text for line in read(path)] == later[::-1]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_times_do_not_depend_on_the_time_zone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "history"
    times = []
    before = int(time.time())
    for zone in ("Asia/Tokyo", "America/New_York"):
        monkeypatch.setenv("TZ", zone)
        time.tzset()
        if not times:
            PrivateHistory(path).append_string("topics")
        times.append(read(path)[0].time)
    monkeypatch.undo()
    time.tzset()
    assert times[0] == times[1] and before <= times[0] <= time.time()


@pytest.mark.parametrize(
    "line",
    [
        "alter-scram alice --password hunter2",
        "alter-scram alice --password=hunter2",
        "config-command --alter --add-config SCRAM-SHA-256=[iterations=8192,password=x]",
        "topics --adminclient-property sasl.jaas.config='org... password=\"p\";'",
        "topics --adminclient-property ssl.key.password=p",
        "topics --adminclient-property ssl.keystore.key=PEM",
        "topics --adminclient-property sasl.oauthbearer.client.credentials.client.secret=s",
        "renew-token --hmac AbC=",
        "alter-configs --broker-id 1 SSL.Key.Password=p",
        "config-command --alter --entity-type users --entity-name a --add-config SCRAM-SHA256=pw",
        "config-command --alter --add-config scram_sha_512=pw",
        "alter-configs --broker-default my.plugin.api-key=abc",
        "alter-configs --broker-default remote.storage.aws.access.key=AKIA",
        "alter-configs --broker-default tier.credentials=abc",
        'alter-configs --broker-default "ssl.keystore.password"=hunter2',
        "alter-configs --broker-default 'ssl.key.password'=x",
        "alter-configs --broker-default ssl.keystore.password\\=x",
        "config-command --alter --add-config SCRAM-SHA-256=[iterations=8192,'password'=x]",
        "renew-token '--hmac' abc",
        "renew-token --hm'ac' abc",
    ],
)
def test_a_secret_is_never_written(tmp_path: Path, line: str) -> None:
    path = tmp_path / "history"
    history = PrivateHistory(path)
    history.append_string("topics")
    history.append_string(line)
    assert holds_secret(line)
    assert history.get_strings() == ["topics"], "Up would show it to whoever looks on"
    assert [kept.text for kept in read(path)] == ["topics"]


@pytest.mark.parametrize(
    "line",
    [
        "topics",
        "describe-configs --broker-id 1 ssl.key.password",
        "alter-configs --broker-id 1 --delete-config ssl.key.password",
        "alter-scram alice --password-file /run/secret.txt",
        "describe-topic passwords",
        "list-topics | grep secret",
        "expire-token --help",
        "alter-configs orders retention.ms=7d",
    ],
)
def test_naming_a_secret_is_no_secret(line: str) -> None:
    assert not holds_secret(line)


def test_a_line_that_begins_with_a_space_is_not_kept(tmp_path: Path) -> None:
    history = PrivateHistory(tmp_path / "history")
    history.append_string(" topics")
    assert not history.get_strings()
    assert not (tmp_path / "history").exists()


def test_damaged_rows_are_skipped_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "history"
    path.write_bytes(b"\xff\xfe\x00\ntopics\n# x\n+health")
    history = PrivateHistory(path)
    assert list(history.load_history_strings()) == ["health"]
    history.append_string("topics")
    assert [line.text for line in read(path)] == ["health", "topics"]
    assert path.read_bytes().startswith(b"\xff\xfe")


def test_an_unwritable_folder_is_reported_once(tmp_path: Path) -> None:
    said: list[str] = []
    (tmp_path / "state").write_text("in the way")
    history = PrivateHistory(tmp_path / "state" / "history", said.append)
    history.append_string("topics")
    history.append_string("health")
    assert len(said) == 1
    assert history.get_strings() == ["topics", "health"]


@given(st.text(st.characters(blacklist_categories=("Cs", "Cc", "Zl", "Zp")), min_size=1))
def test_any_line_comes_back(tmp_path_factory: pytest.TempPathFactory, line: str) -> None:
    path = tmp_path_factory.mktemp("history") / "history"
    history = PrivateHistory(path)
    history.append_string(line)
    kept = [] if line.startswith(" ") or holds_secret(line) else [line]
    assert [each.text for each in read(path)] == kept


def test_sensitive_and_unknown_broker_configs_are_not_saved(tmp_path: Path) -> None:
    docs = {
        "log.retention.ms": ConfigDoc("log.retention.ms"),
        "my.hush": ConfigDoc("my.hush", sensitive=True),
    }
    view = ClusterView().with_documentation(ResourceType.BROKER, Part(docs, 1.0))
    history = PrivateHistory(tmp_path / "history", view=lambda: view)
    kept = ["alter-configs --broker-id 1 log.retention.ms=7d", "alter-configs t a.b=c", "x --y=z"]
    for line in (*kept, "alter-configs --broker-id 1 my.hush=1", "x --broker-default un.known=1",
                 "x --broker-default 'un.known'=1", "x --broker-id 1 my'.hush'=1"):  # fmt: skip
        history.append_string(line)
    assert history.get_strings() == kept
