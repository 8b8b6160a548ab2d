"""State files without a cluster: reading, errors with their position, and writing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kafka_shell.admin.acls.model import (
    AclBinding,
    AclOperation,
    AclPermission,
    AclResourceType,
    PatternType,
)
from kafka_shell.admin.client_configs.model import ClientEntity
from kafka_shell.admin.configs.model import ConfigResource, ResourceType
from kafka_shell.admin.quotas.model import DEFAULT, QuotaEntity
from kafka_shell.admin.users.model import ScramMechanism
from kafka_shell.base.errors import ShellError, Status
from kafka_shell.commands.state.files import document, json_text, load, yaml_text
from kafka_shell.commands.state.model import ANY_ITERATIONS, Fields, Password, State
from kafka_shell.commands.state.section import Content
from kafka_shell.commands.state.spec import KINDS

EVERYTHING = """
version: 1
scope:
  topics: ['payments.*']
templates: &week {retention.ms: 7d}
topics:
  payments.captured:
    partitions: 6
    replication_factor: 3
    configs: {<<: *week, cleanup.policy: [compact, delete], min.insync.replicas: 2}
  payments.placed: {replica_assignment: '1:2,2:3'}
  bare:
acls:
  topic payments.captured: ['allow User:bob Read,Describe from 10.0.0.1', allow User:pay Write]
  prefixed group payments-: [allow User:svc-payments Read]
  cluster: [deny User:eve All]
quotas:
  user alice, client-id app: {producer_byte_rate: 5MB/s}
  user-default: {request_percentage: 50%}
users:
  alice: {SCRAM-SHA-512: {iterations: 8192, password_file: alice.pw}}
  bob: {SCRAM-SHA-256: {generate: true}}
client_configs:
  user alice client-id app: {acks: all}
broker_configs:
  default: {log.retention.ms: 8d}
  1: {log.cleaner.threads: 2}
client_metrics:
  slow: {interval.ms: 1m}
group_configs:
  g: {consumer.session.timeout.ms: 50s}
""".replace("templates: &week {retention.ms: 7d}\n", "").replace(
    "{<<: *week, ", "&week {retention.ms: 7d, "
)


def file_with(folder: Path, text: str, name: str = "state.yaml") -> str:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_every_kind_is_read_with_raw_values(tmp_path: Path) -> None:
    state = load(file_with(tmp_path, EVERYTHING))
    assert state.scope == {"topics": ("payments.*",)}
    assert state.parts["topics"] == {
        "payments.captured": {
            "partitions": 6, "replication_factor": 3, "cleanup.policy": "compact,delete",
            "min.insync.replicas": "2", "retention.ms": "604800000",
        },
        "payments.placed": {
            "replica_assignment": "1:2,2:3", "partitions": 2, "replication_factor": 2
        },
        "bare": {},
    }  # fmt: skip
    assert sorted(map(str, state.parts["acls"])) == [
        "allow User:bob Describe from 10.0.0.1 on topic payments.captured",
        "allow User:bob Read from 10.0.0.1 on topic payments.captured",
        "allow User:pay Write on topic payments.captured",
        "allow User:svc-payments Read on prefixed group payments-",
        "deny User:eve All on cluster",
    ]
    assert state.parts["quotas"] == {
        QuotaEntity("alice", "app"): {"producer_byte_rate": 5e6},
        QuotaEntity(DEFAULT): {"request_percentage": 50.0},
    }
    assert state.parts["users"] == {
        "alice": {"SCRAM-SHA-512": 8192},
        "bob": {"SCRAM-SHA-256": ANY_ITERATIONS},
    }
    assert state.passwords == {
        ("alice", ScramMechanism.SCRAM_SHA_512): Password(str(tmp_path / "alice.pw")),
        ("bob", ScramMechanism.SCRAM_SHA_256): Password(generate=True),
    }
    assert state.parts["client_configs"] == {ClientEntity("alice", "app"): {"acks": "all"}}
    assert state.parts["broker_configs"] == {
        ConfigResource(ResourceType.BROKER, ""): {"log.retention.ms": "691200000"},
        ConfigResource(ResourceType.BROKER, "1"): {"log.cleaner.threads": "2"},
    }
    assert state.parts["client_metrics"] == {
        ConfigResource(ResourceType.CLIENT_METRICS, "slow"): {"interval.ms": "60000"}
    }
    assert state.parts["group_configs"] == {
        ConfigResource(ResourceType.GROUP, "g"): {"consumer.session.timeout.ms": "50000"}
    }


def test_merge_keys_add_to_what_a_mapping_has(tmp_path: Path) -> None:
    text = """
version: 1
topics:
  a: &a {partitions: 3, configs: {retention.ms: 1d}}
  b: {<<: *a, partitions: 6}
  c: {<<: [*a], replication_factor: 1}
"""
    topics = load(file_with(tmp_path, text)).parts["topics"]
    assert topics["b"] == {"partitions": 6, "retention.ms": "86400000"}
    assert topics["c"] == {"partitions": 3, "replication_factor": 1, "retention.ms": "86400000"}


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("topics: {}", "1:1", "version is missing"),
        ("version: 2", "1:10", "version must be 1"),
        ("- name: a", "1:1", "a state file must be a mapping"),
        ("version: 1\ntopics: {a b: {}}", "2:10", "'a b' is not a valid topic name"),
        ("version: 1\ntopics: {'': {}}", "2:10", "'' is not a valid topic name"),
        ("version: 1\ntopics: {..: {}}", "2:10", "'..' is not a valid topic name"),
        ("version: 1\nacls: {topic x: [allow User:a Read, allow User:a All,\n"
         "allow User:a Read]}", "3:1", "already defined at {file}:2:18"),
        ("version: 1\ntopic: {}", "2:1", "unknown field 'topic' of a state file"),
        ("version: 1\ntopics:\n  a: {partition: 1}", "3:7", "unknown field 'partition' of topic a"),
        ("version: 1\ntopics:\n  a: {partitions: x}", "3:19", "topic a must be an integer"),
        ("version: 1\ntopics:\n  a: {partitions: 0}", "3:19", "topic a must be an integer"),
        ("version: 1\ntopics:\n  a: {partitions: 1, partitions: 2}", "3:22", "is set twice"),
        ("version: 1\ntopics:\n  a: {}\n  a: {}", "4:3", "'a' is set twice"),
        ("version: 1\ntopics: [a]", "2:9", "topics must be a mapping"),
        ("version: 1\ntopics:\n  a: {configs: {retention.ms: 7x}}", "3:31", "retention.ms must be"),
        ("version: 1\ntopics:\n  a: {configs: {x: {}}}", "3:20", "x must be a value"),
        ("version: 1\nacls:\n  topc a: []", "3:3", "unknown resource type 'topc'"),
        ("version: 1\nacls:\n  topic a: [allow bob Read]", "3:13", "not a valid principal"),
        ("version: 1\nacls:\n  topic a: [allow User:b Raed]", "3:13", "unknown operation 'Raed'"),
        ("version: 1\nacls:\n  topic a: [allow User:b Read on topic x]", "3:13", "must not name"),
        ("version: 1\nquotas:\n  usr bob: {}", "3:3", "unexpected 'usr'"),
        ("version: 1\nquotas:\n  user: {}", "3:3", "the name after 'user' is missing"),
        ("version: 1\nquotas:\n  user b: {producer_byte_rate: fast}", "3:32", "must be a number"),
        ("version: 1\nusers:\n  b: {SCRAM-SHA-1: {}}", "3:7", "unknown field 'SCRAM-SHA-1'"),
        ("version: 1\nusers:\n  b: {SCRAM-SHA-256: {password: x}}", "3:23", "unknown field"),
        ("version: 1\nbroker_configs:\n  all: {}", "3:3", "expected a broker ID or default"),
        ("version: 1\nscope: {topcs: []}", "2:9", "unknown field 'topcs' of scope"),
        ("version: 1\ntopics: {", "3:1", "not valid YAML"),
        ("x-deep: " + "[" * 99, "1:58", "nested too deeply"),
        ("version: 1\nscope: {topics: ['/a(/']}", "2:18", "invalid regular expression"),
        ("version: 1\nscope: {users: ['']}", "2:17", "is empty"),
        ("version: 1\nscope: {quotas: [usr bob]}", "2:18", "unexpected 'usr'"),
        ("version: 1\nbroker_configs: {01: {}}", "2:18", "expected a broker ID"),
        ("version: 1\nbroker_configs: {1: {ssl.keystore.password: x}}", "2:45", "is sensitive"),
    ],
)  # fmt: skip
def test_an_error_names_file_line_and_column(
    tmp_path: Path, text: str, place: str, message: str
) -> None:
    name = file_with(tmp_path, text)
    with pytest.raises(ShellError) as caught:
        load(name)
    assert str(caught.value).startswith(f"{name}:{place}: "), str(caught.value)
    assert message.replace("{file}", name) in str(caught.value)
    assert caught.value.status is Status.WRONG


def test_a_near_miss_is_named(tmp_path: Path) -> None:
    with pytest.raises(ShellError) as caught:
        load(file_with(tmp_path, "version: 1\ntopics:\n  a: {replication-factor: 3}"))
    assert "Did you mean replication_factor?" in caught.value.hint


def test_a_comma_in_brackets_splits_a_rule(tmp_path: Path) -> None:
    text = "version: 1\nacls:\n  topic a: [%s]"
    with pytest.raises(ShellError) as caught:
        load(str(file_with(tmp_path, text % "allow User:b Read,Write from ::1")))
    assert ":3:31: a rule must start with" in str(caught.value)
    assert caught.value.hint == "Put a rule that contains commas in quotes."
    state = load(str(file_with(tmp_path, text % "'allow User:b Read,Write'")))
    assert len(state.parts["acls"]) == 2


def test_a_folder_is_one_state_and_a_resource_in_two_files_is_an_error(tmp_path: Path) -> None:
    first = file_with(tmp_path, "version: 1\ntopics: {a: {}}", "a.yaml")
    file_with(tmp_path, '{"version": 1,\n\t"topics": {"b": {"partitions": 2}}}', "b.json")
    file_with(tmp_path, "not a state", "README.md")
    assert load(str(tmp_path)).parts["topics"] == {"a": {}, "b": {"partitions": 2}}
    second = file_with(tmp_path, "version: 1\ntopics: {a: {}}", "c.yaml")
    with pytest.raises(ShellError) as caught:
        load(str(tmp_path))
    assert f"{second}:2:10: topic a is already defined at {first}:2:10" in str(caught.value)
    assert caught.value.status is Status.WRONG


def test_a_subfolder_with_state_files_is_refused(tmp_path: Path) -> None:
    file_with(tmp_path, "version: 1", "a.yaml")
    file_with(tmp_path, "{", ".#a.yaml")
    load(str(tmp_path))
    file_with(tmp_path, "not a state", "README.md")
    (tmp_path / ".git").mkdir()
    file_with(tmp_path / ".git", "version: 1", "b.yaml")
    (tmp_path / "locked").mkdir(mode=0)
    (tmp_path / "gone").symlink_to(tmp_path / "nowhere")
    load(str(tmp_path))
    (tmp_path / "sub").mkdir()
    file_with(tmp_path / "sub", "version: 1", "b.yaml")
    with pytest.raises(ShellError, match="is in a subfolder of"):
        load(str(tmp_path))


def test_json_may_escape_any_character_and_hold_private_fields(tmp_path: Path) -> None:
    text = (
        '{"version": 1, "x-common": {},'
        ' "quotas": {"user \\ud83d\\ude00": {"producer_byte_rate": 1}}}'
    )
    state = load(file_with(tmp_path, text, "a.json"))
    assert state.parts["quotas"] == {QuotaEntity("\U0001f600"): {"producer_byte_rate": 1.0}}


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ('{"version": 1,\n "topics": {"a": {"partitions": "6"}}}', "2:33", "must be an integer"),
        ('{"version": "1"}', "1:13", "version must be 1"),
        ('{"version": 1,}', "1:15", "expected a name in double quotes"),
        ('{"version": 1', "1:14", "expected ','"),
        ('{"version" 1}', "1:12", "expected ':'"),
        ('{"version": 1} {}', "1:16", "expected the end of the document"),
        ('{"version": one}', "1:13", "expected a value"),
        ('{"version": 1, "topics": {"a": nan}}', "1:32", "expected a value"),
        ('{"version": 1, "topics\n": {}}', "1:16", "a string without an end"),
        ('{"version": 1, "topics": {"\\ud800": {}}}', "1:27", "invalid escape"),
        ('{"version": 1, "topics": {"a": {}, "a": {}}}', "1:36", "'a' is set twice"),
        ('{"x-deep": ' + "[" * 99, "1:61", "nested too deeply"),
    ],
)
def test_an_error_of_json_names_line_and_column(
    tmp_path: Path, text: str, place: str, message: str
) -> None:
    name = file_with(tmp_path, text, "a.json")
    with pytest.raises(ShellError) as caught:
        load(name)
    assert str(caught.value).startswith(f"{name}:{place}: "), str(caught.value)
    assert message in str(caught.value)


def test_all_mistakes_are_reported_at_once(tmp_path: Path) -> None:
    folder = tmp_path / "state"
    folder.mkdir()
    topics = "{a: {partitons: 1}, b: {partitions: 0}, c: {partitions: 1}}"
    first = file_with(folder, f"version: 1\ntopics: {topics}\nquotas: {{usr x: {{}}}}", "a.yaml")
    second = file_with(folder, "version: 1\nacls: {topic a: [allw User:x Read]}", "b.yaml")
    third = file_with(folder, "version: 2", "c.yaml")
    with pytest.raises(ShellError) as caught:
        load(str(folder))
    heading, *mistakes = str(caught.value).splitlines()
    assert heading == "5 mistakes:"
    assert [each.partition(": ")[0] for each in mistakes] == [
        f"{first}:2:14", f"{first}:2:45", f"{first}:3:10", f"{second}:2:18", f"{third}:1:10",
    ]  # fmt: skip
    assert mistakes[0].endswith("unknown field 'partitons' of topic a. Did you mean partitions?")
    assert caught.value.status is Status.WRONG


@pytest.mark.parametrize("output", [yaml_text, json_text])
def test_a_long_name_is_written_and_read(tmp_path: Path, output: Callable[[Content], str]) -> None:
    long = "n" * 3_000
    parts = {"group_configs": {ConfigResource(ResourceType.GROUP, long): {"a": "1"}}}
    name = "a.json" if output is json_text else "a.yaml"
    assert load(file_with(tmp_path, output(document(State(parts=parts))), name)).parts == parts


def test_names_are_read_as_they_are_written(tmp_path: Path) -> None:
    names = "[on, yes, 1e3, 0x10, 'null', '-', No, 1.0]"
    lines = ["version: 1", f"scope: {{topics: {names}, users: {names}}}", "topics:"]
    lines += [
        f"  {name}: {{}}" for name in ("on", "yes", "1e3", "0x10", "null", "'-'", "No", "1.0")
    ]
    lines += ["users: {y: {SCRAM-SHA-256: {password_file: yes}}}"]
    state = load(file_with(tmp_path, "\n".join(lines)))
    expected = ("on", "yes", "1e3", "0x10", "null", "-", "No", "1.0")
    assert tuple(state.parts["topics"]) == expected
    assert state.scope == {"topics": expected, "users": expected}
    assert [each.file for each in state.passwords.values()] == [str(tmp_path / "yes")]
    assert (
        load(file_with(tmp_path, yaml_text(document(State(scope=state.scope))))).scope
        == state.scope
    )
    with pytest.raises(ShellError, match="must be a value, not nothing") as caught:
        load(file_with(tmp_path, "version: 1\nscope: {topics: [null]}"))
    assert caught.value.hint == "Put the name in quotes."


def test_a_name_that_ends_in_a_comma_is_quoted(tmp_path: Path) -> None:
    parts = {"quotas": {QuotaEntity("a,", "b"): {"producer_byte_rate": 1.0}}}
    text = yaml_text(document(State(parts=parts)))
    assert load(file_with(tmp_path, text)).parts == parts


def test_aliases_that_multiply_are_read_once(tmp_path: Path) -> None:
    lines = ["version: 1", "topics:", "  a: &a0 {configs: {x: 1}}"]
    lines += [f"  b{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 9)}]}}" for n in range(1, 200)]
    topics = load(file_with(tmp_path, "\n".join(lines))).parts["topics"]
    assert topics["b199"] == {"x": "1"}


NAMES = st.text("abcXYZ019._-", min_size=1, max_size=12).filter(lambda name: name.strip("."))
ODD = st.text(st.characters(exclude_categories=("C", "Z"), include_characters=" '\""), min_size=1)
CONFIGS: st.SearchStrategy[Fields] = st.dictionaries(
    st.sampled_from(("retention.ms", "segment.bytes", "cleanup.policy", "x.y", "max.rate")),
    st.one_of(st.integers(-1, 1 << 62).map(str), st.sampled_from(("true", "0.5", "1e3", "null"))),
).map(lambda found: {key: found[key] for key in sorted(found) if _fits(key, str(found[key]))})


def _fits(key: str, value: str) -> bool:
    return not key.endswith(("ms", "bytes")) or value.lstrip("-").isdigit()


BINDINGS = st.builds(
    AclBinding,
    ODD.map(lambda name: f"User:{name}"),
    st.sampled_from(("*", "10.0.0.1", "::1")),
    st.sampled_from([each for each in AclOperation if each > AclOperation.ANY]),
    st.sampled_from((AclPermission.ALLOW, AclPermission.DENY)),
    st.sampled_from((AclResourceType.TOPIC, AclResourceType.GROUP)),
    ODD,
    st.sampled_from((PatternType.LITERAL, PatternType.PREFIXED)),
)
PARTS = st.one_of(ODD, st.just(DEFAULT))
ENTITIES = st.one_of(
    st.builds(QuotaEntity, user=PARTS, client_id=st.one_of(st.none(), PARTS)),
    st.builds(QuotaEntity, client_id=PARTS),
    st.builds(QuotaEntity, ip=PARTS),
)
STATES = st.fixed_dictionaries(
    {
        "topics": st.dictionaries(NAMES, CONFIGS),
        "acls": st.dictionaries(BINDINGS, st.just({})),
        "quotas": st.dictionaries(
            ENTITIES,
            st.dictionaries(
                st.sampled_from(("producer_byte_rate", "request_percentage")),
                st.one_of(st.integers(1, 1 << 50).map(float), st.floats(0.001, 1e9)),
                min_size=1,
            ),
        ),
        "client_configs": st.dictionaries(
            st.builds(ClientEntity, ODD, st.one_of(st.none(), ODD)), CONFIGS
        ),
        "group_configs": st.dictionaries(
            ODD.map(lambda name: ConfigResource(ResourceType.GROUP, name)), CONFIGS
        ),
    }
)


# A comma at the end of a name is part of it.
@example({kind: {ClientEntity(",", "0"): {}} if kind == "client_configs" else {} for kind in KINDS})
@given(STATES)
def test_what_is_written_is_read_as_the_same(
    tmp_path_factory: pytest.TempPathFactory, parts: dict[str, dict[object, Fields]]
) -> None:
    state = State(parts=parts)
    folder = tmp_path_factory.mktemp("state")
    content = document(state)
    for name, text in (("a.yaml", yaml_text(content)), ("a.json", json_text(content))):
        again = load(file_with(folder, text, name))
        for kind in KINDS:
            assert again.parts.get(kind) == parts.get(kind), f"{kind} in\n{text}"
        assert document(again) == content


def test_a_config_without_a_value_is_explained(tmp_path: Path) -> None:
    """Before: put the name in quotes."""
    with pytest.raises(ShellError, match=r"retention\.ms has no value") as caught:
        load(
            file_with(
                tmp_path, "version: 1\ntopics: {a: {partitions: 1, configs: {retention.ms: null}}}"
            )
        )
    assert "Omit it for the default" in caught.value.hint
