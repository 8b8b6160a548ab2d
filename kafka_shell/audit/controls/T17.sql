-- title: Compaction rarely runs
-- severity: medium
-- tags: compaction
-- description: max.compaction.lag.ms is unlimited, and the cleaner waits until almost the whole
--   log is dirty.
-- source: Apache Kafka documentation, Topic configs, max.compaction.lag.ms and
--   min.cleanable.dirty.ratio
-- parameter: dirty = 0.9
-- risk: safe
-- fix: min.cleanable.dirty.ratio = '0.5'
SELECT r.cluster, r.topic AS resource,
  CASE WHEN try_cast(r.value AS DOUBLE) >= {dirty} AND l.value = '9223372036854775807' THEN 'alarm'
    ELSE 'ok' END AS status,
  concat('min.cleanable.dirty.ratio is ', r.value,
    IF(l.value = '9223372036854775807', ', max.compaction.lag.ms is unlimited', '')) AS reason
FROM topic_configs r
JOIN topic_configs l
  ON l.cluster = r.cluster AND l.topic = r.topic AND l.key = 'max.compaction.lag.ms'
JOIN topic_configs p
  ON p.cluster = r.cluster AND p.topic = r.topic AND p.key = 'cleanup.policy'
WHERE r.key = 'min.cleanable.dirty.ratio' AND p.value LIKE '%compact%'
