"""Kafka's error codes: their names and descriptions.

kafka-python's own table has older names for some, and lacks the newest.
"""

from __future__ import annotations

_DESCRIPTIONS: dict[int, str] = {}


def _code(code: int, description: str) -> int:
    _DESCRIPTIONS[code] = description
    return code


# Codes that no admin request returns have no description.
UNKNOWN_SERVER_ERROR = _code(-1, "unexpected error on the broker; see its log")
NONE = 0
OFFSET_OUT_OF_RANGE = _code(1, "the offset is not in the partition's log")
CORRUPT_MESSAGE = 2
UNKNOWN_TOPIC_OR_PARTITION = _code(
    3, "the topic or partition does not exist, or you are not authorized to DESCRIBE it"
)
INVALID_FETCH_SIZE = 4
LEADER_NOT_AVAILABLE = _code(5, "the partition has no leader")
NOT_LEADER_OR_FOLLOWER = _code(6, "the broker is not the partition's leader")
REQUEST_TIMED_OUT = _code(7, "the request timed out on the broker")
BROKER_NOT_AVAILABLE = _code(8, "the broker is not available")
REPLICA_NOT_AVAILABLE = _code(9, "the replica is not available on that broker")
MESSAGE_TOO_LARGE = _code(10, "the record is larger than the topic's max.message.bytes")
STALE_CONTROLLER_EPOCH = 11
OFFSET_METADATA_TOO_LARGE = _code(12, "the metadata of the committed offset is too long")
NETWORK_EXCEPTION = 13
COORDINATOR_LOAD_IN_PROGRESS = _code(14, "the coordinator is loading its state")
COORDINATOR_NOT_AVAILABLE = _code(15, "the coordinator is not available")
NOT_COORDINATOR = _code(16, "the broker is not the coordinator")
INVALID_TOPIC_EXCEPTION = _code(17, "the topic name is invalid, or the topic is internal")
RECORD_LIST_TOO_LARGE = 18
NOT_ENOUGH_REPLICAS = _code(19, "not enough in-sync replicas")
NOT_ENOUGH_REPLICAS_AFTER_APPEND = 20
INVALID_REQUIRED_ACKS = 21
ILLEGAL_GENERATION = 22
INCONSISTENT_GROUP_PROTOCOL = 23
INVALID_GROUP_ID = _code(24, "the group ID is invalid")
UNKNOWN_MEMBER_ID = _code(25, "the group does not have this member")
INVALID_SESSION_TIMEOUT = 26
REBALANCE_IN_PROGRESS = _code(27, "the group is rebalancing")
INVALID_COMMIT_OFFSET_SIZE = 28
TOPIC_AUTHORIZATION_FAILED = _code(29, "not authorized for the topic")
GROUP_AUTHORIZATION_FAILED = _code(30, "not authorized for the group")
CLUSTER_AUTHORIZATION_FAILED = _code(31, "not authorized for the cluster")
INVALID_TIMESTAMP = 32
UNSUPPORTED_SASL_MECHANISM = _code(33, "this SASL mechanism is not enabled on the listener")
ILLEGAL_SASL_STATE = _code(34, "unexpected SASL request")
UNSUPPORTED_VERSION = _code(35, "the broker does not support this version of the request")
TOPIC_ALREADY_EXISTS = _code(36, "the topic already exists")
INVALID_PARTITIONS = _code(37, "the number of partitions is invalid")
INVALID_REPLICATION_FACTOR = _code(
    38, "the replication factor is less than 1 or greater than the number of brokers"
)
INVALID_REPLICA_ASSIGNMENT = _code(39, "the replica assignment is invalid")
INVALID_CONFIG = _code(40, "a config has an invalid value")
NOT_CONTROLLER = _code(41, "the broker is not the controller")
INVALID_REQUEST = _code(42, "the request is invalid")
UNSUPPORTED_FOR_MESSAGE_FORMAT = 43
POLICY_VIOLATION = _code(
    44,
    "rejected by a create.topic or alter.config policy of the cluster",
)
OUT_OF_ORDER_SEQUENCE_NUMBER = 45
DUPLICATE_SEQUENCE_NUMBER = 46
INVALID_PRODUCER_EPOCH = 47
INVALID_TXN_STATE = _code(48, "the state of the transaction does not allow it")
INVALID_PRODUCER_ID_MAPPING = _code(49, "the producer ID belongs to another transactional ID")
INVALID_TRANSACTION_TIMEOUT = _code(
    50, "the transaction timeout is greater than the broker's transaction.max.timeout.ms"
)
CONCURRENT_TRANSACTIONS = _code(51, "another operation on the transaction is in progress")
TRANSACTION_COORDINATOR_FENCED = 52
TRANSACTIONAL_ID_AUTHORIZATION_FAILED = _code(53, "not authorized for the transactional ID")
SECURITY_DISABLED = _code(54, "the brokers have no authorizer configured")
OPERATION_NOT_ATTEMPTED = _code(55, "not attempted, because another item of the request failed")
KAFKA_STORAGE_ERROR = _code(56, "a disk of the broker failed; see its log")
LOG_DIR_NOT_FOUND = _code(57, "the broker does not have this log directory")
SASL_AUTHENTICATION_FAILED = _code(58, "authentication failed")
UNKNOWN_PRODUCER_ID = 59
REASSIGNMENT_IN_PROGRESS = _code(60, "a reassignment of the partition is in progress")
DELEGATION_TOKEN_AUTH_DISABLED = _code(61, "delegation tokens are disabled on the brokers")
DELEGATION_TOKEN_NOT_FOUND = _code(
    62, "the delegation token does not exist, or you are not authorized to DESCRIBE it"
)
DELEGATION_TOKEN_OWNER_MISMATCH = _code(63, "the delegation token belongs to another user")
DELEGATION_TOKEN_REQUEST_NOT_ALLOWED = _code(
    64, "delegation tokens require authentication with SASL or TLS, and not with a delegation token"
)
DELEGATION_TOKEN_AUTHORIZATION_FAILED = _code(65, "not authorized for the delegation token")
DELEGATION_TOKEN_EXPIRED = _code(66, "the delegation token has expired")
INVALID_PRINCIPAL_TYPE = _code(67, "the principal type is not supported here")
NON_EMPTY_GROUP = _code(68, "the group has members")
GROUP_ID_NOT_FOUND = _code(69, "the group does not exist")
FETCH_SESSION_ID_NOT_FOUND = 70
INVALID_FETCH_SESSION_EPOCH = 71
LISTENER_NOT_FOUND = _code(72, "the partition's leader does not have this listener")
TOPIC_DELETION_DISABLED = _code(73, "the brokers have delete.topic.enable=false")
FENCED_LEADER_EPOCH = 74
UNKNOWN_LEADER_EPOCH = 75
UNSUPPORTED_COMPRESSION_TYPE = _code(76, "the codec is not supported")
STALE_BROKER_EPOCH = 77
OFFSET_NOT_AVAILABLE = 78
MEMBER_ID_REQUIRED = 79
PREFERRED_LEADER_NOT_AVAILABLE = _code(80, "the preferred leader is not available")
GROUP_MAX_SIZE_REACHED = _code(81, "the group is full (group.max.size)")
FENCED_INSTANCE_ID = 82
ELIGIBLE_LEADERS_NOT_AVAILABLE = _code(83, "no eligible leader is available")
ELECTION_NOT_NEEDED = _code(84, "the partition already has the requested leader")
NO_REASSIGNMENT_IN_PROGRESS = _code(85, "no reassignment of the partition is in progress")
GROUP_SUBSCRIBED_TO_TOPIC = _code(86, "the group is subscribed to the topic")
INVALID_RECORD = 87
UNSTABLE_OFFSET_COMMIT = _code(88, "offsets of an open transaction are pending")
THROTTLING_QUOTA_EXCEEDED = _code(89, "the quota for this operation is exceeded")
PRODUCER_FENCED = _code(90, "fenced by a newer producer")
RESOURCE_NOT_FOUND = _code(91, "the resource does not exist")
DUPLICATE_RESOURCE = _code(92, "the resource is specified twice or already exists")
UNACCEPTABLE_CREDENTIAL = _code(93, "the password or its number of iterations is not acceptable")
INCONSISTENT_VOTER_SET = 94
INVALID_UPDATE_VERSION = _code(95, "the feature level is invalid")
FEATURE_UPDATE_FAILED = _code(96, "the feature could not be updated")
PRINCIPAL_DESERIALIZATION_FAILURE = _code(97, "the brokers could not forward the principal")
SNAPSHOT_NOT_FOUND = 98
POSITION_OUT_OF_RANGE = 99
UNKNOWN_TOPIC_ID = _code(100, "no topic has this ID")
DUPLICATE_BROKER_REGISTRATION = 101
BROKER_ID_NOT_REGISTERED = _code(102, "no broker with this ID is registered")
INCONSISTENT_TOPIC_ID = _code(103, "the topic ID has changed: the topic was recreated")
INCONSISTENT_CLUSTER_ID = _code(104, "the request is for another cluster")
TRANSACTIONAL_ID_NOT_FOUND = _code(105, "the transactional ID does not exist")
FETCH_SESSION_TOPIC_ID_ERROR = 106
INELIGIBLE_REPLICA = _code(107, "a replica is not eligible")
NEW_LEADER_ELECTED = _code(108, "a new leader was elected")
OFFSET_MOVED_TO_TIERED_STORAGE = _code(109, "the offset has moved to tiered storage")
FENCED_MEMBER_EPOCH = 110
UNRELEASED_INSTANCE_ID = 111
UNSUPPORTED_ASSIGNOR = _code(112, "the broker supports none of the group's assignors")
STALE_MEMBER_EPOCH = 113
MISMATCHED_ENDPOINT_TYPE = _code(
    114, "the request was sent to a controller instead of a broker, or the reverse"
)
UNSUPPORTED_ENDPOINT_TYPE = _code(115, "the broker does not support this endpoint type")
UNKNOWN_CONTROLLER_ID = 116
UNKNOWN_SUBSCRIPTION_ID = _code(117, "the client metrics subscription does not exist")
TELEMETRY_TOO_LARGE = 118
INVALID_REGISTRATION = 119
TRANSACTION_ABORTABLE = 120
INVALID_RECORD_STATE = 121
SHARE_SESSION_NOT_FOUND = 122
INVALID_SHARE_SESSION_EPOCH = 123
FENCED_STATE_EPOCH = 124
INVALID_VOTER_KEY = _code(125, "the voter ID or directory ID does not match")
DUPLICATE_VOTER = _code(126, "it is already a voter")
VOTER_NOT_FOUND = _code(127, "it is not a voter")
INVALID_REGULAR_EXPRESSION = _code(128, "the regular expression is invalid")
REBOOTSTRAP_REQUIRED = 129
STREAMS_INVALID_TOPOLOGY = 130
STREAMS_INVALID_TOPOLOGY_EPOCH = 131
STREAMS_TOPOLOGY_FENCED = 132
SHARE_SESSION_LIMIT_REACHED = 133

ERRORS = {
    code: (name, _DESCRIPTIONS.get(code, ""))
    for name, code in list(globals().items())
    if isinstance(code, int)
}
"""Name and description by code."""
