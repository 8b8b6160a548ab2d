"""Commands on delegation tokens."""
