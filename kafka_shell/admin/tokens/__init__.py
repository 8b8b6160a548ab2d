"""Delegation tokens."""
