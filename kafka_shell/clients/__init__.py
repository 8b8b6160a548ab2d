"""KafkaProducer and KafkaConsumer that follow dynamic client configs (KIP-649) while they run."""

from __future__ import annotations

import weakref
from typing import Any

from kafka import KafkaConsumer, KafkaProducer

from kafka_shell.clients.follow import Follower
from kafka_shell.clients.follow import follow as follow_configs
from kafka_shell.clients.internals import ConsumerConfigs, ProducerConfigs
from kafka_shell.clients.validate import consumer_rules, producer_rules

__all__ = ["DynamicKafkaConsumer", "DynamicKafkaProducer"]


class DynamicKafkaProducer(KafkaProducer):  # type: ignore[misc]
    """A KafkaProducer of kafka-python whose configs administrators can change while it runs.

    Takes the same arguments, and `dynamic_config_user`: the user name of this client, if it is not
    `sasl_plain_username`.
    """

    _follower: Follower | None = None

    def __init__(self, *, dynamic_config_user: str | None = None, **configs: Any) -> None:
        super().__init__(**configs)
        self._follower = follow_configs(
            lambda _: ProducerConfigs(self),
            lambda running: producer_rules(
                idempotent=running.idempotent, has_codec=running.has_codec
            ),
            configs,
            self.config["client_id"],
            dynamic_config_user,
        )
        if self._follower is not None:
            weakref.finalize(self, self._follower.stop, wait=False)

    def close(self, timeout: float | None = None, null_logger: bool = False) -> None:
        """Stop following configs and close the producer. `timeout` is in seconds."""
        if self._follower is not None:
            # `null_logger` is set during garbage collection, which must not wait.
            self._follower.stop(wait=not null_logger)
        super().close(timeout=timeout, null_logger=null_logger)


# -- KafkaConsumer that follows dynamic client configs ---------------------------------------------


class DynamicKafkaConsumer(KafkaConsumer):  # type: ignore[misc]
    """A KafkaConsumer of kafka-python whose configs administrators can change while it runs.

    Takes the same arguments, and `dynamic_config_user`: the user name of this client, if it is not
    `sasl_plain_username`. With `dynamic_config_rejoin=False` a new session.timeout.ms or
    max.poll.interval.ms takes effect with the next rebalance; by default the consumer rejoins its
    group, which causes a rebalance.
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
        self._follower = follow_configs(
            lambda rejected: ConsumerConfigs(self, rejected),
            lambda running: consumer_rules(
                idle_ms=running.idle_ms, receive_bytes=running.receive_bytes
            ),
            configs,
            self.config["client_id"],
            dynamic_config_user,
            dynamic_config_rejoin,
        )
        if self._follower is not None:
            weakref.finalize(self, self._follower.stop, wait=False)

    def close(self, autocommit: bool = True, timeout_ms: float | None = None) -> None:
        """Stop following configs and close the consumer. `timeout_ms` is in milliseconds."""
        if self._follower is not None:
            self._follower.stop()
        super().close(autocommit=autocommit, timeout_ms=timeout_ms)
