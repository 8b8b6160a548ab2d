"""Messages of delegation tokens (KIP-48, KIP-900), which kafka-python does not carry."""

from __future__ import annotations

from kafka.protocol.api_message import ApiMessage

_HERE = __package__


class CreateDelegationTokenRequest(ApiMessage, load_json=_HERE): ...  # type: ignore[call-arg,misc]


class CreateDelegationTokenResponse(ApiMessage, load_json=_HERE): ...  # type: ignore[call-arg,misc]


class RenewDelegationTokenRequest(ApiMessage, load_json=_HERE): ...  # type: ignore[call-arg,misc]


class RenewDelegationTokenResponse(ApiMessage, load_json=_HERE): ...  # type: ignore[call-arg,misc]


class ExpireDelegationTokenRequest(ApiMessage, load_json=_HERE): ...  # type: ignore[call-arg,misc]


class ExpireDelegationTokenResponse(ApiMessage, load_json=_HERE): ...  # type: ignore[call-arg,misc]


class DescribeDelegationTokenRequest(ApiMessage, load_json=_HERE): ...  # type: ignore[call-arg,misc]


class DescribeDelegationTokenResponse(ApiMessage, load_json=_HERE): ...  # type: ignore[call-arg,misc]
