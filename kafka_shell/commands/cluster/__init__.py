"""Commands on the cluster, its brokers and its quorum."""
