-- title: Fewer in-sync replicas than min.insync.replicas
-- severity: critical
-- tags: availability
-- description: Writes with acks=all fail now (NotEnoughReplicas). Where the replicas of offline
--   brokers would be enough, B24 counts the partition.
-- source: Apache Kafka documentation, Topic configs, min.insync.replicas
WITH judged AS (
  SELECT p.cluster, p.topic, p.partition, size(p.isr) AS in_sync,
    size(array_union(p.isr, array_intersect(p.replicas, coalesce(c.offline, array())))) AS with_offline,
    least(try_cast(k.value AS INT), size(p.replicas)) AS wanted
  FROM partitions p
  JOIN topic_configs k
    ON k.cluster = p.cluster AND k.topic = p.topic AND k.key = 'min.insync.replicas'
  LEFT JOIN (SELECT cluster, offline FROM clusters) c ON c.cluster = p.cluster
)
SELECT cluster, concat(topic, ':', partition) AS resource,
  IF(with_offline < wanted, 'alarm', 'ok') AS status,
  concat('in-sync replicas: ', in_sync, ', min.insync.replicas: ', wanted) AS reason
FROM judged
