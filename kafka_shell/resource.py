"""A resource of a cluster: what a change or an error is about."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Resource:
    """A resource by kind and name. `kind` is Kafka's word: topic, broker, broker-default, group ...

    Without a name it is the resources of that kind: `Resource("topic")` is the topics.
    """

    kind: str
    name: str = ""

    def __str__(self) -> str:
        return " ".join(filter(None, (self.kind, self.name)))
