-- id: T09
-- title: Under-replicated partition
-- severity: high
-- tags: durability, availability
-- description: The partition has fewer in-sync copies than replicas: a broker is offline, or its
--   disk or fetchers cannot keep up.
-- source: Apache Kafka documentation, Monitoring, UnderReplicatedPartitions
-- needs: partitions
SELECT
  cluster,
  concat(topic, ':', partition) AS resource,
  CASE WHEN size(isr) < size(replicas) THEN 'alarm' ELSE 'ok' END AS status,
  CASE WHEN size(isr) < size(replicas)
    THEN concat('not in sync: brokers ', array_join(array_except(replicas, isr), ', '))
    ELSE 'all replicas are in sync'
  END AS reason,
  NULL AS remedy,
  NULL AS undo
FROM partitions
