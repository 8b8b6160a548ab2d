"""The vocabulary: frozen dataclasses that every layer speaks. Imports nothing of ours."""

from .cluster import (
    ClusterMetadata,
    Finding,
    Health,
    Lazy,
    Listing,
    Nothing,
    Severity,
)
from .config_table import ConfigTable
from .configs import (
    ConfigAlteration,
    ConfigEntry,
    ConfigOp,
    ConfigResource,
    ConfigSource,
    ConfigSynonym,
    ConfigType,
    ResourceType,
    Unit,
    own_source,
)
from .outcome import Done, HistoryLine, JournalEntry, Outcome
from .plans import Change, Effect, Plan, Report, Resource, Secret, Step, Value, merge_plans
from .results import Failure, Parts, Results, names
from .sandbox import SandboxReport
from .topics import Broker, NewTopic, Partition, Topic, TopicDescription, TopicSummary

__all__ = [
    "Broker",
    "Change",
    "ClusterMetadata",
    "ConfigAlteration",
    "ConfigEntry",
    "ConfigOp",
    "ConfigResource",
    "ConfigSource",
    "ConfigSynonym",
    "ConfigTable",
    "ConfigType",
    "Done",
    "Effect",
    "Failure",
    "Finding",
    "Health",
    "HistoryLine",
    "JournalEntry",
    "Lazy",
    "Listing",
    "NewTopic",
    "Nothing",
    "Outcome",
    "Partition",
    "Parts",
    "Plan",
    "Report",
    "Resource",
    "ResourceType",
    "Results",
    "SandboxReport",
    "Secret",
    "Severity",
    "Step",
    "Topic",
    "TopicDescription",
    "TopicSummary",
    "Unit",
    "Value",
    "merge_plans",
    "names",
    "own_source",
]
