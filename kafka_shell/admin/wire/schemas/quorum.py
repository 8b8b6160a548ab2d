"""Messages of voters (KIP-853) and of unregistering brokers (KIP-631): kafka-python lacks them."""

from __future__ import annotations

from kafka.protocol.api_message import ApiMessage

_HERE = __package__


class AddRaftVoterRequest(ApiMessage, load_json=_HERE): ...  # type: ignore[call-arg,misc]


class AddRaftVoterResponse(ApiMessage, load_json=_HERE): ...  # type: ignore[call-arg,misc]


class RemoveRaftVoterRequest(ApiMessage, load_json=_HERE): ...  # type: ignore[call-arg,misc]


class RemoveRaftVoterResponse(ApiMessage, load_json=_HERE): ...  # type: ignore[call-arg,misc]


class UnregisterBrokerRequest(ApiMessage, load_json=_HERE): ...  # type: ignore[call-arg,misc]


class UnregisterBrokerResponse(ApiMessage, load_json=_HERE): ...  # type: ignore[call-arg,misc]
