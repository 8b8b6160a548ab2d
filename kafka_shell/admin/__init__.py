"""The admin client: everything an Apache Kafka cluster lets an administrator read and change.

    from kafka_shell.admin import Admin, NewTopic

    with Admin("broker:9092") as admin:
        plan = admin.topics.plan_create([NewTopic("orders", partitions=3)])
        results = plan.apply()

`Admin` and the models are imported from here when they are first used. Everything else is internal.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kafka_shell.errors import ShellError
    from kafka_shell.plan.model import Change, Effect, Resource, Secret
    from kafka_shell.plan.results import Failure, Results

    from .acls.model import (
        Access,
        AclBinding,
        AclFilter,
        AclOperation,
        AclPermission,
        AclResourceType,
        PatternType,
    )
    from .client import Admin
    from .client_configs.model import ClientConfigAlteration, ClientConfigFilter, ClientEntity
    from .cluster.model import Voter
    from .configs.model import ConfigAlteration, ConfigOp, ConfigResource, ResourceType
    from .groups.model import GroupType, ResetTo, To
    from .partitions.model import TopicPartition
    from .quotas.model import DEFAULT, QuotaAlteration, QuotaEntity, QuotaFilter
    from .topics.model import NewTopic
    from .transactions.model import HangingTransaction
    from .users.model import NewScramCredential, ScramMechanism

__all__ = [
    "DEFAULT",
    "Access",
    "AclBinding",
    "AclFilter",
    "AclOperation",
    "AclPermission",
    "AclResourceType",
    "Admin",
    "Change",
    "ClientConfigAlteration",
    "ClientConfigFilter",
    "ClientEntity",
    "ConfigAlteration",
    "ConfigOp",
    "ConfigResource",
    "Effect",
    "Failure",
    "GroupType",
    "HangingTransaction",
    "NewScramCredential",
    "NewTopic",
    "PatternType",
    "QuotaAlteration",
    "QuotaEntity",
    "QuotaFilter",
    "ResetTo",
    "Resource",
    "ResourceType",
    "Results",
    "ScramMechanism",
    "Secret",
    "ShellError",
    "To",
    "TopicPartition",
    "Voter",
]

# Module -> what programs import from it, here: loaded when it is first used.
_HOMES = {
    "kafka_shell.errors": ("ShellError",),
    "kafka_shell.plan.model": (
        "Change",
        "Effect",
        "Resource",
        "Secret",
    ),
    "kafka_shell.plan.results": (
        "Failure",
        "Results",
    ),
    "kafka_shell.admin.acls.model": (
        "Access",
        "AclBinding",
        "AclFilter",
        "AclOperation",
        "AclPermission",
        "AclResourceType",
        "PatternType",
    ),
    "kafka_shell.admin.client": ("Admin",),
    "kafka_shell.admin.client_configs.model": (
        "ClientConfigAlteration",
        "ClientConfigFilter",
        "ClientEntity",
    ),
    "kafka_shell.admin.cluster.model": ("Voter",),
    "kafka_shell.admin.configs.model": (
        "ConfigAlteration",
        "ConfigOp",
        "ConfigResource",
        "ResourceType",
    ),
    "kafka_shell.admin.groups.model": (
        "GroupType",
        "ResetTo",
        "To",
    ),
    "kafka_shell.admin.partitions.model": ("TopicPartition",),
    "kafka_shell.admin.quotas.model": (
        "DEFAULT",
        "QuotaAlteration",
        "QuotaEntity",
        "QuotaFilter",
    ),
    "kafka_shell.admin.topics.model": ("NewTopic",),
    "kafka_shell.admin.transactions.model": ("HangingTransaction",),
    "kafka_shell.admin.users.model": (
        "NewScramCredential",
        "ScramMechanism",
    ),
}
_MODULE_OF = {name: module for module, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(_MODULE_OF[name]), name)
    globals()[name] = found
    return found
