"""Commands on a schema registry."""
