"""Commands on dynamic client configs (KIP-649)."""
