"""Messages between brokers and controllers (KIP-631): kafka-python lacks them."""

from __future__ import annotations

from kafka.protocol.api_message import ApiMessage

_HERE = __package__


class BrokerRegistrationRequest(ApiMessage, load_json=_HERE): ...  # type: ignore[call-arg,misc]


class BrokerRegistrationResponse(ApiMessage, load_json=_HERE): ...  # type: ignore[call-arg,misc]


class BrokerHeartbeatRequest(ApiMessage, load_json=_HERE): ...  # type: ignore[call-arg,misc]


class BrokerHeartbeatResponse(ApiMessage, load_json=_HERE): ...  # type: ignore[call-arg,misc]
