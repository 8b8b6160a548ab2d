-- title: Under-replicated partition
-- severity: high
-- tags: durability, availability
-- description: The partition has fewer in-sync replicas than replicas: the disk or the fetchers of a
--   broker cannot keep up. Replicas that a reassignment is adding are not in sync yet, and are
--   ignored; B24 counts the replicas on offline brokers.
-- source: Apache Kafka documentation, Monitoring, UnderReplicatedPartitions
-- absence: reassignments
WITH judged AS (
  SELECT p.cluster, p.topic, p.partition, array_except(p.replicas, p.isr) AS behind,
    array_except(array_except(p.replicas, p.isr),
      concat(coalesce(r.adding, array()), coalesce(c.offline, array()))) AS missing,
    size(array_intersect(array_except(p.replicas, p.isr), coalesce(c.offline, array()))) > 0 AS down
  FROM partitions p
  LEFT JOIN reassignments r
    ON r.cluster = p.cluster AND r.topic = p.topic AND r.partition = p.partition
  LEFT JOIN (SELECT cluster, offline FROM clusters) c ON c.cluster = p.cluster
)
SELECT cluster, concat(topic, ':', partition) AS resource,
  IF(size(missing) > 0, 'alarm', 'ok') AS status,
  CASE
    WHEN size(missing) > 0 THEN concat('not in sync: brokers ', array_join(missing, ', '))
    WHEN down THEN concat('on offline brokers: ', array_join(behind, ', '))
    WHEN size(behind) > 0
      THEN concat('a reassignment is adding replicas on brokers ', array_join(behind, ', '))
    ELSE 'all replicas are in sync'
  END AS reason
FROM judged
