"""Describe ACLs by every filter, create and delete them, on a real broker."""

from __future__ import annotations

import pytest

from kafka_shell.admin.acls import read as acls
from kafka_shell.admin.acls.model import (
    CLUSTER_NAME,
    AclBinding,
    AclOperation,
    AclPermission,
    AclResourceType,
    PatternType,
)
from kafka_shell.base.structs import replace

TOPIC, GROUP = AclResourceType.TOPIC, AclResourceType.GROUP
READ, WRITE = AclOperation.READ, AclOperation.WRITE
ALLOW, DENY = AclPermission.ALLOW, AclPermission.DENY
LITERAL, PREFIXED = PatternType.LITERAL, PatternType.PREFIXED


def reads(principal: str, name: str = "orders", pattern: PatternType = LITERAL) -> AclBinding:
    return AclBinding(principal, "*", READ, ALLOW, TOPIC, name, pattern)


@pytest.mark.parametrize(
    ("host", "said"),
    [
        ("*", ""),
        ("10.0.0.1", ""),
        ("0:0:0:0:0:0:0:1", ""),
        ("::1", "0:0:0:0:0:0:0:1"),
        ("app.example.com", "not an IP address"),
        ("10.0.0.0/8", "not an IP address"),
    ],
)
def test_a_host_that_never_matches_is_doubted(host: str, said: str) -> None:
    doubts = list(acls.doubts(replace(reads("User:b"), host=host)))
    assert len(doubts) == bool(said)
    assert said in "".join(doubts)
    star = replace(reads("User:b"), name="*", pattern_type=PREFIXED)
    assert len(list(acls.doubts(star))) == 1


@pytest.mark.parametrize(
    ("principal", "said"),
    [
        ("User:*", ""),
        ("User:CN=*.example.com", ""),
        ("Group:ops", ""),
        ("user:eve", "principal user:eve never matches: types are case-sensitive, use User:eve"),
        ("USER:*", "use User:*"),
        ("User:svc-*", "matches only the user 'svc-*': only User:* is a wildcard"),
    ],
)
def test_a_principal_that_never_matches_is_doubted(principal: str, said: str) -> None:
    """Before: only the topic, the operation and the host of an ACL were checked."""
    doubts = list(acls.doubts(reads(principal)))
    assert len(doubts) == bool(said)
    assert said in "".join(doubts)


@pytest.mark.parametrize(
    ("kind", "name", "pattern", "said"),
    [
        (GROUP, "*", LITERAL, ""),
        (GROUP, "a*b", LITERAL, ""),
        (GROUP, "svc-", PREFIXED, ""),
        (GROUP, "svc-*", LITERAL,
         "an ACL on group svc-* matches only 'svc-*': the asterisk (*) is not a wildcard there;"
         " to match groups by prefix, use: prefixed group svc-"),
        (GROUP, "svc-*", PREFIXED,
         "an ACL on prefixed group svc-* matches only names that begin with 'svc-*'"),
        (AclResourceType.TRANSACTIONAL_ID, "tx-*", LITERAL,
         "to match transactional IDs by prefix, use: prefixed transactional-id tx-"),
        (AclResourceType.USER, "User:eve", LITERAL, ""),
        (AclResourceType.USER, "*", LITERAL, ""),
        (AclResourceType.USER, "eve", LITERAL, "never matches: use the principal, User:eve"),
    ],
)  # fmt: skip
def test_a_name_that_matches_less_than_it_seems_is_doubted(
    kind: AclResourceType, name: str, pattern: PatternType, said: str
) -> None:
    operation = AclOperation.ALL
    doubts = list(acls.doubts(AclBinding("User:b", "*", operation, ALLOW, kind, name, pattern)))
    assert len(doubts) == bool(said)
    assert said in "".join(doubts)


def test_an_acl_is_said_as_it_is_typed() -> None:
    said = {
        reads("User:bob"): "allow User:bob Read on topic orders",
        AclBinding("User:eve", "10.0.0.1", AclOperation.DESCRIBE_CONFIGS, DENY, TOPIC, "*"):
            "deny User:eve DescribeConfigs from 10.0.0.1 on topic *",
        reads("User:CN=Bob Smith,O=x", "pay.", PREFIXED):
            "allow 'User:CN=Bob Smith,O=x' Read on prefixed topic pay.",
        AclBinding("User:*", "*", AclOperation.ALL, ALLOW, AclResourceType.CLUSTER, CLUSTER_NAME):
            "allow User:* All on cluster",
        AclBinding("User:a", "*", WRITE, ALLOW, AclResourceType.TRANSACTIONAL_ID, "t"):
            "allow User:a Write on transactional-id t",
    }  # fmt: skip
    assert {binding: str(binding) for binding in said} == said
    assert AclOperation(99) is AclOperation.UNKNOWN
