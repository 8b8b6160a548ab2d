"""The commands on subjects of a schema registry, on Apicurio Registry, and on one that fails."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread
from uuid import uuid4

import pytest
import requests

from kafka_shell.wire.cluster import Cluster
from tests.support.changes import make_topic
from tests.support.in_process_shell import Shell
from tests.support.program import Program, Run
from tests.support.schema_registry import Registry

ONE = {"type": "record", "name": "A", "fields": [{"name": "x", "type": "int"}]}
TWO = ONE | {"fields": [*ONE["fields"], {"name": "y", "type": "int", "default": 0}]}
OTHER = ONE | {"fields": [{"name": "z", "type": "string"}]}
Line = Callable[..., Run]


@pytest.fixture
def subject(registry: Registry) -> str:
    """A subject with two versions."""
    name = f"s-{uuid4().hex[:8]}-value"
    registry.register(name, ONE)
    registry.register(name, TWO)
    return name


@pytest.fixture
def run(kafka: Program, registry: Registry) -> Line:
    return on(kafka, registry.url)


def on(kafka: Program, url: str) -> Line:
    def run(*words: str) -> Run:
        return kafka("--adminclient-property", f"schema.registry.url={url}", *words)

    return run


def versions(registry: Registry, subject: str, query: str = "") -> list[int]:
    response = requests.get(f"{registry.url}/subjects/{subject}/versions{query}", timeout=10)
    found: list[int] = response.json() if response.ok else []
    return found


def texts(registry: Registry, subject: str) -> list[str]:
    url = f"{registry.url}/subjects/{subject}/versions"
    return [
        requests.get(f"{url}/{number}", timeout=10).json()["schema"]
        for number in versions(registry, subject)
    ]


def written(schema: object, folder: Path, name: str = "schema.avsc") -> str:
    file = folder / name
    file.write_text(json.dumps(schema))
    return str(file)


# -- read ------------------------------------------------------------------------------------------


def test_subjects_are_listed(run: Line, subject: str) -> None:
    assert subject in run("list-subjects").lines
    assert run("list-subjects", f"{subject[:-6]}*").lines == [subject]
    assert run("list-subjects", f"/{subject}/").lines == [subject]
    (row,) = run("list-subjects", subject, "--output", "json").json
    assert (row["name"], row["version"], row["type"], row["deleted"]) == (subject, 2, "AVRO", False)
    none = run("list-subjects", "nosuch*")
    assert (none.status, none.stdout) == (0, "")


def test_schema_is_described(run: Line, subject: str) -> None:
    (row,) = run("describe-schema", subject, "--output", "json").json
    assert (row["version"], row["versions"], json.loads(row["schema"])) == (2, [1, 2], TWO)
    (row,) = run("describe-schema", subject, "--version", "1", "--output", "json").json
    assert json.loads(row["schema"]) == ONE
    page = run("describe-schema", subject).stdout
    assert f"subject {subject}" in page and '      "name": "y",' in page
    diff = run("describe-schema", subject, "--diff", "1").stdout
    assert '+      "name": "y",' in diff and '-      "name"' not in diff


def test_wrong_names_have_a_hint(run: Line, subject: str) -> None:
    for command in ("describe-schema", "delete-schema"):
        wrong = run(command, subject[:-1])
        assert wrong.status == 1 and f"Did you mean {subject}?" in wrong.stderr, str(wrong)
    wrong = run("describe-schema", subject, "--version", "7")
    assert wrong.status == 1 and "versions: 1,2" in wrong.stderr
    assert run("describe-schema", subject, "--version", "many").status == 2


HOSTILE = [
    "a/b c", "a,b", "/r/", "*", "-x", "--yes", "a%2Fb", "a?b#c", "\x1b[31mred", "ü\u202ex", "...",
]  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_any_name_is_a_subject(run: Line, tmp_path: Path, name: str) -> None:
    name = f"{name}{uuid4().hex[:6]}"
    made = run("register-schema", f"--subject={name}", written(ONE, tmp_path), "--yes")
    assert made.status == 0, str(made)
    listed = [row.get("name") for row in run("list-subjects", "--output", "json").json]
    assert name in listed
    (row,) = run("describe-schema", f"--subject={name}", "--output", "json").json
    assert row["subject"] == name
    assert "\x1b" not in run("list-subjects").stdout
    gone = run("delete-schema", f"--subject={name}", "--yes")
    assert gone.status == 0, str(gone)
    assert name not in [row.get("name") for row in run("list-subjects", "--output", "json").json]


# -- change ----------------------------------------------------------------------------------------


def test_compatibility_is_altered_and_undone(run: Line, registry: Registry, subject: str) -> None:
    def level() -> str:
        url = f"{registry.url}/config/{subject}"
        found: str = requests.get(url, timeout=10).json()["compatibilityLevel"]
        return found

    before = level()
    dry = run("alter-compatibility", subject, "FULL", "--dry-run")
    assert f"{before} -> FULL" in dry.stdout and level() == before
    asked = run("alter-compatibility", subject, "FULL")
    assert asked.status == 2 and "--yes" in asked.stderr and level() == before
    assert run("alter-compatibility", subject, "FULL", "--yes").status == 0 and level() == "FULL"
    again = run("alter-compatibility", subject, "FULL", "--yes")
    assert again.status == 0 and "altered" not in again.stdout
    undone = run("undo", "--yes")
    assert undone.status == 0 and level() == before, str(undone)
    run("alter-compatibility", subject, "FULL", "--yes")
    assert run("alter-compatibility", subject, "--inherit", "--yes").status == 0
    assert level() == before


def test_deleted_versions_are_restored(
    run: Line, kafka: Program, cluster: Cluster, registry: Registry, subject: str
) -> None:
    topic = make_topic(cluster, subject.removesuffix("-value"))
    write = run("write-record", topic, '{"x":1,"y":2}', "--value-format", "avro")
    assert write.status == 0, str(write)
    before = texts(registry, subject)
    plan = run("delete-schema", subject, "--dry-run").stdout
    assert "version 1: ID" in plan and "version 2: ID" in plan and topic in plan
    assert run("delete-schema", subject).status == 2
    assert versions(registry, subject) == [1, 2]
    gone = run("delete-schema", subject, "--yes")
    assert gone.status == 0 and versions(registry, subject) == [], str(gone)
    assert '"x":1' in run("peek", topic).stdout, "records can still be decoded"
    (row,) = [
        row
        for row in run("list-subjects", "--deleted", "--output", "json").json
        if row.get("name") == subject
    ]
    assert row["deleted"]
    undone = run("undo", "--yes")
    assert undone.status == 0 and texts(registry, subject) == before, str(undone)
    newest = max(versions(registry, subject))
    assert run("delete-schema", subject, "--version", "latest", "--yes").status == 0
    assert newest not in versions(registry, subject)


def test_deleted_subject_is_restored_with_its_level(
    run: Line, registry: Registry, subject: str
) -> None:
    before = texts(registry, subject)
    run("alter-compatibility", subject, "FULL", "--yes")
    assert "FULL" in run("delete-schema", subject, "--dry-run").stdout
    assert "FULL" not in run("delete-schema", subject, "--version", "1", "--dry-run").stdout
    gone = run("delete-schema", subject, "--yes")
    assert gone.status == 0 and versions(registry, subject) == [], str(gone)
    assert "FULL" not in gone.stdout, "the registry keeps it"
    entry = run("journal", "--last", "1").stdout.split()[0]
    assert "FULL (kept by the registry)" in run("journal", entry).stdout
    undone = run("undo", "--yes")
    assert undone.status == 0 and texts(registry, subject) == before, str(undone)
    url = f"{registry.url}/config/{subject}"
    assert requests.get(url, timeout=10).json()["compatibilityLevel"] == "FULL"


def test_old_version_is_restored_as_the_newest(run: Line, registry: Registry, subject: str) -> None:
    assert "newest" not in run("delete-schema", subject, "--version", "2", "--dry-run").stdout
    gone = run("delete-schema", subject, "--version", "1", "--yes")
    assert gone.status == 0 and "newest" in gone.stderr, str(gone)
    undone = run("undo", "--yes")
    assert undone.status == 0 and "newest" in undone.stdout + undone.stderr, str(undone)
    assert json.loads(texts(registry, subject)[-1]) == ONE


def test_permanent_deletion_is_irreversible(run: Line, registry: Registry, subject: str) -> None:
    run("delete-schema", subject, "--version", "1", "--yes")
    plan = run("delete-schema", subject, "--permanent", "--dry-run").stdout
    assert plan.count("irreversible") == 2 and "undo:" not in plan
    run_ = run("delete-schema", subject, "--permanent", "--yes")
    assert run_.status == 0 and versions(registry, subject, "?deleted=true") == [], str(run_)
    assert run("undo", "--yes").status == 1


def test_schema_of_a_file_is_registered_and_deleted(
    run: Line, registry: Registry, tmp_path: Path, subject: str
) -> None:
    name = f"{subject}-new"
    file = written(ONE, tmp_path)
    assert run("register-schema", name, file, "--yes").status == 0
    assert versions(registry, name) == [1]
    same = run("register-schema", name, file, "--yes")
    assert same.status == 0 and "nothing to change" in same.stderr
    assert run("undo", "--yes").status == 0
    assert versions(registry, name) == []
    run("alter-compatibility", subject, "BACKWARD", "--yes")
    refused = run("register-schema", subject, written(OTHER, tmp_path), "--yes")
    assert refused.status == 1 and "compatible" in refused.stderr
    assert run("register-schema", subject, "--id", "999999", "--yes").status == 1
    assert versions(registry, subject) == [1, 2]


def test_state_file_has_subjects(
    run: Line, kafka: Program, registry: Registry, tmp_path: Path, subject: str
) -> None:
    new, folder = f"{subject}-state", tmp_path / "state"
    folder.mkdir()
    written(ONE, folder)
    file = folder / "state.json"

    def state(**subjects: object) -> str:
        scope = {"subjects": [f"{subject}*"]}
        file.write_text(json.dumps({"version": 1, "scope": scope, "subjects": subjects}))
        return str(file)

    given = {"file": "schema.avsc", "compatibility": "FULL"}
    both = {subject: {"schema": json.dumps(OTHER)}, new: given}
    name = state(**both)
    assert run("diff", name).status == 1
    assert run("apply", name, "--yes").status == 0
    assert (versions(registry, subject), versions(registry, new)) == ([1, 2, 3], [1])
    same = run("diff", name)
    assert same.status == 0, str(same)
    exported = run("export", "--only", "subjects", "--output", "json").json["subjects"][new]
    assert json.loads(exported["schema"]) == ONE and exported["compatibility"] == "FULL"
    gone = run("apply", state(**{subject: both[subject]}), "--prune", "--yes")
    assert gone.status == 0 and versions(registry, new) == [], str(gone)
    assert run("undo", "--yes").status == 0
    assert len(versions(registry, new)) == 1
    without = kafka("diff", name)
    assert without.status == 1 and "schema.registry.url" in without.stdout, str(without)
    for wrong in ({}, {"schema": "{"}, {"schema": '"int"', "type": "XML"}):
        assert run("apply", state(**{subject: wrong})).status == 2


def applied(run: Line, folder: Path, subject: str, schema: object, **fields: object) -> Run:
    """Apply a state file with this subject."""
    content = {"schema": json.dumps(schema), **fields}
    name = written({"version": 1, "subjects": {subject: content}}, folder, "state.json")
    return run("apply", name, "--yes")


def test_older_version_cannot_become_the_newest(
    run: Line, registry: Registry, tmp_path: Path, subject: str
) -> None:
    older = applied(run, tmp_path, subject, ONE)
    assert older.status == 1 and "version 1 already" in older.stderr, str(older)
    assert versions(registry, subject) == [1, 2]


def test_level_of_a_file_applies_to_its_schema(
    run: Line, registry: Registry, tmp_path: Path, subject: str
) -> None:
    run("alter-compatibility", subject, "FULL", "--yes")
    refused = applied(run, tmp_path, subject, OTHER, compatibility="BACKWARD")
    assert refused.status == 1 and versions(registry, subject) == [1, 2], str(refused)
    laxer = applied(run, tmp_path, subject, OTHER, compatibility="NONE")
    assert laxer.status == 0 and versions(registry, subject) == [1, 2, 3], str(laxer)
    stricter = applied(run, tmp_path, subject, TWO | {"name": "B"}, compatibility="FULL")
    assert stricter.status == 0 and versions(registry, subject) == [1, 2, 3, 4], str(stricter)
    (row,) = run("list-subjects", subject, "--output", "json").json
    assert row["compatibility"] == "FULL"


def test_apply_deletes_subjects_last(run: Line, tmp_path: Path, subject: str) -> None:
    content = {"version": 1, "scope": {"subjects": [subject]}, "subjects": {}}
    quotas = {f"client-id {subject}": {"producer_byte_rate": 1}}
    name = written({**content, "quotas": quotas}, tmp_path, "state.json")
    plan = run("apply", name, "--prune", "--dry-run", "--output", "json").json
    kinds = [change["resource"].split()[0] for change in plan["changes"]]
    assert kinds == ["client-id", "subject", "subject"], plan
    assert any("can still be decoded" in note for note in plan["notes"])


def test_what_changes_while_it_is_asked_is_not_deleted(
    registry: Registry, kafka: Program, tmp_path: Path, subject: str
) -> None:
    class Meanwhile(list[str]):
        def append(self, question: str) -> None:
            registry.register(subject, OTHER)

    shell = Shell(tmp_path, kafka.broker, asked=Meanwhile())
    url = f"--adminclient-property schema.registry.url={registry.url}"
    answer = shell(f"delete-schema {subject} {url}", answer="y")
    assert answer.status == 1 and "nothing was changed" in answer.err, str(answer)
    assert versions(registry, subject) == [1, 2, 3]


# -- a registry that fails -------------------------------------------------------------------------


class Failing:
    """A registry that responds to every request with the same status and body, or never."""

    def __init__(self) -> None:
        self.status, self.body, self.released = 500, b"", Event()
        self.subjects: list[str] = []
        registry = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                if registry.status == 0:
                    registry.released.wait(60)
                    return
                lists = registry.subjects and self.path.startswith("/subjects?")
                lists = lists or (registry.subjects and self.path == "/subjects")
                level = registry.subjects and self.path == "/config"
                body = json.dumps(registry.subjects).encode() if lists else registry.body
                body = b'{"compatibilityLevel":"FULL"}' if level else body
                self.send_response(200 if lists or level else registry.status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            do_PUT = do_DELETE = do_POST = do_GET  # noqa: N815

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self.released.set()
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def failing() -> Iterator[Failing]:
    server = Failing()
    yield server
    server.close()


LINES = (
    ("list-subjects",),
    ("describe-schema", "s"),
    ("alter-compatibility", "s", "FULL", "--yes"),
    ("alter-compatibility", "--default", "FULL", "--yes"),
    ("register-schema", "s", "--id", "1", "--yes"),
    ("delete-schema", "s", "--yes"),
)


@pytest.mark.parametrize(
    ("status", "body", "code", "said"),
    [
        (401, b"", 3, "does not accept the credentials (HTTP 401)"),
        (403, b'{"error_code":403,"message":"no"}', 3, "does not authorize the request (HTTP 403)"),
        (404, b"<html>", 1, "is not"),
        (409, b'{"message":"busy"}', 1, "409"),
        (500, b"<html><h1>\x1b[31mOops</h1></html>", 3, "HTTP 500"),
        (200, b"<html>", 3, "not a response of a schema registry"),
    ],
)
def test_failures_are_told(
    kafka: Program, failing: Failing, status: int, body: bytes, code: int, said: str
) -> None:
    failing.status, failing.body = status, body
    for line in LINES:
        run = on(kafka, failing.url)(*line)
        assert (run.status, said in run.stderr) == (code, True), str(run)
        assert "\x1b" not in run.stderr and not run.stdout


def test_registry_that_hangs_or_is_down(kafka: Program, failing: Failing) -> None:
    failing.status = 0
    hanging = on(kafka, failing.url)("--deadline", "1s", "list-subjects")
    assert hanging.status == 3 and "no response within" in hanging.stderr, str(hanging)
    down = on(kafka, "http://127.0.0.1:1")("delete-schema", "s", "--yes")
    assert down.status == 3 and "127.0.0.1:1" in down.stderr, str(down)
    none = kafka("list-subjects")
    assert none.status == 2 and "schema.registry.url" in none.stderr, str(none)


def test_failure_of_each_subject_is_told(kafka: Program, failing: Failing) -> None:
    failing.subjects, failing.status = [f"s{number}" for number in range(30)], 500
    run = on(kafka, failing.url)("list-subjects", "--output", "json")
    assert run.status == 1, str(run)
    assert len(run.json) == 30 and all(row["error"] for row in run.json), run.stdout
