-- id: T09
-- title: Replica that is not in sync
-- severity: high
-- tags: durability, availability
-- description: The partition has fewer copies than it should: a broker is down, its disk or its
--   fetchers do not keep up.
-- source: Apache Kafka documentation, Monitoring, UnderReplicatedPartitions
-- needs: partitions
SELECT
  cluster,
  concat(topic, ':', partition) AS resource,
  CASE WHEN size(isr) < size(replicas) THEN 'alarm' ELSE 'ok' END AS status,
  CASE WHEN size(isr) < size(replicas)
    THEN concat('not in sync: ', array_join(array_except(replicas, isr), ', '))
    ELSE 'all replicas are in sync'
  END AS reason,
  NULL AS remedy,
  NULL AS undo
FROM partitions
