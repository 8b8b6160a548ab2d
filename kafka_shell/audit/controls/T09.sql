-- title: Under-replicated partition
-- severity: high
-- tags: durability, availability
-- description: The partition has fewer in-sync replicas than replicas: the disk or the fetchers of a
--   broker cannot keep up. Replicas that a reassignment is adding are not in sync yet, and are
--   ignored; B24 counts the replicas on offline brokers.
-- source: Apache Kafka documentation, Monitoring, UnderReplicatedPartitions
-- absence: reassignments
WITH down AS (SELECT cluster, offline AS down FROM clusters)
SELECT cluster, concat(topic, ':', partition) AS resource,
  array_except(p.replicas, isr) AS behind,
  array_except(behind, concat(coalesce(adding, array()), coalesce(down, array()))) AS missing,
  CASE
    WHEN size(missing) > 0 THEN concat('alarm: not in sync: brokers ', array_join(missing, ', '))
    WHEN size(array_intersect(behind, coalesce(down, array()))) > 0
      THEN concat('ok: on offline brokers: ', array_join(behind, ', '))
    WHEN size(behind) > 0
      THEN concat('ok: a reassignment is adding replicas on brokers ', array_join(behind, ', '))
    ELSE 'ok: all replicas are in sync'
  END AS reason
FROM partitions p
LEFT JOIN reassignments USING (cluster, topic, partition)
LEFT JOIN down USING (cluster)
