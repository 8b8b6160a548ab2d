"""KafkaConsumer that follows dynamic client configs."""

from __future__ import annotations

import weakref
from typing import Any

from kafka import KafkaConsumer

from .decide import consumer_rules
from .follow import Follower, follow
from .internals import ConsumerParts


class DynamicKafkaConsumer(KafkaConsumer):  # type: ignore[misc]
    """kafka-python's KafkaConsumer, whose configs administrators can change while it runs.

    It takes the same arguments, and `dynamic_config_user`: who it is for its brokers, where
    `sasl_plain_username` does not say so. With `dynamic_config_rejoin=False` it never joins its
    group again for a new session.timeout.ms or max.poll.interval.ms, which would rebalance the
    group: such a value waits for the next rebalance.
    """

    _follower: Follower | None = None

    def __init__(
        self,
        *topics: str,
        dynamic_config_user: str | None = None,
        dynamic_config_rejoin: bool = True,
        **configs: Any,
    ) -> None:
        super().__init__(*topics, **configs)
        self._follower = follow(
            lambda refused: ConsumerParts(self, refused),
            lambda parts: consumer_rules(idle_ms=parts.idle_ms, receive_bytes=parts.receive_bytes),
            configs,
            self.config["client_id"],
            dynamic_config_user,
            dynamic_config_rejoin,
        )
        if self._follower is not None:
            weakref.finalize(self, self._follower.stop, wait=False)

    def close(self, autocommit: bool = True, timeout_ms: float | None = None) -> None:
        """Stop to follow, and close as kafka-python does. `timeout_ms` is in milliseconds."""
        if self._follower is not None:
            self._follower.stop()
        super().close(autocommit=autocommit, timeout_ms=timeout_ms)
