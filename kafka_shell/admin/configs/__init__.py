"""Configs of topics, brokers, loggers, groups and client metrics."""
