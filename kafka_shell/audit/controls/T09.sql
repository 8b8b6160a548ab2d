-- id: T09
-- title: Under-replicated partition
-- severity: high
-- tags: durability, availability
-- description: The partition has fewer in-sync replicas than replicas: a broker is offline, or its
--   disk or fetchers cannot keep up. Replicas that a reassignment is adding are not in sync yet,
--   and are ignored.
-- source: Apache Kafka documentation, Monitoring, UnderReplicatedPartitions
-- needs: partitions, reassignments
-- absence: reassignments
WITH judged AS (
  SELECT p.cluster, p.topic, p.partition, array_except(p.replicas, p.isr) AS behind,
    array_except(array_except(p.replicas, p.isr), coalesce(r.adding, array())) AS missing
  FROM partitions p
  LEFT JOIN reassignments r
    ON r.cluster = p.cluster AND r.topic = p.topic AND r.partition = p.partition
)
SELECT
  cluster,
  concat(topic, ':', partition) AS resource,
  CASE WHEN size(missing) > 0 THEN 'alarm' ELSE 'ok' END AS status,
  CASE
    WHEN size(missing) > 0 THEN concat('not in sync: brokers ', array_join(missing, ', '))
    WHEN size(behind) > 0
      THEN concat('a reassignment is adding replicas on brokers ', array_join(behind, ', '))
    ELSE 'all replicas are in sync'
  END AS reason,
  NULL AS remedy,
  NULL AS undo
FROM judged
