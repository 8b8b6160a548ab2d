"""Client quotas."""
