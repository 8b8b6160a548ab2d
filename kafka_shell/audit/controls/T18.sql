-- id: T18
-- title: Tombstones are removed within a day
-- severity: medium
-- tags: compaction
-- description: A consumer that needs longer than delete.retention.ms to read the topic misses
--   deletions and keeps deleted keys.
-- source: Apache Kafka documentation, Topic configs, delete.retention.ms
-- needs: topic_configs
-- configs: topic_configs delete.retention.ms, cleanup.policy
-- parameter: shortest = 86400000
-- remedy: dynamic, safe
WITH judged AS (
  SELECT d.*, try_cast(d.value AS BIGINT) < {shortest} AS bad
  FROM topic_configs d
  JOIN topic_configs p
    ON p.cluster = d.cluster AND p.topic = d.topic AND p.key = 'cleanup.policy'
  WHERE d.key = 'delete.retention.ms' AND p.value LIKE '%compact%'
)
SELECT
  cluster,
  topic AS resource,
  CASE WHEN bad THEN 'alarm' ELSE 'ok' END AS status,
  concat('delete.retention.ms is ', {duration value}) AS reason,
  CASE WHEN bad THEN concat('alter-configs --topic=', topic, ' ', {override delete.retention.ms = '{shortest}'})
  END AS remedy,
  CASE WHEN bad THEN concat('alter-configs --topic=', topic, ' ',
    coalesce(pair, '--delete-config delete.retention.ms')) END AS undo
FROM judged
