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
SELECT cluster, topic AS resource, max_compaction_lag_ms = '9223372036854775807' AS unlimited,
  IF(try_cast(min_cleanable_dirty_ratio AS DOUBLE) >= {dirty} AND unlimited, 'alarm', 'ok') AS status,
  concat('min.cleanable.dirty.ratio is ', min_cleanable_dirty_ratio,
    IF(unlimited, ', max.compaction.lag.ms is unlimited', '')) AS reason
FROM {topic_configs min.cleanable.dirty.ratio, max.compaction.lag.ms, cleanup.policy}
WHERE cleanup_policy LIKE '%compact%'
