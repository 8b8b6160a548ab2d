"""What each example prints on the demo data, if all run in the order of the registry.

Parts of the output, with repeated blanks removed; `NOTHING` for no rows, `SAME` for no change.
"""

from __future__ import annotations

NOTHING = ("(nothing)",)
SAME = ("(the same)",)

FACTS: dict[str, tuple[str, ...]] = {
    # topics
    "list-topics": ("__consumer_offsets", "orders.placed", "web.clickstream"),
    "list-topics --exclude-internal --long": ("orders.placed 3 1 ", "payments.authorized 6 1 "),
    "list-topics 'payments.*' | wc -l": ("6",),
    "describe-topic orders.placed": ("topic orders.placed 3 partitions", "2 1 0 1 1"),
    "describe-topic 'payments.*' --topics-with-overrides": ("payments.ledger", "compact"),
    "describe-topic --under-replicated-partitions": NOTHING,
    "describe-topic orders.placed --output json": ('"name": "orders.placed"',),
    "create-topic parcels.delivered --partitions 6 --config retention.ms=7d": (
        "created topic parcels.delivered: 6 partitions, replication factor 1, retention.ms=7d",
    ),
    "create-topic payments.disputed --like payments.captured --with-acls --dry-run": (
        "+ topic payments.disputed: 6 partitions, replication factor 1",
    ),
    "create-topic parcels.lost parcels.found --dry-run": (
        "+ topic parcels.lost",
        "+ topic parcels.found",
    ),
    "alter-topic orders.placed --partitions 12 --dry-run": ("3 -> 12", "irreversible"),
    "alter-topic orders.placed --config retention.ms=90d --delete-config segment.ms": (
        "altered topic orders.placed: retention.ms 30d -> 90d, segment.ms 1d -> (removed)",
    ),
    "alter-topic orders.placed --replication-factor 1 --dry-run": SAME,
    "delete-topic 'tmp.*' --dry-run": (
        "- topic tmp.anna-test",
        "- topic tmp.backfill",
        "- topic tmp.replay",
    ),
    "delete-topic tmp.backfill --yes": ("deleted topic tmp.backfill",),
    "list-offsets orders.placed": ("orders.placed 0 0 126 126", "orders.placed 2 0 128 128"),
    "list-offsets orders.placed:0 --time -1h": ("orders.placed 0 1", "TIMESTAMP"),
    "list-offsets 'payments.*' --time max-timestamp": ("payments.authorized 5 6",),
    "delete-records orders.placed:0 --to 10 --dry-run": ("orders.placed:0", "0 -> 10"),
    "delete-records orders.placed --to -30d --dry-run": SAME,
    "peek orders.placed": ("PARTITION OFFSET TIME KEY VALUE", "o-1399"),
    "read-records orders.placed:0-1 --from -1h --limit 5": ("o-139",),
    "read-records orders.placed --where 'value.items>=5' --count": ("68",),
    "read-records orders.placed --from earliest --limit 3 --output json": (
        '"key":"o-1000"',
        '"key":"o-1002"',
    ),
    "consume-records dispatch --limit 1": ("group dispatch does not exist",),
    "consume-records dispatch --topic parcels.sent --limit 1 --acknowledge reject": (
        "group dispatch does not exist",
    ),
    "write-record parcels.delivered '{\"parcel\": 4711}' --key 4711": (
        "wrote 1 record to partition parcels.delivered:",
        "offset 0",
    ),
    "copy-records orders.placed --to-topic parcels.delivered --limit 3 --dry-run": (
        "copy 3 records (",
        "of topic orders.placed to topic parcels.delivered",
    ),
    "copy-records orders.placed:0 --to-topic parcels.delivered --from -1h --add-source-headers"
    " --dry-run": ("copy ", " of 1 partition of topic orders.placed"),
    "write-record orders.placed --key 4711 --tombstone --dry-run": ("records: 1 (irreversible)",),
    # configs
    "list-configs client-metrics": ("slow-producers",),
    "list-configs group": ("orders-enricher",),
    "describe-configs orders.placed": ("retention.ms 90d topic",),
    "describe-configs orders.placed retention.ms --documentation": (
        "retention.ms 90d",
        "the maximum time we will retain a log",
    ),
    "describe-configs 'payments.*' cleanup.policy": ("payments.ledger cleanup.policy compact",),
    "describe-configs '*' retention.ms --only-set": ("orders.placed retention.ms 90d topic",),
    "describe-configs --broker-id 1 --all | grep log.retention": ("log.retention.hours 7d",),
    "describe-configs --logger 1 kafka.request.logger": ("kafka.request.logger INFO",),
    "describe-configs --client-metrics 'slow*'": ("match client_id=web-.* client-metrics",),
    "alter-configs orders.placed retention.ms=90d": SAME,
    "alter-configs orders.placed retention.ms=7d --yes": (
        "altered topic orders.placed: retention.ms 90d -> 7d",
    ),
    "alter-configs 'payments.*' max.message.bytes=2MiB --dry-run": (
        "topic payments.refunds",
        "max.message.bytes: 1048588 (default) -> 2MiB",
    ),
    "alter-configs orders.placed --delete-config retention.ms --dry-run": (
        "retention.ms: 7d -> ",
        "log.retention.hours=168",
    ),
    "alter-configs orders.placed --append cleanup.policy=compact --dry-run": (
        "cleanup.policy: delete (default) -> delete,compact",
    ),
    "alter-configs --broker-default log.cleaner.threads=2": (
        "altered broker-default: log.cleaner.threads 1 -> 2",
    ),
    "alter-configs --logger 1 kafka.request.logger=DEBUG": (
        "altered loggers of broker 1: kafka.request.logger INFO -> DEBUG",
    ),
    "config-command --entity-type topics --entity-name orders.placed --describe": (
        "CONFIGS FOR TOPIC orders.placed",
        "retention.ms = 604800000",
    ),
    "config-command --entity-type topics --entity-name orders.placed --alter --add-config"
    " 'cleanup.policy=[compact,delete],retention.ms=86400000' --delete-config segment.ms --yes": (
        "cleanup.policy = compact,delete",
        "retention.ms = 86400000",
    ),
    "config-command --broker 1 --describe": ("CONFIGS FOR BROKER 1", "broker.rack = rack-a"),
    "config-command --entity-type brokers --entity-default --describe": (
        "CONFIGS FOR BROKER DEFAULT",
        "log.cleaner.threads = 2",
    ),
    "config-command --entity-type users --entity-name alice --describe": (
        "'alice' are producer_byte_rate=5242880.0",
        "SCRAM-SHA-256=iterations=8192",
    ),
    "config-command --entity-type users --entity-name alice --entity-type clients --entity-name"
    " app --alter --add-config producer_byte_rate=1048576": (
        "client-id 'app' are producer_byte_rate=1048576.0",
    ),
    # quotas
    "list-quotas": ("client-id legacy-exporter", "user alice client-id app", "ip 10.1.2.3"),
    "list-quotas users --long": ("user alice 2 producer_byte_rate,request_percentage",),
    "list-quotas --user svc-payments": ("user svc-payments client-id checkout",),
    "describe-quotas": ("client-id legacy-exporter consumer_byte_rate 1KiB/s",),
    "describe-quotas --user alice": ("user alice producer_byte_rate 5MiB/s",),
    "describe-quotas --user svc-payments --client-id checkout --output json": (
        '"client_id": "checkout"',
    ),
    "describe-quotas --user-default": ("user-default producer_byte_rate 100MiB/s",),
    "alter-quotas --user alice producer_byte_rate=5MB/s": (
        "altered user alice: producer_byte_rate 5MiB/s -> 5MB/s",
    ),
    "alter-quotas --user alice --client-id reports consumer_byte_rate=1MiB/s"
    " request_percentage=25%": (
        "altered user alice client-id reports: consumer_byte_rate 1MiB/s, request_percentage 25%",
    ),
    "alter-quotas --user-default --delete-config request_percentage --dry-run": SAME,
    "alter-quotas --ip 10.1.2.3 connection_creation_rate=20/s": ("10/s -> 20/s",),
    "resolve-quota --user alice --client-id reports": (
        "user alice client-id reports - 1MiB/s * 25% *",
        "user alice 5MB/s *",
    ),
    "resolve-quota --client-id web-frontend --ip 10.1.2.3": ("user-default 100MiB/s *", "20/s *"),
    # dynamic client configs
    "describe-client-configs": NOTHING,
    "describe-client-configs svc-payments --client-id checkout --resolve": NOTHING,
    "describe-client-configs --supported": NOTHING,
    "alter-client-configs --user svc-payments session.timeout.ms=20s --dry-run": (
        "+ topic __client_configs",
        "+ session.timeout.ms: 20s",
    ),
    "alter-client-configs --user svc-payments --client-id checkout acks=1 linger.ms=20 --yes": (
        "created topic __client_configs: ",
        "altered client-config user svc-payments client-id checkout: acks 1, linger.ms 20ms",
        "warning: with an authorizer, clients need ACLs: ",
    ),
    # users and access
    "scram-credentials --describe --username alice": ("alice SCRAM-SHA-512 8192",),
    "scram-credentials --add SCRAM-SHA-512 --username dave --generate": (
        "altered user dave: SCRAM-SHA-512 iterations=4096",
        "password ",
    ),
    "scram-credentials --add 'SCRAM-SHA-256=[iterations=8192,password=alice-secret]'"
    " --username alice --yes": ("altered user alice: SCRAM-SHA-256 iterations=8192",),
    "scram-credentials --delete SCRAM-SHA-256 --username carol --dry-run": (
        "- SCRAM-SHA-256: iterations=4096 -> ",
    ),
    "describe-user alice": ("SCRAM-SHA-256 8192", "topic invoices.legacy Write"),
    "list-acls": ("topic invoices.legacy allow User:alice Write",),
    "list-acls --topic orders.placed": (
        "prefixed topic orders. allow User:alice All",
        "topic orders.placed allow User:bob Read",
    ),
    "list-acls --principal User:bob --by principal": ("deny User:bob Write on topic payments",),
    "list-acls --permission deny --output json": ('"permission": "deny"', "10.1.2.66"),
    "list-acls --resource-type group --operation Read": ("group billing-sync allow User:bob Read",),
    "alter-acls --topic parcels.sent --add 'allow User:bob Read,Write'": (
        "created ACL allow User:bob Read on topic parcels.sent",
        "created ACL allow User:bob Write on topic parcels.sent",
    ),
    "alter-acls --topic payments.captured --add 'allow User:bob Read' --remove"
    " 'deny User:bob Write' --dry-run": (
        "- ACL deny User:bob Write on topic payments.captured",
        "+ ACL allow User:bob Read on topic payments.captured",
    ),
    "alter-acls --producer --allow-principal User:web --topic parcels.sent --add": (
        "User:web Write on topic parcels.sent",
        "User:web Create on topic parcels.sent",
    ),
    "alter-acls --copy-from User:alice --copy-to User:dave --dry-run": (
        "+ ACL allow User:dave All on prefixed topic orders.",
    ),
    "alter-acls --remove-principal User:bob --dry-run": (
        "- ACL allow User:bob Read on topic orders.placed",
        "- ACL deny User:bob Write",
    ),
    "alter-acls --remove 'any User:dave Any on any resource' --yes": (
        "deleted ACL allow User:dave Read on topic payments.captured",
    ),
    "check-acl --principal User:alice --operation Write --topic orders.placed": (
        "allowed: User:alice Write",
        "allow User:alice All on prefixed topic orders.",
    ),
    "check-acl --principal User:bob --operation Write --topic payments.captured": (
        "denied: User:bob Write on topic payments.captured",
    ),
    "check-acl --principal User:bob --operation Read --topic orders.placed --group billing-sync": (
        "allowed: User:bob Read on group billing-sync",
    ),
    # the demo company's listener has no login, and a token is for who is logged in
    "describe-tokens": ("SASL",),
    "create-token --max-life-time-period 1d --renewer-principal User:alice": (
        "DELEGATION_TOKEN_REQUEST_NOT_ALLOWED",
    ),
    "renew-token 3Fq8xk1VSVOQbUJm0WnKtA --renew-time-period 12h": ("SASL",),
    "expire-token 3Fq8xk1VSVOQbUJm0WnKtA --yes": ("SASL",),
    # partitions
    "reassign-partitions --topics 'orders.*' --dry-run": SAME,
    "reassign-partitions --topics 'orders.*' --export /dev/null --dry-run": SAME,
    "reassign-partitions --cancel --topics '*'": NOTHING,
    "rebalance --dry-run": ("nothing to change",),
    "rebalance --only-leaders --topics 'orders.*'": ("nothing to change",),
    "rebalance --max-bytes 500GiB --throttle 50MB/s --dry-run": ("nothing to change",),
    "verify-reassign-partitions": NOTHING,
    "verify-reassign-partitions --finish": NOTHING,
    "list-reassignments": NOTHING,
    "preferred-replica-leader-election": NOTHING,
    "preferred-replica-leader-election 'payments.*' --dry-run": ("payments.refunds:0 leader: 1",),
    "verify-preferred-replica-leader-election 'payments.*'": ("22 partitions 22 completed",),
    "elect-leaders orders.placed:0 --dry-run": ("orders.placed:0 leader: 1",),
    "elect-leaders --election-type unclean --all-topic-partitions --dry-run": SAME,
    "describe-log-dirs": ("data-a online", "data-b online"),
    "describe-log-dirs --by topic": ("web.clickstream 12", "orders.placed 3"),
    "describe-log-dirs orders.placed --broker-id 1": ("1 orders.placed 0", "1 orders.placed 2"),
    "alter-log-dirs orders.placed:0 --log-dir /data/b --broker-id 1 --dry-run": (
        "LOG_DIR_NOT_FOUND",
        "/data/b",
    ),
    # groups
    "list-groups": ("analytics-loader", "shipping-notifier"),
    "list-groups --long": ("orders-enricher classic Empty 1",),
    "list-groups --state Empty | wc -l": ("7",),
    "list-groups --type share --type streams": NOTHING,
    "lag": ("orders-enricher Empty 0 3 34",),
    "lag --sort lag | head -5": (
        "GROUP TOPIC PARTITION CURRENT-OFFSET LOG-END-OFFSET LAG TIME-LAG",
    ),
    "describe-group orders-enricher": ("group orders-enricher", "orders.placed 0 115 126 11"),
    "lag fraud-check": ("fraud-check payments.authorized 2 24 62 38",),
    "describe-group --state": ("fraud-check Empty classic 0 6 38",),
    "describe-group billing-sync crm-export --output json": ('"name": "crm-export"',),
    "delete-group crm-export --dry-run": ("- group crm-export", "support-tickets:0: 25 -> "),
    "delete-group anna-console --if-exists --yes": ("deleted group anna-console",),
    "remove-members orders-enricher --dry-run": SAME,
    "reset-offsets orders-enricher --to -1h --dry-run": ("orders.placed:0: 115 -> 12",),
    "reset-offsets fraud-check --to +1 --topic payments.authorized:2 --dry-run": ("24 -> 25",),
    "reset-offsets billing-sync.v2 --to group:billing-sync --dry-run": ("+ orders.placed:0: 126",),
    "reset-offsets anna-console --to latest --topic tmp.replay --yes": (
        "altered offsets of group anna-console: tmp.replay:0 60",
        "warning: group anna-console does not exist and will be created",
    ),
    "delete-offsets shipping-notifier --topic orders.shipped --dry-run": (
        "- orders.shipped:0: 68 -> ",
        "undo: reset-offsets shipping-notifier",
    ),
    "delete-offsets billing-sync --topic payments.captured:5 --yes": (
        "deleted offsets of group billing-sync: payments.captured:5 57 -> (removed)",
    ),
    # cluster
    "cluster-metadata": ("1 broker", "rack-a 4.3 up"),
    "cluster-metadata --quorum": ("leader 1", "CONTROLLER://127.0.0.1:"),
    "check-restart 1": ("broker 1: unsafe", "would have no leader"),
    "check-restart --plan": ("unsafe to stop", "would have no leader"),
    "check-restart 1 --wait": ("broker 1 is up", "in sync"),
    "decommission 1 --dry-run": ("broker 1 is the only running broker",),
    "decommission 1 --undo": SAME,
    "health": ("healthy", "1 broker"),
    "health --output json": ('"findings": []',),
    "wait-until healthy --deadline 30s": ("healthy",),
    "wait-until 'lag orders-enricher < 1000' --deadline 1m": (
        "the lag of group orders-enricher is 34 records",
    ),
    "api-versions": ("3 Metadata 0-13",),
    "api-versions ShareGroup Raft": ("77 ShareGroupDescribe 1-1", "80 AddRaftVoter 0-1"),
    "api-versions --differences": NOTHING,
    "unregister-broker 1 --dry-run": ("INVALID_REQUEST", "broker 1 is running"),
    "top --once --interval 500ms": ("orders.placed 0 0B/s",),
    "top groups --once --interval 500ms --output json": ('"name": "orders-enricher"', '"lag": 34'),
    "top brokers --once --interval 500ms": ("1 up rack-a",),
    "describe-broker 1": ("broker 1 127.0.0.1:", "rack rack-a", "data-b online"),
    "describe-quorum": ("leader 1", "CONTROLLER://127.0.0.1:"),
    "alter-quorum --remove 3 --dry-run": ("VOTER_NOT_FOUND",),
    "alter-quorum --add 2@127.0.0.1:19093 --dry-run": (
        "it is not an observer of the quorum",
        "ID@HOST:PORT",
    ),
    "describe-features": ("metadata.version 30 4.3-IV0",),
    "update-features --release-version 4.3 --dry-run": SAME,
    "update-features streams.version=0 --dry-run": ("streams.version: 1 -> 0",),
    # transactions
    "list-transactions": NOTHING,
    "list-transactions --state Ongoing --duration-filter 5m": NOTHING,
    "describe-transactions ledger-1": ("TRANSACTIONAL_ID_NOT_FOUND",),
    "describe-producers orders.placed:0": ("orders.placed 0 0 0 125",),
    "describe-producers --topic orders.placed --partition 0 --broker-id 1": (
        "orders.placed 0 0 0 125",
    ),
    "find-hanging-transactions": (" partitions",),
    "find-hanging-transactions orders.placed --max-transaction-timeout 30m": ("3 partitions",),
    "abort-transaction --hanging --dry-run": NOTHING,
    "abort-transaction orders.placed:0 --start-offset 42 --dry-run": ("orders.placed:0", "42"),
    "fence-producer ledger-1 --dry-run": ("TRANSACTIONAL_ID_NOT_FOUND",),
    # the shell
    "connect": ("cluster ", "1 broker"),
    "history --last 5": NOTHING,
    "theme": ("midnight", "daylight"),
    "theme mono": NOTHING,
    "theme pygments:monokai": NOTHING,
    "set": ("bootstrap.servers 127.0.0.1:",),
    "undo --dry-run": ("undo ", "delete-offsets billing-sync", "+ payments.captured:5: 57"),
    "undo --yes": ("undo ", "altered offsets of group billing-sync"),
    "journal --last 3": ("undone delete-offsets billing-sync --topic payments.captured:5",),
    "journal --since 2h --resource 'orders.*'": (
        "alter-topic orders.placed --config retention.ms=90d",
    ),
    "sandbox status": ("state none",),
    "help": ("list-topics", "TOPICS", "CONFIGS"),
    "help options": ("COMMON OPTIONS", "--output"),
    "help alter-configs": ("usage: alter-configs",),
    "help retention": ("alter-configs", "describe-configs"),
    # schemas
    "list-subjects": ("orders.placed-value",),
    "list-subjects 'orders.*' --long": ("SUBJECT VERSION ID TYPE", "orders.placed-value 2 2 AVRO"),
    "describe-schema orders.placed-value": ("subject orders.placed-value version 2", '"long"'),
    "describe-schema orders.placed-value --diff 1": ('-"int"', '+"long"'),
    "register-schema orders.shipped-value --id 1 --dry-run": (
        "+ subject orders.shipped-value",
        "version 1: AVRO",
    ),
    "alter-compatibility orders.placed-value FULL --dry-run": ("NONE -> FULL",),
    "alter-compatibility --default BACKWARD --dry-run": ("NONE -> BACKWARD",),
    "delete-schema orders.placed-value --version 1 --dry-run": (
        "version 1: ID 1 -> (removed)",
        "undo: register-schema orders.placed-value --id 1",
    ),
    "delete-schema 'orders.*' --permanent --dry-run": (
        "(irreversible)",
        "of 1 topic (orders.placed)",
    ),
    # state
    "export --only topics,acls": ("version: 1 scope:", "orders.placed: partitions: 3", "acls:"),
    "export 'payments.*' --with-assignments > payments.yaml": NOTHING,
    "diff payments.yaml": ("no differences between cluster", "and payments.yaml"),
    "apply payments.yaml --dry-run": SAME,
    "rehearse alter-topic orders.placed --partitions 12": (
        "ok 1: alter-topic orders.placed --partitions 12",
        "partitions: 3 -> 12",
        "Nothing was changed on the cluster.",
    ),
    "rehearse --limits": ("records, offsets and sizes", "a twin has no records"),
    "state-schema": ('"title": "State of a Kafka cluster"',),
}
