-- title: Replica is moving between log directories
-- severity: medium
-- tags: capacity, opinion
-- description: A replica is being moved to another log directory of its broker. Until it has
--   caught up, both copies use disk space. Kafka does not report when the move started, and a
--   collection is a snapshot of one moment, so this is never an alarm, only info. A move that is in
--   snapshots of two days may be stuck: cancel it with alter-log-dirs, by moving the replica to the
--   log directory that it is in.
-- source: Apache Kafka documentation, kafka-reassign-partitions, moves between log
--   directories (KIP-113)
SELECT cluster, concat('broker ', broker_id, ' ', topic, ':', partition) AS resource,
  'info' AS status,
  concat('moving to ', path, ', ', offset_lag, ' offsets behind') AS reason
FROM disk_replicas WHERE future
