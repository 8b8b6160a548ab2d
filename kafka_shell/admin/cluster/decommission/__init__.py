"""Removing a broker for good: what is done, whether the rest can be, and the plans that do it."""
