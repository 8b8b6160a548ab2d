"""Messages of delegation tokens (KIP-48, KIP-900)."""

from __future__ import annotations

from kafka_shell.wire.schemas import load

CreateDelegationTokenRequest = load("CreateDelegationToken")
RenewDelegationTokenRequest = load("RenewDelegationToken")
ExpireDelegationTokenRequest = load("ExpireDelegationToken")
DescribeDelegationTokenRequest = load("DescribeDelegationToken")
