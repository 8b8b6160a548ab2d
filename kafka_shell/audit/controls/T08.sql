-- id: T08
-- title: Fewer in-sync replicas than min.insync.replicas
-- severity: critical
-- tags: availability
-- description: Writes with acks=all fail now (NotEnoughReplicas).
-- source: Apache Kafka documentation, Topic configs, min.insync.replicas
-- needs: partitions, topic_configs
-- configs: topic_configs min.insync.replicas
WITH judged AS (
  SELECT p.cluster, p.topic, p.partition, size(p.isr) AS in_sync,
    least(try_cast(k.value AS INT), size(p.replicas)) AS wanted
  FROM partitions p
  JOIN topic_configs k
    ON k.cluster = p.cluster AND k.topic = p.topic AND k.key = 'min.insync.replicas'
)
SELECT
  cluster,
  concat(topic, ':', partition) AS resource,
  CASE WHEN in_sync < wanted THEN 'alarm' ELSE 'ok' END AS status,
  concat('in-sync replicas: ', in_sync, ', min.insync.replicas: ', wanted) AS reason,
  NULL AS remedy,
  NULL AS undo
FROM judged
