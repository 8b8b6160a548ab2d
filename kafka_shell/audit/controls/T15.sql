-- title: segment.ms is longer than retention.ms
-- severity: medium
-- tags: retention
-- description: Only whole segments are deleted, and the active segment is rolled after
--   segment.ms. A topic with few records keeps them for up to retention.ms plus segment.ms. With
--   the defaults of Kafka both are a week. There is no remedy for a retention of less than an hour,
--   which T13 reports: segments would be tiny. Kafka Streams and others set both on purpose.
-- source: Apache Kafka documentation, Topic configs, segment.ms
-- parameter: shortest = 3600000
-- parameter: besides = $frameworks
-- risk: safe
-- fix: segment.ms = CASE WHEN retention >= {shortest} THEN retention DIV 6 END
SELECT cluster, topic AS resource, try_cast(retention_ms AS BIGINT) AS retention,
  IF(retention > 0 AND cleanup_policy LIKE '%delete%' AND try_cast(segment_ms AS BIGINT) > retention,
    'alarm', 'ok') AS status,
  concat('segment.ms is ', {duration segment_ms}, ', retention.ms is ', {duration retention_ms}) AS reason
FROM {topic_configs segment.ms, retention.ms, cleanup.policy}
WHERE NOT topic RLIKE r'^({besides})$'
