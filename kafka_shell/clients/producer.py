"""KafkaProducer that follows dynamic client configs."""

from __future__ import annotations

import weakref
from typing import Any

from kafka import KafkaProducer

from .decide import producer_rules
from .follow import Follower, follow
from .internals import ProducerParts


class DynamicKafkaProducer(KafkaProducer):  # type: ignore[misc]
    """kafka-python's KafkaProducer, whose configs administrators can change while it runs.

    It takes the same arguments, and `dynamic_config_user`: who it is for its brokers, where
    `sasl_plain_username` does not say so.
    """

    _follower: Follower | None = None

    def __init__(self, *, dynamic_config_user: str | None = None, **configs: Any) -> None:
        super().__init__(**configs)
        self._follower = follow(
            lambda _: ProducerParts(self),
            lambda parts: producer_rules(idempotent=parts.idempotent, has_codec=parts.has_codec),
            configs,
            self.config["client_id"],
            dynamic_config_user,
        )
        if self._follower is not None:
            weakref.finalize(self, self._follower.stop, wait=False)

    def close(self, timeout: float | None = None, null_logger: bool = False) -> None:
        """Stop to follow, and close as kafka-python does. `timeout` is in seconds."""
        if self._follower is not None:
            # `null_logger`: it is being deleted, on whatever thread; nothing may be waited for.
            self._follower.stop(wait=not null_logger)
        super().close(timeout=timeout, null_logger=null_logger)
