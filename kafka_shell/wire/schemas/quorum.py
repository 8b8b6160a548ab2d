"""Messages of voters (KIP-853) and of unregistering brokers (KIP-631)."""

from __future__ import annotations

from kafka_shell.wire.schemas import load

AddRaftVoterRequest = load("AddRaftVoter")
RemoveRaftVoterRequest = load("RemoveRaftVoter")
UnregisterBrokerRequest = load("UnregisterBroker")
