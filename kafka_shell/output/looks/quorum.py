"""The metadata quorum, features, and what brokers speak."""

from __future__ import annotations
