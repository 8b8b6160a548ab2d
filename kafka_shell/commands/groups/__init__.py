"""Commands on groups."""
