"""Offsets and records of partitions."""
