"""Benchmarks: commands, not timed tests. `python -m tests.bench`."""
