"""Commands on replicas, leaders and log directories."""
