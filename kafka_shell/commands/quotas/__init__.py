"""Commands on client quotas."""
