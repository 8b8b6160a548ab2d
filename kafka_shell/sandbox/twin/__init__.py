"""A twin of a cluster: a real controller and broker with the same metadata, and no records."""
