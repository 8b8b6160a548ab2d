-- id: T15
-- title: segment.ms is longer than retention.ms
-- severity: medium
-- tags: retention
-- description: Only whole segments are deleted, and the active segment is rolled after
--   segment.ms. A topic with few records keeps them for up to retention.ms plus segment.ms. With
--   the defaults of Kafka both are a week. There is no remedy for a retention of less than an hour,
--   which T13 reports: segments would be tiny.
-- source: Apache Kafka documentation, Topic configs, segment.ms
-- needs: topic_configs
-- configs: topic_configs retention.ms, segment.ms, cleanup.policy
-- parameter: shortest = 3600000
-- remedy: dynamic, safe
WITH judged AS (
  SELECT s.cluster, s.topic, s.pair, try_cast(s.value AS BIGINT) AS segment,
    try_cast(t.value AS BIGINT) AS retention,
    try_cast(t.value AS BIGINT) > 0 AND p.value LIKE '%delete%'
      AND try_cast(s.value AS BIGINT) > try_cast(t.value AS BIGINT) AS bad
  FROM topic_configs s
  JOIN topic_configs t ON t.cluster = s.cluster AND t.topic = s.topic AND t.key = 'retention.ms'
  JOIN topic_configs p
    ON p.cluster = s.cluster AND p.topic = s.topic AND p.key = 'cleanup.policy'
  WHERE s.key = 'segment.ms'
)
SELECT
  cluster,
  topic AS resource,
  CASE WHEN bad THEN 'alarm' ELSE 'ok' END AS status,
  concat('segment.ms is ', {duration segment}, ', retention.ms is ',
    {duration retention}) AS reason,
  CASE WHEN bad AND retention >= {shortest}
    THEN concat('alter-configs --topic=', topic, ' segment.ms=', retention DIV 6)
  END AS remedy,
  CASE WHEN bad THEN concat('alter-configs --topic=', topic, ' ',
    coalesce(pair, '--delete-config segment.ms')) END AS undo
FROM judged
