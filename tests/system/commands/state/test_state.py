"""export, diff and apply on real clusters."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import chdir
from pathlib import Path
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kafka_shell.sandbox.cluster import start, wipe
from kafka_shell.sandbox.jars import no_report
from kafka_shell.sandbox.session import start_with_data
from kafka_shell.sandbox.state import Sandbox, SandboxOptions
from tests.support.program import Program
from tests.support.waiting import wait_for


def _admin(sandbox: Sandbox, home: Path) -> Program:
    file = sandbox.client_properties["admin-sasl-plaintext"]
    home.mkdir(exist_ok=True)
    config = home / "config" / "config.toml"
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text(f'default = "it"\n[profiles.it]\ncommand-config = "{file}"\n')
    return Program(home)


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    """A secure cluster with the demo company: every kind of resource."""
    folder = tmp_path_factory.mktemp("source")
    try:
        sandbox = start_with_data(SandboxOptions(folder, port=0, secure=True), no_report)
        program = _admin(sandbox, tmp_path_factory.mktemp("home"))
        program.ok(
            "alter-client-configs", "--user", "alice", "--client-id", "app", "acks=all", "--yes"
        )
        program.ok(
            "alter-quotas", "--user", "al, ice", "--client-id", "x y", "request_percentage=1"
        )
        program.ok("alter-acls", "--add", "allow 'User:a b,c' Read,Describe on topic 'x'")
        yield program
    finally:
        wipe(folder)


def _without_data(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    folder = tmp_path_factory.mktemp("target")
    try:
        sandbox = start(SandboxOptions(folder, "4.3", 1, port=0, secure=True))
        yield _admin(sandbox, tmp_path_factory.mktemp("home"))
    finally:
        wipe(folder)


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    """A secure cluster, which the tests change."""
    yield from _without_data(tmp_path_factory)


@pytest.fixture
def empty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    """A secure cluster without topics."""
    yield from _without_data(tmp_path_factory)


@pytest.fixture
def state(tmp_path: Path) -> Callable[[str], str]:
    """A state file with this text."""

    def write(text: str) -> str:
        path = tmp_path / "state.yaml"
        path.write_text(f"version: 1\n{text}")
        return str(path)

    return write


@pytest.fixture
def name() -> str:
    return f"st-{uuid4().hex[:8]}"


def with_passwords(exported: str) -> str:
    """The export with a password file for every user."""
    rows = []
    for row in exported.splitlines():
        rows.append(row)
        if row.strip().startswith("iterations:"):
            rows.append(row[: row.index("iterations")] + "password_file: pw")
    return "\n".join(rows) + "\n"


def test_a_cluster_is_exported_applied_to_another_one_and_exported_again(
    source: Program, empty: Program, tmp_path: Path
) -> None:
    first = source.ok("export")
    assert source.ok("export").stdout == first.stdout, "the same state gives the same bytes"
    for kind in ("topics", "acls", "quotas", "users", "client_configs", "broker_configs",
                 "client_metrics", "group_configs"):  # fmt: skip
        assert f"\n{kind}:\n" in first.stdout, f"no {kind} in the export"
    file = tmp_path / "state.yaml"
    file.write_text(with_passwords(first.stdout))
    (tmp_path / "pw").write_text("pa55word-of-nobody\n")
    applied = empty.ok("apply", str(file), "--yes")
    assert "pa55word" not in applied.stdout + applied.stderr
    assert empty.ok("export").stdout == first.stdout
    again = empty.ok("apply", str(file))
    assert (again.stdout, again.stderr) == ("", "nothing to change\n")
    same = empty.ok("diff", str(file))
    assert same.stdout.startswith("no differences between cluster it and")


def test_a_folder_by_kind_and_by_prefix_is_the_same_state(source: Program, tmp_path: Path) -> None:
    for name in (f"{tmp_path}/outside", "*"):
        source.ok("alter-acls", "--add", f"allow User:carol Read on topic '{name}'", "--yes")
    whole = tmp_path / "whole.yaml"
    whole.write_text(source.ok("export").stdout)
    for by in ("kind", "prefix"):
        folder = tmp_path / by
        written = source.ok("export", "--directory", str(folder), "--by", by).lines
        assert sorted(written) == sorted(map(str, folder.iterdir()))
        equal = source.ok("diff", str(folder), str(whole))
        assert equal.lines == [f"no differences between {folder} and {whole}"]
    assert (tmp_path / "prefix" / "payments.yaml").exists()
    assert (
        not (tmp_path / "outside.yaml").exists() and not (tmp_path / "prefix" / "*.yaml").exists()
    )
    (tmp_path / "kind" / "old.yaml").write_text("version: 1")
    refused = source("export", "--directory", str(tmp_path / "kind"))
    assert refused.status == 2 and "contains other state files: old.yaml" in refused.stderr


def test_a_prefix_that_is_gone_is_gone_from_the_folder(source: Program, tmp_path: Path) -> None:
    """Only a file that an export wrote is deleted, and only by an export of everything."""
    folder, export = (
        tmp_path / "f",
        ("export", "--directory", str(tmp_path / "f"), "--by", "prefix"),
    )
    source.ok("create-topic", "zebra.one", "--config", "retention.ms=1d")
    source.ok(*export)
    assert (folder / "zebra.yaml").exists()
    source.ok("delete-topic", "zebra.one", "--yes")
    narrow = source(*export, "--only", "topics")
    assert narrow.status == 2 and "contains other state files: " in narrow.stderr
    assert "zebra.yaml" in narrow.stderr
    exported = source.ok(*export)
    assert f"{folder}/zebra.yaml was deleted" in exported.stderr
    assert not (folder / "zebra.yaml").exists()
    source.ok("diff", str(folder))
    (folder / "zebra.yaml").write_text("version: 1  # mine\ntopics: {zebra.two: {partitions: 1}}\n")
    mine = source(*export)
    assert mine.status == 2 and (folder / "zebra.yaml").exists()


def test_an_incomplete_export_replaces_no_file(source: Program, tmp_path: Path) -> None:
    """alice may not read everything; the files of the administrator's export stay."""
    folder = tmp_path / "f"
    written = source.ok("export", "--directory", str(folder)).lines
    before = {each: Path(each).read_text() for each in written}
    run = _as_alice(source, tmp_path / "home")("export", "--directory", str(folder))
    assert run.status == 1, str(run)
    assert {each: Path(each).read_text() for each in written} == before
    assert all(each.endswith(".partial") for each in run.lines), run.lines
    assert "not replaced: topics.yaml, acls.yaml" in run.stderr, str(run)
    assert source.ok("export", "--directory", str(folder)).lines == written


def test_json_is_the_same_state(source: Program, tmp_path: Path) -> None:
    file = tmp_path / "state.json"
    file.write_text(source.ok("export", "--output", "json").stdout)
    assert source("diff", str(file)).status == 0


def test_some_topics_are_exported_with_their_acls_and_as_scope(source: Program) -> None:
    text = source.ok("export", "payments.*", "--with-assignments").stdout
    assert "scope:\n  topics: [payments.*]\n" in text
    assert "payments.captured:" in text and "orders.placed" not in text
    assert "prefixed topic payments.:" in text and "prefixed topic orders." not in text
    assert "replica_assignment: '1" in text or "replica_assignment: 1" in text
    assert "users:" not in text


def test_acls_on_all_topics_are_noted_in_an_export_of_some(target: Program, name: str) -> None:
    """They apply to the exported topics as well: without them, a copy has other permissions."""
    target.ok("create-topic", name)
    rule = f"User:{name} Read,Write on topic '*'"
    target.ok("alter-acls", "--add", f"deny {rule}")
    try:
        run = target.ok("export", name)
        note = r"[2-9] ACLs on topic \* also apply to these topics and are not exported"
        assert re.search(note, run.stderr), str(run)
        assert f"User:{name}" not in run.stdout
        for words in ((), (name, "--only", "topics")):
            assert "also apply" not in target.ok("export", *words).stderr
    finally:
        target.ok("alter-acls", "--remove", f"deny {rule}", "--yes")
        target.ok("delete-topic", name, "--yes")


def test_acls_of_some_topics_have_no_scope_that_deletes_the_topics(
    source: Program, tmp_path: Path
) -> None:
    file = tmp_path / "acls.yaml"
    file.write_text(source.ok("export", "payments.*", "--only", "acls").stdout)
    assert "topic payments." in file.read_text()
    plan = source.ok("apply", str(file), "--prune", "--dry-run").stdout
    assert plan == "nothing to change\n"
    refused = source("export", "payments.*", "--only", "acls,quotas")
    assert refused.status == 2 and "quotas cannot be exported by topic" in refused.stderr


@pytest.mark.parametrize("by", [None, "kind", "prefix"])
def test_an_export_of_everything_covers_what_is_added_since(
    target: Program, tmp_path: Path, name: str, by: str | None
) -> None:
    target.ok("create-topic", f"__{name}")
    file = tmp_path / "state"
    if by is None:
        file = file.with_suffix(".yaml")
        file.write_text(target.ok("export", "--exclude-internal").stdout)
        assert "scope:\n  topics: ['*']\n  acls: ['*']\n  quotas: ['*']\n" in file.read_text()
    else:
        target.ok("export", "--directory", str(file), "--by", by)
    assert target.ok("diff", str(file)).stdout.startswith("no differences")
    target.ok("create-topic", f"{name}.new", f"__{name}.new")
    target.ok("alter-acls", "--add", f"allow User:bob Read on group {name}")
    target.ok("alter-quotas", "--user", name, "producer_byte_rate=1MB/s")
    target.ok("scram-credentials", "--username", name, "--add", "SCRAM-SHA-256", "--generate")
    run = target("diff", str(file))
    assert run.status == 1, run
    for added in (f"- topic {name}.new", f"- ACL allow User:bob Read on group {name}",
                  "- producer_byte_rate: 1MB/s -> (removed)", "- SCRAM-SHA-256: 4096"):  # fmt: skip
        assert added in run.stdout, run
    assert "__" not in run.stdout, "internal topics are never pruned"
    refused = target("apply", str(file), "--prune")
    assert refused.status == 2 and "confirmation is required" in refused.stderr
    assert f"- topic {name}.new" in refused.stderr
    target.ok("apply", str(file), "--prune", "--yes")
    assert target.ok("diff", str(file)).stdout.startswith("no differences")
    assert f"__{name}.new" in target.ok("list-topics").lines


def test_an_export_of_some_kinds_covers_these_kinds(target: Program) -> None:
    text = target.ok("export", "--only", "acls,users").stdout
    assert text.startswith("version: 1\n\nscope:\n  acls: ['*']\n  users: ['*']\n")


def test_a_kind_that_could_not_be_read_completely_is_not_covered(
    source: Program, tmp_path: Path
) -> None:
    """alice may DESCRIBE all topics, and DESCRIBE_CONFIGS of orders.* only."""
    run = _as_alice(source, tmp_path / "home")("export")
    assert run.status == 1 and "orders.placed:" in run.stdout
    scope = run.stdout[: run.stdout.index("\ntopics:")]
    assert "topics" not in scope and "quotas" not in scope
    assert "not in the scope of the export, because not read completely: topics" in run.stderr
    file = tmp_path / "partial.yaml"
    file.write_text(run.stdout)
    plan = source.ok("apply", str(file), "--prune", "--dry-run").stdout
    assert "- topic" not in plan


def test_a_difference_is_shown_like_a_plan_and_as_data(
    target: Program, state: Callable[[str], str], name: str
) -> None:
    options = ("--config", "retention.ms=7d", "--config", "segment.bytes=1GiB")
    target.ok("create-topic", name, "--partitions", "2", *options)
    file = state(
        f"topics:\n  {name}: {{partitions: 3, configs: {{retention.ms: 30d}}}}\n"
        f"  {name}.new: {{partitions: 1}}\n"
    )
    run = target("diff", file)
    assert run.status == 1
    assert run.lines == [
        "--- cluster it", f"+++ {file}", f"topic {name}", "  partitions: 2 -> 3",
        "  retention.ms: 7d -> 30d", f"+ topic {name}.new: 1 partition",
        f"only on the cluster, outside the scope of the file: topic {name}: segment.bytes",
        "3 differences in 2 topics: 1 created, 2 altered",
    ]  # fmt: skip
    rows = target("diff", file, "--output", "json").json["changes"]
    assert [(row["field"], row["before"], row["after"]) for row in rows][:2] == [
        ("partitions", 2, 3), ("retention.ms", "604800000", "2592000000")
    ]  # fmt: skip
    assert target("diff", file, "--output", "csv").lines == [
        "resource,verb,field,before,after,status,error,message",
        f"topic {name},alter,partitions,2,3,differs,,",
        f"topic {name},alter,retention.ms,604800000,2592000000,differs,,",
        f"topic {name}.new,create,,,1 partition,differs,,",
        f"topic {name},alter,segment.bytes,1073741824,,out of scope,,",
    ]
    plan = target.ok("apply", file, "--dry-run").stdout
    assert "partitions: 2 -> 3" in plan and f"+ topic {name}.new: 1 partition" in plan
    done = target.ok("apply", file)
    assert "may go to another partition" in done.stderr
    assert target("diff", file).status == 0


def test_fewer_partitions_are_refused_and_nothing_is_sent(
    target: Program, state: Callable[[str], str], name: str
) -> None:
    target.ok("create-topic", name, "--partitions", "3")
    file = state(f"topics:\n  {name}: {{partitions: 2}}\n  {name}.new: {{partitions: 1}}\n")
    run = target("apply", file)
    assert run.status == 1
    assert f"topic {name} already has 3 partitions" in run.stderr
    assert f"{name}.new" not in target.ok("list-topics").lines
    for fields in ("{partitions: 2, replication_factor: 1}", "{replica_assignment: '1,1'}"):
        run = target("apply", state(f"topics: {{{name}: {fields}}}\n"), "--reassign")
        assert run.status == 1 and f"topic {name} already has 3 partitions" in run.stderr
    run = target("apply", state(f"topics: {{{name}: {{replication_factor: 9}}}}\n"))
    assert f"topic {name}: replication factor 9 requires 9 brokers, only 1" in run.stderr


def test_other_replicas_are_refused_without_reassign(
    target: Program, state: Callable[[str], str], name: str
) -> None:
    target.ok("create-topic", name, "--partitions", "2")
    file = state(f"topics:\n  {name}: {{replica_assignment: '1,2'}}\n")
    run = target("apply", file)
    assert run.status == 1 and "Add --reassign to move them" in run.stderr
    assert target("apply", file, "--reassign").status == 1  # there is no broker 2


def test_prune_deletes_within_the_scope_only(
    target: Program, state: Callable[[str], str], name: str
) -> None:
    for topic in (f"{name}.keep", f"{name}.old", f"other-{name}"):
        target.ok("create-topic", topic, "--partitions", "1", "--config", "retention.ms=1d")
    target.ok("alter-acls", "--topic", f"{name}.keep", "--add", "allow User:bob Read")
    target.ok("alter-quotas", "--user", name, "producer_byte_rate=1MB/s", "request_percentage=5")
    text = (
        f"topics: {{'{name}.keep': {{partitions: 1}}}}\n"
        f"acls: {{'topic {name}.keep': [allow User:bob Write]}}\n"
        f"quotas: {{user {name}: {{producer_byte_rate: 1MB/s}}}}\n"
    )
    scope = f"scope: {{topics: ['{name}.*'], acls: ['topic {name}.*'], quotas: ['user {name}']}}\n"
    file = state(text)
    without = target.ok("apply", file, "--prune", "--yes")
    assert "the file has no scope: --prune deletes nothing" in without.stderr
    file = state(scope + text)
    target.ok("apply", file)
    assert f"{name}.old" in target.ok("list-topics").lines, "deletes only with --prune"
    refused = target("apply", file, "--prune")
    assert refused.status == 2 and "confirmation is required" in refused.stderr
    target.ok("apply", file, "--prune", "--yes")
    topics = target.ok("list-topics").lines
    assert f"{name}.old" not in topics
    assert {f"{name}.keep", f"other-{name}"} <= set(topics)
    assert "retention.ms" not in target.ok("export", f"{name}.keep").stdout
    assert target("diff", file).status == 0
    assert target.ok("apply", file, "--prune", "--yes").stderr == "nothing to change\n"


def test_prune_asks_though_nothing_is_destroyed(
    target: Program, state: Callable[[str], str], name: str
) -> None:
    target.ok("alter-quotas", "--user", name, "producer_byte_rate=1MB/s", "request_percentage=5")
    file = state(
        f"scope: {{quotas: [user {name}]}}\n"
        f"quotas: {{user {name}: {{producer_byte_rate: 1MB/s}}}}\n"
    )
    refused = target("apply", file, "--prune")
    assert refused.status == 2 and "confirmation is required" in refused.stderr
    target.ok("apply", file, "--prune", "--yes")
    assert target("diff", file).status == 0


def test_users_are_created_with_a_password_only(
    target: Program, state: Callable[[str], str], name: str
) -> None:
    file = state(f"users:\n  {name}: {{SCRAM-SHA-512: {{iterations: 8192}}}}\n")
    run = target("apply", file)
    assert run.status == 1
    assert "Add password_file: FILE or generate: true to the file." in run.stderr
    file = state(f"users:\n  {name}: {{SCRAM-SHA-512: {{iterations: 8192, generate: true}}}}\n")
    lost = target("apply", file, "--output", "json")
    assert lost.status == 2 and "cannot be printed as JSON" in lost.stderr
    shown = target.ok("apply", file)
    assert f"password of user {name}" in shown.stdout
    assert target.ok("apply", file).stderr == "nothing to change\n"
    more = state(f"users:\n  {name}: {{SCRAM-SHA-512: {{iterations: 4096}}}}\n")
    left = target.ok("apply", more)
    assert "only a new password" in left.stderr and "nothing to change" in left.stderr


def test_a_generated_password_is_shown_however_long_the_plan_is(
    target: Program, state: Callable[[str], str], name: str
) -> None:
    topics = "".join(f"  {name}.{number}: {{partitions: 1}}\n" for number in range(120))
    file = state(f"topics:\n{topics}users:\n  {name}: {{SCRAM-SHA-256: {{generate: true}}}}\n")
    assert f"password of user {name}" in target.ok("apply", file).stdout


def test_a_bad_value_is_refused_with_its_place(
    target: Program, state: Callable[[str], str], name: str
) -> None:
    target.ok("create-topic", f"{name}.other")  # the configs of topics are read from a topic
    file = state(f"topics:\n  {name}: {{configs: {{retention.mss: 1}}}}\n")
    run = target("apply", file)
    assert run.status == 1
    assert f"{file}:3:{len(name) + 31}: topic {name}" in run.stderr
    assert "retention.ms" in run.stderr


def test_a_bad_value_of_a_topic_that_exists_is_refused_with_its_place(
    target: Program, state: Callable[[str], str], name: str
) -> None:
    target.ok("create-topic", name)
    file = state(f"topics:\n  {name}: {{configs: {{min.insync.replicas: many}}}}\n")
    run = target("apply", file)
    assert run.status == 1
    place = f"{file}:3:{len(name) + 37}"
    assert f"{place}: topic {name}: min.insync.replicas must be an integer" in run.stderr


def test_what_a_terminal_would_interpret_is_escaped(
    target: Program, state: Callable[[str], str], name: str
) -> None:
    hostile = f"{name}\u202e\x1b[31m"
    target.ok("alter-quotas", "--user", hostile, "producer_byte_rate=1MB/s")
    for output in ("yaml", "json"):
        text = target.ok("export", "--only", "quotas", "--output", output).stdout
        assert "\u202e" not in text and "\x1b" not in text
        file = Path(state("")).with_suffix(f".{output}")
        file.write_text(text)
        assert target("diff", str(file)).status == 0, text


def test_a_scope_of_several_selectors_is_a_list(target: Program, name: str) -> None:
    target.ok("create-topic", f"{name}.a", f"{name}.b")
    text = target.ok("export", f"{name}.a,{name}.b", "--only", "topics").stdout
    assert f"scope:\n  topics: [{name}.a, {name}.b]\n" in text


def _as_alice(admin: Program, home: Path) -> Program:
    """The cluster of the administrator as a user with few rights."""
    config = (admin.home / "config" / "config.toml").read_text()
    (home / "config").mkdir(parents=True)
    (home / "config" / "config.toml").write_text(config.replace("admin-sasl", "alice-sasl"))
    return Program(home)


def test_topics_that_cannot_be_read_are_not_pruned_by_their_export(
    source: Program, tmp_path: Path
) -> None:
    """alice may DESCRIBE all topics, and DESCRIBE_CONFIGS of orders.* only."""
    alice = _as_alice(source, tmp_path / "home")
    run = alice("export", "orders.*,payments.*")
    assert run.status == 1 and "orders.placed:" in run.stdout
    assert "payments." not in run.stdout
    assert "no scope was written" in run.stderr
    file = tmp_path / "partial.yaml"
    file.write_text(run.stdout)
    assert "nothing to change" in source.ok("apply", str(file), "--prune").stderr


def test_topics_that_are_hidden_are_not_pruned_by_an_export_either(
    source: Program, tmp_path: Path
) -> None:
    """Brokers leave topics that alice may not DESCRIBE out of the list."""
    alice = _as_alice(source, tmp_path / "home")
    denied = "deny User:alice Describe on topic orders.shipped"
    source.ok("alter-acls", "--add", denied, "--yes")
    try:
        _await_hidden(alice)
        run = alice("export", "orders.*", "--only", "topics")
        assert run.status == 1 and "without DESCRIBE permission" in run.stderr + run.stdout, run
        assert "no scope was written" in run.stderr and "orders.shipped" not in run.stdout
        file = tmp_path / "partial.yaml"
        file.write_text(run.stdout)
        assert "nothing to change" in source.ok("apply", str(file), "--prune").stderr
        file.write_text(source.ok("export", "orders.*", "--only", "topics").stdout)
        compared = alice("diff", str(file))
        assert compared.status == 1 and "created" not in compared.stdout, compared
        assert "orders.shipped" in compared.stdout, compared
        source.ok("alter-acls", "--add", "allow User:alice Describe on cluster")
        named = alice("export", "orders.*", "--only", "topics")
        assert named.status == 1 and "orders.shipped" in named.stderr, named
        assert "no scope was written" in named.stderr
    finally:
        source.ok("alter-acls", "--remove", denied, "--yes")
        source("alter-acls", "--remove", "allow User:alice Describe on cluster", "--yes")


def _await_hidden(alice: Program) -> None:
    wait_for(
        "the ACL has an effect",
        lambda: "orders.shipped" not in alice.ok("list-topics", "orders.*").stdout,
    )


def test_many_resources_without_rights_are_one_error(source: Program, tmp_path: Path) -> None:
    alice = _as_alice(source, tmp_path / "home")
    exported = alice("export", "--only", "topics")
    assert exported.status == 1
    assert exported.stderr.count("(TOPIC_AUTHORIZATION_FAILED)") == 1, exported.stderr
    assert "web.sessions" in exported.stderr
    file = tmp_path / "topics.yaml"
    whole = source.ok("export", "--only", "topics").stdout
    file.write_text(whole.replace("scope:\n  topics: ['*']\n", ""))  # or topics may be hidden, too
    compared = alice("diff", str(file))
    assert compared.stdout.count("TOPIC_AUTHORIZATION_FAILED") == 1, compared.stdout
    assert "web.sessions" in compared.stdout and " more topics: " in compared.stdout
    first = compared.stdout.splitlines()[0]
    assert first.count("topic __c") == 1, "the resource is named once"
    applied = alice("apply", str(file))
    first = next(line for line in applied.stderr.splitlines() if line.startswith("error:"))
    assert first.startswith("error: topic __c") and "others as well)" in first


def test_what_stays_without_prune_is_named(
    target: Program, state: Callable[[str], str], name: str
) -> None:
    target.ok("create-topic", f"{name}.a", f"{name}.b", "--config", "retention.ms=1d")
    file = state(f"scope: {{topics: ['{name}.*']}}\ntopics: {{{name}.a: {{}}}}\n")
    run = target.ok("apply", file)
    kept = f"topic {name}.a: retention.ms; topic {name}.b"
    assert f"not in the file (add --prune to delete): {kept}" in run.stderr
    assert "not in the file" not in target.ok("apply", file, "--prune", "--yes").stderr


def test_a_file_may_be_standard_input(target: Program, name: str) -> None:
    text = f"version: 1\ntopics: {{{name}: {{partitions: 2}}}}\n"
    assert f"topic {name}" in target("diff", "-", stdin=text).stdout
    target.ok("apply", "-", stdin=text)
    assert target.ok("describe-topic", name, "--output", "json").json[0]["topic"]["name"] == name
    target.ok("diff", "-", stdin=text)
    user = f"version: 1\nusers: {{{name}: {{SCRAM-SHA-256: {{password_file: nosuch.pw}}}}}}\n"
    missing = target("apply", "-", stdin=user)
    assert "nosuch.pw" in missing.stderr and "/dev/" not in missing.stderr, str(missing)
    wrong = target("apply", "-", stdin="version: 1\ntopcs: {}\n")
    assert wrong.status == 2 and "/dev/stdin:2:1: unknown field 'topcs'" in wrong.stderr, str(wrong)
    script = target(stdin="apply -\n")
    assert script.status == 2 and "standard input, which is the script" in script.stderr


def test_without_rights_nothing_is_passed_off_as_equal(
    source: Program, target: Program, tmp_path: Path
) -> None:
    program = _as_alice(target, tmp_path / "home")
    run = program("export", "--only", "quotas,acls")
    assert run.status == 1
    assert "CLUSTER_AUTHORIZATION_FAILED" in run.stderr
    (tmp_path / "q.yaml").write_text("version: 1\nquotas: {user a: {producer_byte_rate: 1}}\n")
    compared = program("diff", str(tmp_path / "q.yaml"))
    assert compared.status == 1 and "not compared" in compared.stdout
    applied = program("apply", str(tmp_path / "q.yaml"))
    assert applied.status == 1 and "quotas cannot be compared with the file" in applied.stderr


def test_a_kind_that_a_cluster_does_not_have(old_sandbox: Sandbox, tmp_path: Path) -> None:
    old = Program(tmp_path / "home", old_sandbox.bootstrap)
    exported = old.ok("export")
    assert "group_configs" not in exported.stdout and "client_metrics" in exported.stdout
    (tmp_path / "g.yaml").write_text("version: 1\ngroup_configs: {g: {x.ms: 1}}\n")
    run = old("apply", str(tmp_path / "g.yaml"))
    assert run.status == 1 and "group configs cannot be compared with the file" in run.stderr
    compared = old("diff", str(tmp_path / "g.yaml"))
    assert compared.status == 1 and "1 not compared" in compared.stdout


def test_a_profile_is_a_cluster(source: Program, target: Program, tmp_path: Path) -> None:
    config = target.home / "config" / "config.toml"
    other = (source.home / "config" / "config.toml").read_text().split("\n", 1)[1]
    config.write_text(config.read_text() + other.replace("profiles.it", "profiles.src"))
    run = target("diff", "src", "--only", "broker-configs")
    assert run.status in (0, 1) and "src" in run.stdout
    with chdir(tmp_path):
        Path("src").write_text("version: 1\ntopics: {}\n")
        Path("eu.prod").write_text("version: 1\ntopics: {}\n")
        named = config.read_text()
        config.write_text(named.replace("profiles.src", 'profiles."eu.prod"'))
        both = target("diff", "eu.prod")
        assert both.status == 2 and "'eu.prod' is both a profile and a file" in both.stderr
        assert target("diff", "./eu.prod").status == 0
        Path("eu.prod").unlink()
        run = target("diff", "eu.prod", "--only", "broker-configs")
        assert run.status in (0, 1) and "cluster eu.prod" in run.stdout
        config.write_text(named)
        ambiguous = target("diff", "src")
        assert ambiguous.status == 2 and "'src' is both a profile and a file" in ambiguous.stderr
        assert target("diff", "./src").status == 0
    unknown = target("diff", "nosuch")
    assert unknown.status == 2
    assert "'nosuch' is neither a file nor a profile" in unknown.stderr


def test_the_password_of_a_user_that_exists_is_kept(
    target: Program, state: Callable[[str], str], name: str
) -> None:
    add = ("scram-credentials", "--add", "SCRAM-SHA-512", "--iterations", "8192")
    target.ok(*add, "--username", name, "--generate")
    file = state(f"users: {{{name}: {{SCRAM-SHA-512: {{generate: true}}}}}}\n")
    assert target.ok("apply", file).stderr == "nothing to change\n"
    assert target("diff", file).status == 0
    file = state(f"users: {{{name}: {{SCRAM-SHA-512: {{iterations: 4096, generate: true}}}}}}\n")
    assert "only a new password (password_file)" in target.ok("apply", file).stderr
    (Path(file).parent / "pw").write_text("another-one\n")
    file = state(f"users: {{{name}: {{SCRAM-SHA-512: {{iterations: 4096, password_file: pw}}}}}}\n")
    asked = target("apply", file)
    assert asked.status == 2 and "confirmation is required" in asked.stderr


def test_a_scope_with_a_comma_is_one_entity(
    target: Program, state: Callable[[str], str], name: str
) -> None:
    target.ok("alter-quotas", "--user", name, "producer_byte_rate=1MB/s")
    target.ok("alter-quotas", "--user", name, "--client-id", "app", "producer_byte_rate=2MB/s")
    file = state(f"scope: {{quotas: ['user {name}, client-id app']}}\nquotas: {{}}\n")
    plan = target.ok("apply", file, "--prune", "--dry-run").stdout
    assert f"user {name} client-id app" in plan and f"user {name}\n" not in plan


def test_a_star_in_a_scope_is_always_a_glob(
    target: Program, state: Callable[[str], str], name: str
) -> None:
    target.ok("alter-acls", "--add", f"allow User:{name} Read on topic '*'")
    target.ok("alter-acls", "--add", f"allow User:{name} Read on topic {name}")
    file = state("scope: {acls: ['topic *']}\nacls: {}\n")
    plan = target.ok("apply", file, "--prune", "--dry-run").stdout
    assert f"User:{name} Read on topic *" in plan and f"Read on topic {name}" in plan


def test_values_are_equal_as_brokers_understand_them(
    target: Program, state: Callable[[str], str], name: str
) -> None:
    file = state(
        f"topics: {{{name}: {{configs: {{min.cleanable.dirty.ratio: 0.50, "
        "cleanup.policy: 'compact, delete', unclean.leader.election.enable: 'FALSE'}}}\n"
    )
    target.ok("apply", file, "--yes")
    assert target("diff", file).status == 0
    assert target.ok("apply", file).stderr == "nothing to change\n"


def test_files_differ_in_sections_that_only_one_has(target: Program, tmp_path: Path) -> None:
    one, two = tmp_path / "one.yaml", tmp_path / "two.yaml"
    one.write_text("version: 1\ntopics: {a: {}}\n")
    two.write_text("version: 1\ntopics: {a: {}}\nquotas: {user a: {producer_byte_rate: 1}}\n")
    assert target("diff", str(one), str(two)).status == 1
    assert target("diff", str(two), str(one)).status == 1


def test_what_is_only_on_the_cluster_differs_within_the_scope(
    target: Program, state: Callable[[str], str], name: str
) -> None:
    """What diff shows is what apply --prune changes."""
    acl = f"allow User:bob Read on topic {name}"
    target.ok("create-topic", name, "--config", "retention.ms=1d")
    target.ok("alter-acls", "--topic", name, "--add", "allow User:bob Read")
    text = f"topics: {{{name}: {{}}}}\nacls: {{topic {name}: []}}\n"
    file = state(text)
    same = target.ok("diff", file)
    assert f"outside the scope of the file: topic {name}: retention.ms; acl {acl}" in same.stdout
    rows = target.ok("diff", file, "--output", "json").json["out_of_scope"]
    assert [row["field"] for row in rows] == ["retention.ms", ""]
    assert "nothing to change" in target.ok("apply", file, "--prune").stderr
    file = state(f"scope: {{topics: [{name}], acls: [topic {name}]}}\n{text}")
    run = target("diff", file)
    assert run.status == 1
    assert f"- ACL {acl}" in run.stdout and "- retention.ms: 1d -> (removed)" in run.stdout
    target.ok("apply", file, "--prune", "--yes")
    assert target.ok("diff", file).stdout.startswith("no differences")


@pytest.mark.parametrize(
    ("kind", "subject", "key", "value"),
    [
        ("broker_configs", ("--broker-id", "1"), "log.cleaner.threads", "2"),
        ("broker_configs", ("--broker-default",), "log.cleaner.backoff.ms", "20s"),
        ("client_metrics", ("--client-metrics", "subscription"), "interval.ms", "1m"),
        ("group_configs", ("--group", "some-group"), "consumer.session.timeout.ms", "50s"),
    ],
)
def test_a_scope_selects_every_kind_of_configs(
    target: Program, state: Callable[[str], str], kind: str, subject: tuple[str, ...], key: str,
    value: str,
) -> None:  # fmt: skip
    word = subject[1] if len(subject) > 1 else "default"
    kept = "min.insync.replicas: 1" if word == "default" else ""  # Kafka lets nobody remove it
    target.ok("alter-configs", *subject, f"{key}={value}", "--yes")
    text = f"{kind}: {{{word}: {{{kept}}}}}\n"
    assert f": {key}\n" in target.ok("diff", state(text)).stdout.replace("\n  ", " ")
    file = state(f"scope: {{{kind}: ['{word}']}}\n{text if kept else ''}")
    run = target("diff", file)
    assert run.status == 1 and f"- {key}" in run.stdout, str(run)
    target.ok("apply", file, "--prune", "--yes")
    assert key not in target.ok("export", "--only", kind.replace("_", "-")).stdout


def test_throttles_and_cordons_are_not_part_of_the_state(
    target: Program, state: Callable[[str], str], name: str
) -> None:
    """They end with a reassignment or a decommission: neither exported nor deleted by --prune."""
    target.ok("create-topic", name)
    before = target.ok("export").stdout
    lists = [f"{side}.replication.throttled.replicas" for side in ("follower", "leader")]
    rates = [f"{side}.replication.throttled.rate" for side in ("follower", "leader")]
    target.ok("alter-configs", name, *(f"{key}=0:1" for key in lists))
    on_broker = ("alter-configs", "--broker-id", "1")
    target.ok(*on_broker, *(f"{key}=1MB/s" for key in rates), "cordoned.log.dirs=*", "--yes")
    try:
        exported = target.ok("export")
        assert exported.stdout == before
        left_out = f"topic {name}: {', '.join(lists)}; broker 1: cordoned.log.dirs, "
        assert f"{left_out}{', '.join(rates)}" in exported.stderr, str(exported)
        file = state(before.removeprefix("version: 1"))
        assert target.ok("diff", file).stdout.startswith("no differences")
        assert target.ok("apply", file, "--prune").stderr.startswith("nothing to change")
        unscoped = target.ok("diff", state(f"topics: {{{name}: {{}}}}\n")).stdout
        assert unscoped.startswith("no differences"), "not listed as outside the scope either"
        same = state(f"broker_configs: {{1: {{{rates[0]}: 1MB/s}}}}\n")
        assert target("diff", same).status == 0
        other = target("diff", state(f"broker_configs: {{1: {{{rates[0]}: 2MB/s}}}}\n"))
        assert f"{rates[0]}: 1MB/s -> 2MB/s" in other.stdout, "the file names it"
    finally:
        target.ok(*on_broker, "--delete-config", ",".join((*rates, "cordoned.log.dirs")), "--yes")
        target.ok("delete-topic", name, "--yes")


def test_a_selector_that_selects_nothing_is_named(
    target: Program, state: Callable[[str], str], name: str
) -> None:
    file = state(f"scope: {{topics: ['{name}.*', 'nosuch.*']}}\ntopics: {{{name}.a: {{}}}}\n")
    for command in ("diff", "apply"):
        run = target(command, file)
        assert "warning: scope.topics: 'nosuch.*' matches nothing" in run.stderr
        assert f"'{name}.*'" not in run.stderr


def test_a_sensitive_config_is_neither_equal_nor_different(
    target: Program, state: Callable[[str], str]
) -> None:
    """Brokers show no value of a key that only a plugin knows."""
    file = state("broker_configs: {1: {my.plugin.auth: abc}}\n")
    refused = target("apply", file)
    assert refused.status == 1
    assert f"{file}:2:38: broker 1: my.plugin.auth is unknown or sensitive" in refused.stderr
    target.ok("alter-configs", "--broker-id", "1", "my.plugin.auth=abc", "--yes")
    try:
        run = target("diff", file)
        assert run.status == 1
        assert "broker 1 my.plugin.auth" in run.stderr + run.stdout
        assert "1 not compared" in run.stdout and "+++" not in run.stdout
        applied = target("apply", file)
        assert applied.status == 1
        assert "broker 1 my.plugin.auth cannot be compared with the file" in applied.stderr
        other = target("diff", "it", "it", "--only", "broker-configs")
        assert other.status == 1 and "1 not compared" in other.stdout
        assert "1: my.plugin.auth is sensitive and is excluded" in target.ok("export").stderr
    finally:
        target.ok("alter-configs", "--broker-id", "1", "--delete-config", "my.plugin.auth", "--yes")


CONFIGS = st.dictionaries(
    st.sampled_from(("retention.ms", "segment.bytes", "min.insync.replicas", "max.message.bytes")),
    st.integers(1048576, 1 << 30),
)
PARTS = st.fixed_dictionaries(
    {
        "topics": st.dictionaries(st.sampled_from("abc"), st.tuples(st.integers(1, 3), CONFIGS)),
        "acls": st.sets(
            st.tuples(st.sampled_from("abc"), st.sampled_from(("Read", "Write", "Describe")))
        ),
        "quotas": st.dictionaries(st.sampled_from("uvw"), st.integers(1, 1 << 40), max_size=3),
    }
)


def as_yaml(prefix: str, parts: dict[str, object]) -> str:
    """A state file in which all names begin with the prefix."""
    import json

    topics, acls, quotas = parts["topics"], parts["acls"], parts["quotas"]
    assert isinstance(topics, dict) and isinstance(acls, set) and isinstance(quotas, dict)
    rules: dict[str, list[str]] = {}
    for topic, operation in sorted(acls):
        rules.setdefault(f"topic {prefix}.{topic}", []).append(f"allow User:x {operation}")
    return json.dumps(
        {
            "version": 1,
            "scope": {
                "topics": [f"{prefix}.*"], "acls": [f"topic {prefix}.*"],
                "quotas": [f"user {prefix}.*"],
            },
            "topics": {
                f"{prefix}.{topic}": {"partitions": count, "configs": configs}
                for topic, (count, configs) in topics.items()
            },
            "acls": rules,
            "quotas": {
                f"user {prefix}.{user}": {"producer_byte_rate": rate}
                for user, rate in quotas.items()
            },
        }
    )  # fmt: skip


@settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(first=PARTS, second=PARTS)
def test_random_states_are_reached_in_one_apply(
    target: Program, tmp_path: Path, first: dict[str, object], second: dict[str, object]
) -> None:
    prefix = f"rnd-{uuid4().hex[:8]}"
    before, after = first["topics"], second["topics"]
    assert isinstance(before, dict) and isinstance(after, dict)
    for topic in before.keys() & after.keys():  # the number of partitions can only grow
        after[topic] = (max(before[topic][0], after[topic][0]), after[topic][1])
    file = tmp_path / "state.json"
    for parts in (first, second):
        file.write_text(as_yaml(prefix, parts))
        target.ok("apply", str(file), "--prune", "--yes")
        assert target("diff", str(file)).status == 0, str(target("diff", str(file)))
        again = target.ok("apply", str(file), "--prune", "--yes")
        assert again.stderr.startswith("nothing to change\n")
