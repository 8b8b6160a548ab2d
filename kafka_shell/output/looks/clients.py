"""Quotas, SCRAM credentials and the page of a user."""

from __future__ import annotations
