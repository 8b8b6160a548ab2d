"""Commands on topics."""
