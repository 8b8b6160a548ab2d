"""A resource of a cluster: what a change or an error is about."""

from __future__ import annotations

from msgspec import Struct


class Resource(Struct, frozen=True, order=True):
    """A resource by kind and name. `kind` is Kafka's word: topic, broker, broker-default, group ...

    Without a name it is the resources of that kind: `Resource("topic")` is the topics.
    """

    kind: str
    name: str = ""

    def __str__(self) -> str:
        return " ".join(filter(None, (self.kind, self.name)))
