"""Kafka's protocol: connections, login, requests in flight, messages."""
