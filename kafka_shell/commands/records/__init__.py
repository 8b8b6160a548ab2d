"""Commands on offsets and records."""
