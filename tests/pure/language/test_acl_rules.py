"""ACL rules: an ACL is printed as it is typed, and errors point to the wrong word."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from kafka_shell.admin.acls.model import (
    CLUSTER_NAME,
    OPERATIONS_OF,
    AclBinding,
    AclFilter,
    AclOperation,
    AclPermission,
    AclResourceType,
    PatternType,
)
from kafka_shell.base.errors import UsageError
from kafka_shell.base.plans import Change
from kafka_shell.commands import REGISTRY
from kafka_shell.commands.acls.changes import added, removed
from kafka_shell.commands.acls.rules import FORM, OPERATIONS, Rule, Target, parse_rule
from kafka_shell.language.parse import parse
from kafka_shell.language.render import render
from kafka_shell.language.tokens import tokenize
from kafka_shell.output.change_kinds import undo_lines

READ, WRITE = AclOperation.READ, AclOperation.WRITE
ALLOW, DENY = AclPermission.ALLOW, AclPermission.DENY

texts = st.text(st.characters(exclude_categories=("Cc", "Cs")), min_size=1, max_size=12)
# A broker keeps whatever host it is given.
hosts = texts | st.text("*,.1' \"\\", max_size=6) | st.sampled_from(["10.0.0.1,*", "", ",", "from"])
kinds = [each for each in AclResourceType if each > AclResourceType.ANY]


@st.composite
def bindings(draw: st.DrawFn) -> AclBinding:
    kind = draw(st.sampled_from(kinds))
    whole = kind is AclResourceType.CLUSTER
    return AclBinding(
        f"User:{draw(texts)}",
        draw(st.sampled_from(["*", "10.0.0.1", "0:0:0:0:0:0:0:1"]) | hosts),
        draw(st.sampled_from([each for each in AclOperation if each > AclOperation.ANY])),
        draw(st.sampled_from([ALLOW, DENY])),
        kind,
        CLUSTER_NAME if whole else draw(texts),
        draw(st.sampled_from([PatternType.LITERAL, PatternType.PREFIXED])),
    )  # fmt: skip


@given(bindings())
def test_an_acl_prints_as_it_is_typed(binding: AclBinding) -> None:
    assert list(parse_rule(str(binding)).bindings(())) == [binding]
    assert list(parse_rule(str(binding), remove=True).filters(())) == [AclFilter.exactly(binding)]
    target = Target(binding.resource_type, binding.name, binding.pattern_type)
    assert list(parse_rule(binding.rule).bindings([target])) == [binding]


@given(bindings())
def test_what_undoes_a_change_is_about_that_very_acl(binding: AclBinding) -> None:
    """Neither broader nor narrower, whatever its principal, host and name are made of."""
    known = OPERATIONS_OF[binding.resource_type] | {AclOperation.ALL}
    assume(binding.operation in known)
    (restored,) = undo_lines([Change(binding.resource, "delete")])
    assert added(parse(tokenize(restored), REGISTRY)) == [binding]
    (removal,) = undo_lines([Change(binding.resource, "create")])
    assert removed(parse(tokenize(removal), REGISTRY)) == [AclFilter.exactly(binding)]


@given(bindings())
def test_a_line_with_a_rule_reads_back(binding: AclBinding) -> None:
    values = parse(tokenize("alter-acls --remove"), REGISTRY)
    assert values["remove"] == ("",)
    values.values["remove"] = ("", str(binding))
    line = render(values)
    again = parse(tokenize(line), REGISTRY)
    assert again["remove"] == ("", str(binding)), line


def test_a_rule_with_everything() -> None:
    text = "DENY 'User:CN=Bob Smith,O=x' read, describe-configs from 10.0.0.1,10.0.0.2 on" \
           " prefixed topic pay."  # fmt: skip
    assert parse_rule(text) == Rule(
        DENY,
        "User:CN=Bob Smith,O=x",
        (READ, AclOperation.DESCRIBE_CONFIGS),
        ("10.0.0.1", "10.0.0.2"),
        Target(AclResourceType.TOPIC, "pay.", PatternType.PREFIXED),
    )
    assert parse_rule("allow User:a ALL on cluster kafka-cluster").target == Target(
        AclResourceType.CLUSTER, CLUSTER_NAME
    )
    assert parse_rule("allow User:a Read ,Write").operations == (READ, WRITE)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("any User:eve Any on any resource", AclFilter("User:eve", pattern_type=PatternType.ANY)),
        ("any any Read on any topic",
         AclFilter(operation=READ, resource_type=AclResourceType.TOPIC)),
        ("any any principal Read from 10.0.0.1 on topic t",
         AclFilter(None, "10.0.0.1", READ, AclPermission.ANY, AclResourceType.TOPIC, "t",
                   PatternType.LITERAL)),
        ("deny User:eve Any on match topic orders",
         AclFilter("User:eve", "*", AclOperation.ANY, DENY, AclResourceType.TOPIC, "orders",
                   PatternType.MATCH)),
    ],
)  # fmt: skip
def test_rules_to_remove_can_be_filters(text: str, expected: AclFilter) -> None:
    assert list(parse_rule(text, remove=True).filters(())) == [expected]
    with pytest.raises(UsageError):
        parse_rule(text)


@pytest.mark.parametrize(
    ("text", "word", "said"),
    [
        ("alow User:bob Read", "alow", "Did you mean allow?"),
        ("allow bob Read", "bob", "User:bob"),
        ("allow User: Read", "User:", "User:User"),
        ("allow User:bob Read,Wriet", "Wriet", "Did you mean Write?"),
        ("allow User:bob Any", "Any", "Use one of: All"),
        ("allow User:bob Read fom 10.0.0.1", "fom", "Did you mean from?"),
        ("allow User:bob Read on tpoic x", "tpoic", "Did you mean topic?"),
        ("allow User:bob Read on match topic x", "match", "Use one of: topic"),
        ("allow User:bob Read on topic", "allow User:bob Read on topic", FORM),
        ("allow User:bob", "allow User:bob", FORM),
        ("allow", "allow", FORM),
        ("allow User:bob Read on topic a b", "b", FORM),
        ("allow 'User:bob Read", "'User:bob Read", ""),
    ],
)
def test_errors_point_to_the_wrong_word(text: str, word: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_rule(text)
    assert caught.value.span is not None
    start, end = caught.value.span
    assert text[start:end] == word
    assert said in caught.value.hint + caught.value.usage


def test_the_span_is_relative_to_the_whole_line() -> None:
    text = "alter-acls --topic t --add 'allow User:bob Raed' --remove 'any any Read'"
    with pytest.raises(UsageError) as caught:
        parse(tokenize(text), REGISTRY)
    assert caught.value.span is not None
    assert text[slice(*caught.value.span)] == "Raed"


def test_add_and_remove_may_stand_alone() -> None:
    line = "alter-acls --topic t --add --allow-principal User:b --operation read,describe-configs"
    values = parse(tokenize(line), REGISTRY)
    assert (values["add"], values["operation"]) == (("",), ("Read,DescribeConfigs",))
    assert parse(tokenize(render(values)), REGISTRY).values == values.values
    last = parse(tokenize("alter-acls --topic t --remove 'any any Read' --remove"), REGISTRY)
    assert last["remove"] == ("any any Read", "")
    with pytest.raises(UsageError, match="unknown option '--topc'"):
        parse(tokenize("alter-acls --add --topc t"), REGISTRY)


def test_the_options_offer_what_can_be_typed() -> None:
    command = next(each for each in REGISTRY if each.name == "list-acls")
    operation, kind = command.option("--operation"), command.option("--resource-type")
    assert operation is not None
    assert kind is not None
    assert sorted(operation.choices) == sorted(OPERATIONS)
    assert kind.choices == tuple(each.kind for each in kinds)
