"""The connection to a twin, which refuses what the original would refuse for lack of permission."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import SimpleNamespace
from typing import Any

from kafka_shell.admin.acls.model import AclOperation
from kafka_shell.admin.configs.model import ResourceType
from kafka_shell.admin.wire.connection import Cluster
from kafka_shell.admin.wire.endpoint import ConnectionConfig
from kafka_shell.admin.wire.error_codes import (
    CLUSTER_AUTHORIZATION_FAILED,
    GROUP_AUTHORIZATION_FAILED,
    TOPIC_AUTHORIZATION_FAILED,
)
from kafka_shell.admin.wire.failures import as_error, failure
from kafka_shell.admin.wire.requests import ANY, Target, as_request
from kafka_shell.commands.rehearse.rights import ON_CLUSTER, ON_TOPICS, Rights

_DELETE_TOPICS, _CREATE_PARTITIONS, _ALTER_CONFIGS = 20, 37, 44
_OF_CLUSTER = (ResourceType.BROKER, ResourceType.BROKER_LOGGER, ResourceType.CLIENT_METRICS)
# API key -> the fields of the request with one item for each resource, and that of the response.
_ITEMS = {
    _DELETE_TOPICS: (("topics", "topic_names"), "responses"),
    _CREATE_PARTITIONS: (("topics",), "results"),
    _ALTER_CONFIGS: (("resources",), "responses"),
}


class TwinCluster(Cluster):
    """A twin, on which everything is allowed. What the user may not change on the original is not
    sent and fails with the error of a broker, so that it is missing from the twin afterwards."""

    def __init__(self, config: ConnectionConfig, rights: Rights) -> None:
        super().__init__(config)
        self._rights = rights

    def send(self, request: Any, to: Target = ANY, **options: Any) -> Any:
        """Send the part of a request that the user may send to the original."""
        key = as_request(request).api_key
        if key in ON_CLUSTER and self._rights.lacks(ON_CLUSTER[key]):
            self.sent.add(key)  # the line is judged as if it had been sent
            needs = f"Requires {ON_CLUSTER[key].name} on the cluster."
            raise as_error(failure(CLUSTER_AUTHORIZATION_FAILED, hint=needs))
        refused = dict(self._refused(key, request)) if key in _ITEMS else {}
        if not refused:
            return super().send(request, to, **options)
        self.sent.add(key)
        fields, rows = _ITEMS[key]
        count = max(len(getattr(request, field)) for field in fields)
        for field in fields:
            items = getattr(request, field)
            setattr(request, field, [each for at, each in enumerate(items) if at not in refused])
        if len(refused) == count:
            return SimpleNamespace(throttle_time_ms=0, **{rows: list(refused.values())})
        response = super().send(request, to, **options)
        setattr(response, rows, [*getattr(response, rows), *refused.values()])
        return response

    def _refused(self, key: int, request: Any) -> Iterator[tuple[int, Any]]:
        """The positions of the items that the original would refuse, with the row of each."""
        if key == _ALTER_CONFIGS:
            for at, each in enumerate(request.resources):
                if code := self._refusal_of_configs(each.resource_type, each.resource_name):
                    yield at, _row(code, each)
            return
        items: Sequence[Any] = request.topics
        names = [each.name for each in items]
        if key == _DELETE_TOPICS:
            items, names = items or request.topic_names, request.topic_names  # by ID, or by name
        for at, (each, name) in enumerate(zip(items, names, strict=True)):
            if self._rights.lacks(ON_TOPICS[key], name):
                yield at, _row(TOPIC_AUTHORIZATION_FAILED, each, name)

    def _refusal_of_configs(self, kind: int, name: str) -> int:
        """The error code of changing the configs of a resource, or 0 if it may be allowed."""
        if kind == ResourceType.TOPIC:
            lacks = self._rights.lacks(AclOperation.ALTER_CONFIGS, name)
            return TOPIC_AUTHORIZATION_FAILED if lacks else 0
        if kind == ResourceType.GROUP:
            return GROUP_AUTHORIZATION_FAILED if self._rights.lacks_on_group(name) else 0
        lacks = kind in _OF_CLUSTER and self._rights.lacks(AclOperation.ALTER_CONFIGS)
        return CLUSTER_AUTHORIZATION_FAILED if lacks else 0


def _row(code: int, item: Any, name: str = "") -> Any:
    """The row of a response for an item of a request."""
    return SimpleNamespace(
        error_code=code,
        error_message=None,
        name=name,
        topic_id=getattr(item, "topic_id", None),
        resource_type=getattr(item, "resource_type", None),
        resource_name=getattr(item, "resource_name", None),
    )
