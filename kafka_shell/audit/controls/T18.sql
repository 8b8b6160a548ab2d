-- title: Tombstones are removed within a day
-- severity: medium
-- tags: compaction
-- description: A consumer that needs longer than delete.retention.ms to read the topic misses
--   deletions and keeps deleted keys.
-- source: Apache Kafka documentation, Topic configs, delete.retention.ms
-- parameter: shortest = 86400000
-- risk: safe
-- fix: delete.retention.ms = {shortest}
SELECT cluster, topic AS resource,
  IF(try_cast(delete_retention_ms AS BIGINT) < {shortest}, 'alarm', 'ok') AS status,
  concat('delete.retention.ms is ', {duration delete_retention_ms}) AS reason
FROM {topic_configs delete.retention.ms, cleanup.policy}
WHERE cleanup_policy LIKE '%compact%'
