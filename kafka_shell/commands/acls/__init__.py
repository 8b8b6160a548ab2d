"""Commands on ACLs."""
