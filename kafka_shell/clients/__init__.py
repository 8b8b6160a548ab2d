"""Producers and consumers that follow dynamic client configs (KIP-649) while they run."""

from kafka_shell.clients.dynamic import DynamicKafkaConsumer, DynamicKafkaProducer

__all__ = ["DynamicKafkaConsumer", "DynamicKafkaProducer"]
