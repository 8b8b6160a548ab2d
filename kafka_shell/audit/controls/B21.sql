-- title: Partition reassignment in progress
-- severity: medium
-- tags: capacity, opinion
-- description: A reassignment that does not end keeps additional replicas on disk, and its throttles
--   slow down replication. Kafka does not report when it started, and a collection is a snapshot of
--   one moment, so this is never an alarm, only info. One that is in snapshots of two days may be stuck:
--   cancel it with reassign-partitions --cancel, or start the brokers it waits for.
-- source: Apache Kafka documentation, kafka-reassign-partitions (KIP-455)
SELECT cluster, concat(topic, ':', partition) AS resource,
  'info' AS status,
  CASE
    WHEN size(adding) > 0 THEN concat('adding replicas on brokers ', array_join(adding, ', '))
    WHEN size(removing) > 0 THEN concat('removing replicas from brokers ', array_join(removing, ', '))
    ELSE 'changing the order of replicas'
  END AS reason
FROM reassignments
