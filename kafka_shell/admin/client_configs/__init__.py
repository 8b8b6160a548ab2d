"""Dynamic client configs (KIP-649)."""
