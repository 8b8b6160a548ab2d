"""spark tables, sql, snapshot and diff on the demo company."""

from __future__ import annotations

from pathlib import Path
from uuid import uuid4

import pytest

from tests.support.in_process_shell import Shell


@pytest.fixture
def topic(shell: Shell) -> str:
    return f"drift.{uuid4().hex[:8]}"


def test_tables_and_their_columns_are_listed_without_spark(shell: Shell) -> None:
    shell.resources.spark = None
    names = {table["name"] for table in shell.ok("spark tables --output json").json}
    assert {"topics", "partitions", "acls", "collection_status"} <= names
    columns = shell.ok("spark tables topics --output json").json
    assert [c["column"] for c in columns[:4]] == ["cluster", "collected_at", "snapshot_id", "topic"]
    assert shell.resources.spark is None, "Spark was started for it"


def test_a_table_that_is_none_names_the_near_one(shell: Shell) -> None:
    run = shell("spark tables topic")
    assert run.status == 2
    assert "Did you mean topics?" in run.err


def test_a_query_returns_the_state_of_the_broker(shell: Shell) -> None:
    names = shell.ok("list-topics").out.split()
    rows = shell.ok("spark sql 'select topic from topics order by topic' --output json").json
    assert [row["topic"] for row in rows] == sorted(names)


def test_a_query_reads_only_the_tables_it_names(shell: Shell) -> None:
    rows = shell.ok(
        "spark sql 'select `table`, status from collection_status, topics group by all'"
        " --output json"
    ).json
    assert rows == [{"table": "topics", "status": "ok"}]


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ("select * from nope", "Run spark tables to list the tables"),
        ("select nope from topics", "nope"),
        ("selec 1", "a query must start with select or with"),
        ("drop table topics", "a query must start with select or with"),
        ("select cast('x' as int)", "malformed"),
    ],
)
def test_a_query_that_is_refused_says_why_in_a_line_or_two(
    shell: Shell, query: str, says: str
) -> None:
    run = shell(f'spark sql "{query}"')
    assert run.status in (1, 2), str(run)
    assert says in run.err
    assert "org.apache" not in run.err and "Project" not in run.err, run.err


@pytest.mark.parametrize("ending", ["parquet", "jsonl", "csv"])
def test_all_rows_of_a_query_are_written_to_a_directory(
    shell: Shell, tmp_path: Path, ending: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many: they are not returned to this program."""
    monkeypatch.setattr("kafka_shell.audit.query.MOST_ROWS", 3)
    folder = tmp_path / f"rows.{ending}"
    query = "select topic, null as none, array(id) as `a``b`, id as topic from topics, range(1000)"
    run = shell.ok(f'spark sql "{query}" --output {folder}')
    session = shell.resources.spark.session  # type: ignore[union-attr]
    reader = session.read.option("header", True)
    rows = reader.format(ending.replace("jsonl", "json")).load(str(folder))
    assert {*rows.columns} == {"topic", "none", "a`b", "topic (2)"}
    topics = len(shell.ok("list-topics").out.split())
    assert rows.count() == 1000 * topics
    assert str(folder) in run.out and f"{1000 * topics:,}" in run.out
    assert not (folder.stat().st_mode & 0o077)
    again = shell(f'spark sql "select 1" --output {folder}')
    assert again.status == 2 and "already exists" in again.err
    wrong = shell(f'spark sql "select nope from topics" --output {tmp_path}/other.{ending}')
    assert wrong.status == 1 and "nope" in wrong.err
    assert shell(f'spark sql "select 1" --output {tmp_path}/rows.txt').status == 2


RUNS_CODE = [
    "select reflect('java.lang.System', 'getProperty', 'user.home')",
    "select builtin.`Reflect`('java.lang.System', 'getProperty', 'user.home')",
    "select try_reflect('java.lang.System', 'getProperty', 'user.home')",
    "select java_method/**/('java.lang.System', 'getProperty', 'user.home')",
    "values (identifier('ref' || 'lect')('java.lang.System', 'getProperty', 'user.home'))",
    "values (from_xml('', 'a int', map('rowValidation' || 'XSDPath', '/etc/passwd')))",
    "select from_json('{}', schema_of_xml('<a/>', map('rowValidationXSDPath', '/etc/passwd')))",
    "select from_avro(x'00', '', map('avroSchemaUrl', '/etc/passwd'))",
    "select from_protobuf(x'00', 'A', '/etc/passwd')",
]
PROGRAMS = [
    "select transform(1) using 'id' as (a)",
    "select (select max(a) from (select transform(1) using 'id' as (a)))",
    "with a as (from values (1) as t(x) map x using/**/'id' as a) select 1 where 1 in (from a)",
    "from values (1) as t(x) reduce x u\u017fing r'id' as a",
]


@pytest.mark.parametrize("query", RUNS_CODE)
def test_functions_that_run_code_or_open_files_do_not_exist(shell: Shell, query: str) -> None:
    run = shell(f'spark sql "{query}"')
    assert run.status == 1, str(run)
    assert "Spark: Cannot resolve routine `" in run.err
    assert "A query cannot use functions that can run code or open files." in run.err


@pytest.mark.parametrize("query", PROGRAMS)
def test_query_cannot_run_a_program(shell: Shell, query: str) -> None:
    run = shell(f'spark sql "{query}"')
    assert run.status == 1, str(run)
    assert "a query cannot run a program (TRANSFORM ... USING)" in run.err


def test_words_of_such_functions_are_allowed_in_literals(shell: Shell) -> None:
    query = "select 'ScriptTransformation reflect(a)', transform(array(1), x -> x + 1) as y"
    assert "reflect(a)" in shell.ok(f'spark sql "{query}"').out


@pytest.mark.parametrize(
    "query",
    [
        "with x as (select 1) insert overwrite directory '{folder}/new' using csv select * from x",
        "from topics insert overwrite directory '{folder}/new' using csv select topic",
        "select * from text.`{folder}/secret`",
        "select * from csv.`{folder}/secret` join topics",
    ],
)
def test_query_neither_writes_nor_reads_files(shell: Shell, query: str, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("words")
    run = shell(f'spark sql "{query.format(folder=tmp_path)}"')
    assert run.status == 1 and not (tmp_path / "new").exists(), str(run)
    assert "words" not in run.out


def test_all_columns_of_a_query_are_shown(shell: Shell) -> None:
    query = (
        "spark sql 'select a.topic, b.topic, null as nothing from topics a join topics b limit 1'"
    )
    (row,) = shell.ok(f"{query} --output json").json
    assert list(row) == ["topic", "topic (2)", "nothing"]
    assert shell.ok(query).out.splitlines()[0].split() == ["TOPIC", "TOPIC", "(2)", "NOTHING"]
    told = shell.ok("spark sql 'select distinct `table` from collection_status' --output json").json
    assert {"topics", "acls", "quotas"} <= {row["table"] for row in told}


def test_a_query_without_rows_says_so(shell: Shell) -> None:
    run = shell.ok("spark sql 'select * from topics where partitions < 0'")
    assert (run.out, run.err.strip()) == ("", "no rows")


@pytest.mark.usefixtures("few_tables")
def test_a_snapshot_is_read_again_and_each_difference_is_a_finding(
    shell: Shell, topic: str, tmp_path: Path
) -> None:
    folder = tmp_path / "state"
    other = f"{topic}.gone"
    shell.ok(f"create-topic {other} --partitions 3")
    shell.ok(f"create-topic {topic} --config retention.ms=1d")
    try:
        taken = shell.ok(f"spark snapshot {folder} --no-findings --output json").json
        assert taken["rows"]["topics"] == len(shell.ok("list-topics").out.split())
        parts = [path.name for path in (folder / "topics").iterdir() if path.is_dir()]
        assert parts == [taken["snapshot_id"]]
        assert shell.ok(f"spark diff {folder} now").err.strip() == "no differences"
        shell.ok(f"alter-configs {topic} retention.ms=2d max.message.bytes=1000000 --yes")
        shell.ok(f"delete-topic {other} --yes")
        shell.ok(f"alter-acls --add 'allow User:{topic} Read on topic {topic}'")
        shell.ok(f"alter-quotas --user {topic} producer_byte_rate=1MB/s")
        found = shell.ok(f"spark diff {folder} --output json").json
        told = {(d["table"], d["change"], d["field"], d["before"], d["after"]) for d in found}
        assert told == {
            ("topics", "vanished", "", "partitions=3, min_factor=1, max_factor=1", None),
            ("topic_configs", "changed", "retention.ms", "86400000", "172800000"),
            ("topic_configs", "appeared", "max.message.bytes", None, "1000000"),
            ("acls", "appeared", "", None, "exists"),
            ("quotas", "appeared", "producer_byte_rate", None, "1000000.0"),
        }
        file = tmp_path / "policy.toml"
        file.write_text(
            "[[suppress]]\ncontrol = 'X03'\nowner = 'o'\nreason = 'x'\nexpires = 2999-01-01\n"
            f"resource = '{topic}'\n"
        )
        line = f"spark audit --controls X03 --against {folder} --policy {file} --fail-on any"
        run = shell(f"{line} --output json")
        remedies = {(f["control"], f["resource"]): f["remedy"] for f in run.json["findings"]}
        assert run.status == 1
        assert remedies.keys() == {
            ("X03", other), ("X03", f"allow User:{topic} Read on topic {topic}"),
            ("X03", f"user {topic}"),
        }  # fmt: skip
        undo = f"alter-quotas --user {topic} --delete-config producer_byte_rate"
        assert remedies["X03", f"user {topic}"] == undo
        counts = {"alarm": 3, "skip": 0, "suppressed": 2}
        assert (run.json["suppressed"], run.json["controls"][-1]["counts"]) == (2, counts)
        risky = shell(f"spark audit --controls X03 --against {folder} --fix --risk disruptive"
                      " --dry-run")  # fmt: skip
        assert "3 remedies are irreversible" in risky.out, str(risky)
        assert "outside-finding" not in risky.err, str(risky)
        assert {each["resource"] for each in found if each["table"] == "quotas"} == {
            f"user {topic}"
        }
        for each in found:
            shell.ok(f"{each['undo']} --yes")
        assert shell.ok(f"spark diff {folder}").err.strip() == "no differences"
        old = shell.ok(
            f"spark sql --snapshot {folder} \"select topic from topics where topic = '{other}'\""
        )
        assert old.out.split() == ["TOPIC", other]
    finally:
        shell(f"delete-topic {topic},{other} --yes --if-exists")


def test_a_folder_without_snapshots_says_how_to_take_one(shell: Shell, tmp_path: Path) -> None:
    run = shell(f"spark diff {tmp_path}/none")
    assert run.status == 1
    assert f"Run spark snapshot {tmp_path}/none" in run.err
