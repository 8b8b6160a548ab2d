-- id: T13
-- title: Retention shorter than an hour
-- severity: medium
-- tags: retention
-- description: A consumer that is offline for an hour loses records. Topics that are only compacted
--   have no retention.
-- source: Apache Kafka documentation, Topic configs, retention.ms
-- needs: topic_configs
-- configs: topic_configs retention.ms, cleanup.policy
-- parameter: shortest = 3600000
-- remedy: dynamic, safe
WITH judged AS (
  SELECT t.*, try_cast(t.value AS BIGINT) BETWEEN 0 AND {shortest} - 1
    AND p.value LIKE '%delete%' AS bad
  FROM topic_configs t
  JOIN topic_configs p
    ON p.cluster = t.cluster AND p.topic = t.topic AND p.key = 'cleanup.policy'
  WHERE t.key = 'retention.ms'
)
SELECT
  cluster,
  topic AS resource,
  CASE WHEN bad THEN 'alarm' ELSE 'ok' END AS status,
  concat('retention.ms is ', {duration value}) AS reason,
  CASE WHEN bad THEN concat('alter-configs --topic=', topic, ' ', {override retention.ms = '{shortest}'}) END AS remedy,
  CASE WHEN bad THEN concat('alter-configs --topic=', topic, ' ',
    coalesce(pair, '--delete-config retention.ms')) END AS undo
FROM judged
