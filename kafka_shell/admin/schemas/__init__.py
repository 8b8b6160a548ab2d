"""Schemas of a schema registry, and the messages that are encoded with them."""
