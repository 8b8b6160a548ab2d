"""The cached view of one cluster."""
