"""Whether brokers can be stopped, in which order to restart them, and waiting for their return."""
