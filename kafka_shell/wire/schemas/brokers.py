"""Messages between brokers and controllers (KIP-631)."""

from __future__ import annotations

from kafka_shell.wire.schemas import load

BrokerRegistrationRequest = load("BrokerRegistration")
BrokerHeartbeatRequest = load("BrokerHeartbeat")
AlterPartitionRequest = load("AlterPartition")
