"""Producers and consumers that follow dynamic client configs (KIP-649) while they run."""

from .consumer import DynamicKafkaConsumer
from .producer import DynamicKafkaProducer

__all__ = ["DynamicKafkaConsumer", "DynamicKafkaProducer"]
