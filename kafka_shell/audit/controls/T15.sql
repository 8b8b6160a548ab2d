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
SELECT s.cluster, s.topic AS resource,
  CASE WHEN try_cast(t.value AS BIGINT) > 0 AND p.value LIKE '%delete%'
      AND try_cast(s.value AS BIGINT) > try_cast(t.value AS BIGINT)
    THEN 'alarm' ELSE 'ok' END AS status,
  concat('segment.ms is ', {duration s.value}, ', retention.ms is ', {duration t.value}) AS reason,
  try_cast(t.value AS BIGINT) AS retention
FROM topic_configs s
JOIN topic_configs t ON t.cluster = s.cluster AND t.topic = s.topic AND t.key = 'retention.ms'
JOIN topic_configs p
  ON p.cluster = s.cluster AND p.topic = s.topic AND p.key = 'cleanup.policy'
WHERE s.key = 'segment.ms' AND NOT s.topic RLIKE r'^({besides})$'
