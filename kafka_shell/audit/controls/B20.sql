-- title: Committed offsets expire before records
-- severity: medium
-- tags: groups
-- description: A group that is inactive for longer than offsets.retention.minutes loses its
--   offsets and starts over although the records still exist. Topics with unlimited retention,
--   compacted topics without deletion, and changelogs are ignored.
-- source: Apache Kafka documentation, Broker configs, offsets.retention.minutes
-- parameter: besides = $frameworks
WITH longest AS (
  SELECT k.cluster, max(try_cast(k.value AS BIGINT)) AS retention,
    max_by(k.topic, try_cast(k.value AS BIGINT)) AS topic
  FROM topic_configs k
  JOIN topics t ON t.cluster = k.cluster AND t.topic = k.topic AND NOT t.internal
  JOIN topic_configs p ON p.cluster = k.cluster AND p.topic = k.topic
    AND p.key = 'cleanup.policy' AND p.value LIKE '%delete%'
  WHERE k.key = 'retention.ms' AND NOT k.topic RLIKE r'^({besides})$' GROUP BY k.cluster
)
SELECT b.cluster, concat('broker ', b.broker_id) AS resource,
  IF(try_cast(b.value AS BIGINT) * 60000 < longest.retention, 'alarm', 'ok') AS status,
  concat('offsets.retention.minutes is ', {config concat(b.key, '=', b.value)}, ', topic ',
    longest.topic, ' keeps records for ', {duration longest.retention}) AS reason
FROM broker_configs b JOIN longest ON longest.cluster = b.cluster
WHERE b.key = 'offsets.retention.minutes'
