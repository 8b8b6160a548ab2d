"""Transactions and producers."""

from __future__ import annotations
