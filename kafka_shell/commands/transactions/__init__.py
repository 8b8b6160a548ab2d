"""Commands on transactions."""
