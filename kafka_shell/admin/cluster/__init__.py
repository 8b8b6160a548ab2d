"""Brokers, the metadata quorum, features, and the health of the cluster."""
