"""The effective quota by level, compared with what a real broker throttles."""

from __future__ import annotations

from kafka_shell.admin.quotas import read as quota_resolution
from kafka_shell.admin.quotas.model import (
    DEFAULT,
    Quota,
    QuotaEntity,
)
from tests.support.quota_entities import USER, levels_of, resolved


def test_the_levels_are_those_of_kafka_in_its_order() -> None:
    assert quota_resolution.levels(USER, "app") == levels_of("app")
    (resolution, *_) = quota_resolution.effective_quotas((), USER, "app").resolutions
    assert [level.source.value for level in resolution.levels] == [
        "Client of user",
        "Default client of user",
        "User",
        "Client of default user",
        "Default client of default user",
        "Default user",
        "Client",
        "Default client",
    ]


def test_who_is_named_by_no_quota_meets_the_defaults_only() -> None:
    assert quota_resolution.levels("u", None) == (
        QuotaEntity("u", DEFAULT), QuotaEntity("u"), QuotaEntity(DEFAULT, DEFAULT),
        QuotaEntity(DEFAULT), QuotaEntity(None, DEFAULT),
    )  # fmt: skip
    assert quota_resolution.levels(None, "c") == (
        QuotaEntity(DEFAULT, "c"), QuotaEntity(DEFAULT, DEFAULT), QuotaEntity(DEFAULT),
        QuotaEntity(None, "c"), QuotaEntity(None, DEFAULT),
    )  # fmt: skip


def test_a_client_that_tells_no_id_is_bound_by_users_only() -> None:
    assert quota_resolution.levels("u", "") == (QuotaEntity("u"), QuotaEntity(DEFAULT))


def test_each_limit_is_looked_up_on_its_own() -> None:
    found = [
        Quota(QuotaEntity("u", "c"), "producer_byte_rate", 1.0),
        Quota(QuotaEntity("u"), "producer_byte_rate", 2.0),
        Quota(QuotaEntity("u"), "request_percentage", 3.0),
        Quota(QuotaEntity("<default>"), "consumer_byte_rate", 4.0),
    ]
    client = quota_resolution.effective_quotas(found, "u", "c")
    assert resolved(client, "producer_byte_rate").value == 1.0
    assert resolved(client, "request_percentage").entity == QuotaEntity("u")
    assert resolved(client, "consumer_byte_rate").value is None, "a name is not the default"
    assert resolved(client, "controller_mutation_rate").levels[0].value is None
