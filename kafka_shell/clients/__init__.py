"""Producers and consumers that follow dynamic client configs (KIP-649) while they run."""

from kafka_shell.clients.consumer import DynamicKafkaConsumer
from kafka_shell.clients.producer import DynamicKafkaProducer

__all__ = ["DynamicKafkaConsumer", "DynamicKafkaProducer"]
