-- title: Tombstones are removed within a day
-- severity: medium
-- tags: compaction
-- description: A consumer that needs longer than delete.retention.ms to read the topic misses
--   deletions and keeps deleted keys.
-- source: Apache Kafka documentation, Topic configs, delete.retention.ms
-- parameter: shortest = 86400000
-- risk: safe
-- fix: delete.retention.ms = {shortest}
SELECT d.cluster, d.topic AS resource,
  IF(try_cast(d.value AS BIGINT) < {shortest}, 'alarm', 'ok') AS status,
  concat('delete.retention.ms is ', {duration d.value}) AS reason
FROM topic_configs d
JOIN topic_configs p
  ON p.cluster = d.cluster AND p.topic = d.topic AND p.key = 'cleanup.policy'
WHERE d.key = 'delete.retention.ms' AND p.value LIKE '%compact%'
