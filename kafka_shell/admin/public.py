"""The names that programs import from `kafka_shell.admin`."""

from __future__ import annotations

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
from .cluster.restart.model import Verdict
from .configs.model import ConfigAlteration, ConfigOp, ConfigResource, ResourceType
from .groups.model import GroupType, ResetTarget, ResetTo
from .partitions.batches import BatchLimits
from .partitions.model import TopicPartition
from .quotas.model import ANY_NAME, DEFAULT, QuotaAlteration, QuotaEntity, QuotaFilter
from .records.copy_plan import CopyRequest
from .records.model import NewRecord, Record
from .records.read import Position
from .topics.model import NewTopic
from .transactions.model import HangingTransaction
from .users.model import NewScramCredential, ScramMechanism

__all__ = [
    "ANY_NAME",
    "DEFAULT",
    "Access",
    "AclBinding",
    "AclFilter",
    "AclOperation",
    "AclPermission",
    "AclResourceType",
    "Admin",
    "BatchLimits",
    "Change",
    "ClientConfigAlteration",
    "ClientConfigFilter",
    "ClientEntity",
    "ConfigAlteration",
    "ConfigOp",
    "ConfigResource",
    "CopyRequest",
    "Effect",
    "Failure",
    "GroupType",
    "HangingTransaction",
    "NewRecord",
    "NewScramCredential",
    "NewTopic",
    "PatternType",
    "Position",
    "QuotaAlteration",
    "QuotaEntity",
    "QuotaFilter",
    "Record",
    "ResetTarget",
    "ResetTo",
    "Resource",
    "ResourceType",
    "Results",
    "ScramMechanism",
    "Secret",
    "ShellError",
    "TopicPartition",
    "Verdict",
    "Voter",
]
