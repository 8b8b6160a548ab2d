"""Kafka's error codes: their names and descriptions.

kafka-python's own table has older names for some, and lacks the newest.
"""

from __future__ import annotations

OFFSET_OUT_OF_RANGE = 1
CORRUPT_MESSAGE = 2
UNKNOWN_TOPIC_OR_PARTITION = 3
LEADER_NOT_AVAILABLE = 5
NOT_LEADER_OR_FOLLOWER = 6
REQUEST_TIMED_OUT = 7
BROKER_NOT_AVAILABLE = 8
REPLICA_NOT_AVAILABLE = 9
MESSAGE_TOO_LARGE = 10
NETWORK_EXCEPTION = 13
COORDINATOR_LOAD_IN_PROGRESS = 14
COORDINATOR_NOT_AVAILABLE = 15
NOT_COORDINATOR = 16
INVALID_TOPIC_EXCEPTION = 17
RECORD_LIST_TOO_LARGE = 18
NOT_ENOUGH_REPLICAS = 19
NOT_ENOUGH_REPLICAS_AFTER_APPEND = 20
UNKNOWN_MEMBER_ID = 25
TOPIC_AUTHORIZATION_FAILED = 29
GROUP_AUTHORIZATION_FAILED = 30
CLUSTER_AUTHORIZATION_FAILED = 31
INVALID_TIMESTAMP = 32
UNSUPPORTED_SASL_MECHANISM = 33
ILLEGAL_SASL_STATE = 34
UNSUPPORTED_VERSION = 35
NOT_CONTROLLER = 41
INVALID_REQUEST = 42
POLICY_VIOLATION = 44
OUT_OF_ORDER_SEQUENCE_NUMBER = 45
DUPLICATE_SEQUENCE_NUMBER = 46
INVALID_PRODUCER_EPOCH = 47
CONCURRENT_TRANSACTIONS = 51
TRANSACTIONAL_ID_AUTHORIZATION_FAILED = 53
SECURITY_DISABLED = 54
OPERATION_NOT_ATTEMPTED = 55
KAFKA_STORAGE_ERROR = 56
LOG_DIR_NOT_FOUND = 57
UNKNOWN_PRODUCER_ID = 59
DELEGATION_TOKEN_AUTH_DISABLED = 61
DELEGATION_TOKEN_NOT_FOUND = 62
DELEGATION_TOKEN_OWNER_MISMATCH = 63
DELEGATION_TOKEN_REQUEST_NOT_ALLOWED = 64
DELEGATION_TOKEN_AUTHORIZATION_FAILED = 65
NON_EMPTY_GROUP = 68
GROUP_ID_NOT_FOUND = 69
LISTENER_NOT_FOUND = 72
FENCED_LEADER_EPOCH = 74
UNKNOWN_LEADER_EPOCH = 75
OFFSET_NOT_AVAILABLE = 78
PREFERRED_LEADER_NOT_AVAILABLE = 80
ELIGIBLE_LEADERS_NOT_AVAILABLE = 83
ELECTION_NOT_NEEDED = 84
NO_REASSIGNMENT_IN_PROGRESS = 85
GROUP_SUBSCRIBED_TO_TOPIC = 86
INVALID_RECORD = 87
THROTTLING_QUOTA_EXCEEDED = 89
RESOURCE_NOT_FOUND = 91
INVALID_UPDATE_VERSION = 95
UNKNOWN_TOPIC_ID = 100
BROKER_ID_NOT_REGISTERED = 102
INCONSISTENT_TOPIC_ID = 103
TRANSACTIONAL_ID_NOT_FOUND = 105
DUPLICATE_VOTER = 126
VOTER_NOT_FOUND = 127

# Code: (name, description). Codes that no admin request returns have no description.
ERRORS: dict[int, tuple[str, str]] = {
    -1: ("UNKNOWN_SERVER_ERROR", "unexpected error on the broker; see its log"),
    0: ("NONE", ""),
    1: ("OFFSET_OUT_OF_RANGE", "the offset is not in the partition's log"),
    2: ("CORRUPT_MESSAGE", ""),
    3: (
        "UNKNOWN_TOPIC_OR_PARTITION",
        "the topic or partition does not exist, or you may not DESCRIBE it",
    ),
    4: ("INVALID_FETCH_SIZE", ""),
    5: ("LEADER_NOT_AVAILABLE", "the partition has no leader"),
    6: ("NOT_LEADER_OR_FOLLOWER", "the broker is not the partition's leader"),
    7: ("REQUEST_TIMED_OUT", "the request timed out on the broker"),
    8: ("BROKER_NOT_AVAILABLE", "the broker is not available"),
    9: ("REPLICA_NOT_AVAILABLE", "the replica is not available on that broker"),
    10: ("MESSAGE_TOO_LARGE", "the record is larger than the topic's max.message.bytes"),
    11: ("STALE_CONTROLLER_EPOCH", ""),
    12: ("OFFSET_METADATA_TOO_LARGE", "the metadata of the committed offset is too long"),
    13: ("NETWORK_EXCEPTION", ""),
    14: ("COORDINATOR_LOAD_IN_PROGRESS", "the coordinator is loading its state"),
    15: ("COORDINATOR_NOT_AVAILABLE", "the coordinator is not available"),
    16: ("NOT_COORDINATOR", "the broker is not the coordinator"),
    17: (
        "INVALID_TOPIC_EXCEPTION",
        "the topic name is invalid, or the topic is internal",
    ),
    18: ("RECORD_LIST_TOO_LARGE", ""),
    19: ("NOT_ENOUGH_REPLICAS", "not enough in-sync replicas"),
    20: ("NOT_ENOUGH_REPLICAS_AFTER_APPEND", ""),
    21: ("INVALID_REQUIRED_ACKS", ""),
    22: ("ILLEGAL_GENERATION", ""),
    23: ("INCONSISTENT_GROUP_PROTOCOL", ""),
    24: ("INVALID_GROUP_ID", "the group ID is invalid"),
    25: ("UNKNOWN_MEMBER_ID", "the group does not have this member"),
    26: ("INVALID_SESSION_TIMEOUT", ""),
    27: ("REBALANCE_IN_PROGRESS", "the group is rebalancing"),
    28: ("INVALID_COMMIT_OFFSET_SIZE", ""),
    29: ("TOPIC_AUTHORIZATION_FAILED", "not authorized for the topic"),
    30: ("GROUP_AUTHORIZATION_FAILED", "not authorized for the group"),
    31: ("CLUSTER_AUTHORIZATION_FAILED", "not authorized for the cluster"),
    32: ("INVALID_TIMESTAMP", ""),
    33: ("UNSUPPORTED_SASL_MECHANISM", "this SASL mechanism is not enabled on the listener"),
    34: ("ILLEGAL_SASL_STATE", "unexpected SASL request"),
    35: ("UNSUPPORTED_VERSION", "the broker does not support this version of the request"),
    36: ("TOPIC_ALREADY_EXISTS", "the topic already exists"),
    37: ("INVALID_PARTITIONS", "the number of partitions is invalid"),
    38: (
        "INVALID_REPLICATION_FACTOR",
        "the replication factor is less than 1 or greater than the number of brokers",
    ),
    39: ("INVALID_REPLICA_ASSIGNMENT", "the replica assignment is invalid"),
    40: ("INVALID_CONFIG", "a config has an invalid value"),
    41: ("NOT_CONTROLLER", "the broker is not the controller"),
    42: ("INVALID_REQUEST", "the request is invalid"),
    43: ("UNSUPPORTED_FOR_MESSAGE_FORMAT", ""),
    44: ("POLICY_VIOLATION", "a policy of the cluster does not allow it"),
    45: ("OUT_OF_ORDER_SEQUENCE_NUMBER", ""),
    46: ("DUPLICATE_SEQUENCE_NUMBER", ""),
    47: ("INVALID_PRODUCER_EPOCH", ""),
    48: ("INVALID_TXN_STATE", "the state of the transaction does not allow it"),
    49: ("INVALID_PRODUCER_ID_MAPPING", "the producer ID belongs to another transactional ID"),
    50: (
        "INVALID_TRANSACTION_TIMEOUT",
        "the transaction timeout is greater than the broker's transaction.max.timeout.ms",
    ),
    51: ("CONCURRENT_TRANSACTIONS", "another operation on the transaction is in progress"),
    52: ("TRANSACTION_COORDINATOR_FENCED", ""),
    53: ("TRANSACTIONAL_ID_AUTHORIZATION_FAILED", "not authorized for the transactional ID"),
    54: ("SECURITY_DISABLED", "the brokers have no authorizer configured"),
    55: (
        "OPERATION_NOT_ATTEMPTED",
        "not attempted, because another item of the request failed",
    ),
    56: ("KAFKA_STORAGE_ERROR", "a disk of the broker failed; see its log"),
    57: ("LOG_DIR_NOT_FOUND", "the broker does not have this log directory"),
    58: ("SASL_AUTHENTICATION_FAILED", "authentication failed"),
    59: ("UNKNOWN_PRODUCER_ID", ""),
    60: ("REASSIGNMENT_IN_PROGRESS", "a reassignment of the partition is in progress"),
    61: ("DELEGATION_TOKEN_AUTH_DISABLED", "delegation tokens are disabled on the brokers"),
    62: (
        "DELEGATION_TOKEN_NOT_FOUND",
        "the delegation token does not exist, or you may not DESCRIBE it",
    ),
    63: ("DELEGATION_TOKEN_OWNER_MISMATCH", "the delegation token belongs to another user"),
    64: (
        "DELEGATION_TOKEN_REQUEST_NOT_ALLOWED",
        "delegation tokens require authentication with SASL or TLS, and not with a delegation"
        " token",
    ),
    65: ("DELEGATION_TOKEN_AUTHORIZATION_FAILED", "not authorized for the delegation token"),
    66: ("DELEGATION_TOKEN_EXPIRED", "the delegation token has expired"),
    67: ("INVALID_PRINCIPAL_TYPE", "the principal type is not supported here"),
    68: ("NON_EMPTY_GROUP", "the group has members"),
    69: ("GROUP_ID_NOT_FOUND", "the group does not exist"),
    70: ("FETCH_SESSION_ID_NOT_FOUND", ""),
    71: ("INVALID_FETCH_SESSION_EPOCH", ""),
    72: ("LISTENER_NOT_FOUND", "the partition's leader does not have this listener"),
    73: ("TOPIC_DELETION_DISABLED", "the brokers have delete.topic.enable=false"),
    74: ("FENCED_LEADER_EPOCH", ""),
    75: ("UNKNOWN_LEADER_EPOCH", ""),
    76: ("UNSUPPORTED_COMPRESSION_TYPE", "the codec is not supported"),
    77: ("STALE_BROKER_EPOCH", ""),
    78: ("OFFSET_NOT_AVAILABLE", ""),
    79: ("MEMBER_ID_REQUIRED", ""),
    80: ("PREFERRED_LEADER_NOT_AVAILABLE", "the preferred leader is not available"),
    81: ("GROUP_MAX_SIZE_REACHED", "the group is full (group.max.size)"),
    82: ("FENCED_INSTANCE_ID", ""),
    83: ("ELIGIBLE_LEADERS_NOT_AVAILABLE", "no eligible leader is available"),
    84: ("ELECTION_NOT_NEEDED", "the partition already has the requested leader"),
    85: ("NO_REASSIGNMENT_IN_PROGRESS", "no reassignment of the partition is in progress"),
    86: ("GROUP_SUBSCRIBED_TO_TOPIC", "the group is subscribed to the topic"),
    87: ("INVALID_RECORD", ""),
    88: ("UNSTABLE_OFFSET_COMMIT", "offsets of an open transaction are pending"),
    89: ("THROTTLING_QUOTA_EXCEEDED", "the quota for this operation is exceeded"),
    90: ("PRODUCER_FENCED", "fenced by a newer producer"),
    91: ("RESOURCE_NOT_FOUND", "the resource does not exist"),
    92: ("DUPLICATE_RESOURCE", "the resource is specified twice or already exists"),
    93: ("UNACCEPTABLE_CREDENTIAL", "the password or its number of iterations is not acceptable"),
    94: ("INCONSISTENT_VOTER_SET", ""),
    95: ("INVALID_UPDATE_VERSION", "the feature level is invalid"),
    96: ("FEATURE_UPDATE_FAILED", "the feature could not be updated"),
    97: ("PRINCIPAL_DESERIALIZATION_FAILURE", "the brokers could not forward the principal"),
    98: ("SNAPSHOT_NOT_FOUND", ""),
    99: ("POSITION_OUT_OF_RANGE", ""),
    100: ("UNKNOWN_TOPIC_ID", "no topic has this ID"),
    101: ("DUPLICATE_BROKER_REGISTRATION", ""),
    102: ("BROKER_ID_NOT_REGISTERED", "no broker with this ID is registered"),
    103: ("INCONSISTENT_TOPIC_ID", "the topic ID has changed: the topic was recreated"),
    104: ("INCONSISTENT_CLUSTER_ID", "the request is for another cluster"),
    105: ("TRANSACTIONAL_ID_NOT_FOUND", "the transactional ID does not exist"),
    106: ("FETCH_SESSION_TOPIC_ID_ERROR", ""),
    107: ("INELIGIBLE_REPLICA", "a replica is not eligible"),
    108: ("NEW_LEADER_ELECTED", "a new leader was elected"),
    109: ("OFFSET_MOVED_TO_TIERED_STORAGE", "the offset has moved to tiered storage"),
    110: ("FENCED_MEMBER_EPOCH", ""),
    111: ("UNRELEASED_INSTANCE_ID", ""),
    112: ("UNSUPPORTED_ASSIGNOR", "the broker supports none of the group's assignors"),
    113: ("STALE_MEMBER_EPOCH", ""),
    114: (
        "MISMATCHED_ENDPOINT_TYPE",
        "the request was sent to a controller instead of a broker, or the other way around",
    ),
    115: ("UNSUPPORTED_ENDPOINT_TYPE", "the broker does not support this endpoint type"),
    116: ("UNKNOWN_CONTROLLER_ID", ""),
    117: ("UNKNOWN_SUBSCRIPTION_ID", "the client metrics subscription does not exist"),
    118: ("TELEMETRY_TOO_LARGE", ""),
    119: ("INVALID_REGISTRATION", ""),
    120: ("TRANSACTION_ABORTABLE", ""),
    121: ("INVALID_RECORD_STATE", ""),
    122: ("SHARE_SESSION_NOT_FOUND", ""),
    123: ("INVALID_SHARE_SESSION_EPOCH", ""),
    124: ("FENCED_STATE_EPOCH", ""),
    125: ("INVALID_VOTER_KEY", "the voter ID or directory ID does not match"),
    126: ("DUPLICATE_VOTER", "it is already a voter"),
    127: ("VOTER_NOT_FOUND", "it is not a voter"),
    128: ("INVALID_REGULAR_EXPRESSION", "the regular expression is invalid"),
    129: ("REBOOTSTRAP_REQUIRED", ""),
    130: ("STREAMS_INVALID_TOPOLOGY", ""),
    131: ("STREAMS_INVALID_TOPOLOGY_EPOCH", ""),
    132: ("STREAMS_TOPOLOGY_FENCED", ""),
    133: ("SHARE_SESSION_LIMIT_REACHED", ""),
}
