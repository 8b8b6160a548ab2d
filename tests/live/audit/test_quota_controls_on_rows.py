"""Controls of quotas evaluated on given rows."""

from __future__ import annotations

from typing import Any

from tests.support.control_rows import Case, configs, evaluating, found


def quota(entity: str, key: str, value: float = 1e6, **values: Any) -> dict[str, Any]:
    """A quota."""
    options = f"--{entity.replace(' ', '=')}"
    return {"entity": entity, "key": key, "value": value, "options": options} | values


CASES: list[Case] = [
    (
        "Q01", "a default user quota would outrank the quotas of client IDs",
        {"quotas": [quota("client-id a", "producer_byte_rate", client_id="a"),
                    quota("user u client-id a", "consumer_byte_rate", client_id="a", user="u")]},
        [found("producer_byte_rate", "alarm",
               remedy="alter-quotas --client-id-default producer_byte_rate=104857600",
               undo="alter-quotas --client-id-default --delete-config=producer_byte_rate"),
         found("consumer_byte_rate", "alarm",
               remedy="alter-quotas --user-default consumer_byte_rate=104857600",
               undo="alter-quotas --user-default --delete-config=consumer_byte_rate")],
    ),
    (
        "Q02", "the default user quota applies to unauthenticated clients as well",
        {"quotas": [quota("client-id a", "producer_byte_rate", client_id="a"),
                    quota("user-default", "producer_byte_rate", 2e6, user_default=True)]},
        [found("client-id a producer_byte_rate", "alarm",
               reason="1MB/s never applies: the default user quota is 2MB/s")],
    ),
    (
        "Q04", "the topic with the largest messages is named",
        {"quotas": [quota("user u", "producer_byte_rate", 100.0, user="u")],
         "broker_configs": [{"broker_id": 1, "key": "quota.window.num", "value": "10"},
                            {"broker_id": 1, "key": "quota.window.size.seconds", "value": "1"}],
         "topic_configs": [*configs("small", max_message_bytes="1048576"),
                           *configs("huge", max_message_bytes="20971520")]},
        [found("user u producer_byte_rate", "alarm",
               reason="1kB in 10s, the largest max.message.bytes is 20MiB (topic huge)")],
    ),
]  # fmt: skip


test_a_control_on_given_rows = evaluating(CASES)
