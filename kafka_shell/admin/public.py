"""The names that programs import from `kafka_shell.admin`."""

from __future__ import annotations

from kafka_shell.admin.acls.model import (
    Access,
    AclBinding,
    AclFilter,
    AclOperation,
    AclPermission,
    AclResourceType,
    PatternType,
)
from kafka_shell.admin.client import Admin
from kafka_shell.admin.client_configs.model import (
    ClientConfigAlteration,
    ClientConfigFilter,
    ClientEntity,
)
from kafka_shell.admin.cluster.model import Voter
from kafka_shell.admin.cluster.restart.judge import Verdict
from kafka_shell.admin.configs.model import ConfigAlteration, ConfigOp, ConfigResource, ResourceType
from kafka_shell.admin.groups.model import GroupType, ResetTarget, ResetTo
from kafka_shell.admin.partitions.batches import BatchLimits
from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.admin.quotas.model import (
    ANY_NAME,
    DEFAULT,
    QuotaAlteration,
    QuotaEntity,
    QuotaFilter,
)
from kafka_shell.admin.records.copy import CopyRequest
from kafka_shell.admin.records.model import NewRecord, Record
from kafka_shell.admin.records.read import Position
from kafka_shell.admin.topics.model import NewTopic
from kafka_shell.admin.transactions.model import HangingTransaction
from kafka_shell.admin.users.model import NewScramCredential, ScramMechanism
from kafka_shell.base.errors import ShellError
from kafka_shell.base.plans import Change, Effect, Resource, Secret
from kafka_shell.base.results import Failure, Results

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
