"""Replicas: reassignments, throttles, elections, log directories."""
