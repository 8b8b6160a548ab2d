-- title: Committed offsets expire before records
-- severity: medium
-- tags: groups
-- description: A group that is inactive for longer than offsets.retention.minutes loses its
--   offsets and starts over although the records still exist. Topics with unlimited retention,
--   compacted topics without deletion, and changelogs are ignored.
-- source: Apache Kafka documentation, Broker configs, offsets.retention.minutes
-- parameter: besides = $frameworks
WITH longest AS (
  SELECT cluster, max(try_cast(retention_ms AS BIGINT)) AS retention,
    max_by(topic, try_cast(retention_ms AS BIGINT)) AS topic
  FROM {topic_configs retention.ms, cleanup.policy} JOIN topics USING (cluster, topic)
  WHERE NOT internal AND cleanup_policy LIKE '%delete%' AND NOT topic RLIKE r'^({besides})$'
  GROUP BY cluster
)
SELECT cluster, concat('broker ', broker_id) AS resource,
  IF(try_cast(value AS BIGINT) * 60000 < retention, 'alarm', 'ok') AS status,
  concat('offsets.retention.minutes is ', {config concat(key, '=', value)}, ', topic ', topic,
    ' keeps records for ', {duration retention}) AS reason
FROM broker_configs JOIN longest USING (cluster)
WHERE key = 'offsets.retention.minutes'
