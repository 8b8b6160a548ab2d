-- title: Fewer in-sync replicas than min.insync.replicas
-- severity: critical
-- tags: availability
-- description: Writes with acks=all fail now (NotEnoughReplicas). Where the replicas of offline
--   brokers would be enough, B24 counts the partition.
-- source: Apache Kafka documentation, Topic configs, min.insync.replicas
WITH down AS (SELECT cluster, offline AS down FROM clusters)
SELECT cluster, concat(topic, ':', partition) AS resource,
  least(try_cast(value AS INT), size(replicas)) AS wanted,
  IF(size(array_union(isr, array_intersect(replicas, coalesce(down, array())))) < wanted, 'alarm',
    'ok') AS status,
  concat('in-sync replicas: ', size(isr), ', min.insync.replicas: ', wanted) AS reason
FROM partitions JOIN topic_configs USING (cluster, topic) LEFT JOIN down USING (cluster)
WHERE key = 'min.insync.replicas'
