-- id: T17
-- title: Compaction rarely runs
-- severity: medium
-- tags: compaction
-- description: max.compaction.lag.ms is unlimited, and the cleaner waits until almost the whole
--   log is dirty.
-- source: Apache Kafka documentation, Topic configs, max.compaction.lag.ms and
--   min.cleanable.dirty.ratio
-- needs: topic_configs
-- configs: topic_configs max.compaction.lag.ms, min.cleanable.dirty.ratio, cleanup.policy
-- parameter: dirty = 0.9
-- remedy: dynamic, safe
WITH judged AS (
  SELECT r.cluster, r.topic, r.value, r.pair, r.overridden, r.inherited,
    try_cast(r.value AS DOUBLE) >= {dirty} AND l.value = '9223372036854775807' AS bad
  FROM topic_configs r
  JOIN topic_configs l
    ON l.cluster = r.cluster AND l.topic = r.topic AND l.key = 'max.compaction.lag.ms'
  JOIN topic_configs p
    ON p.cluster = r.cluster AND p.topic = r.topic AND p.key = 'cleanup.policy'
  WHERE r.key = 'min.cleanable.dirty.ratio' AND p.value LIKE '%compact%'
)
SELECT
  cluster,
  topic AS resource,
  CASE WHEN bad THEN 'alarm' ELSE 'ok' END AS status,
  concat('min.cleanable.dirty.ratio is ', value,
    CASE WHEN bad THEN ', max.compaction.lag.ms is unlimited' ELSE '' END) AS reason,
  CASE WHEN bad THEN concat('alter-configs --topic=', topic, ' ', {override min.cleanable.dirty.ratio = '0.5'})
  END AS remedy,
  CASE WHEN bad THEN concat('alter-configs --topic=', topic, ' ',
    coalesce(pair, '--delete-config min.cleanable.dirty.ratio')) END AS undo
FROM judged
