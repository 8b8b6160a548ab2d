-- title: Timestamps from the future are accepted
-- severity: medium
-- tags: retention
-- description: Retention uses the largest timestamp of a segment, so one record with a timestamp
--   in the next century keeps its segment until then. Topics that are only compacted, or have unlimited
--   retention, are not affected.
-- source: Apache Kafka documentation, Topic configs, message.timestamp.after.max.ms (KIP-937)
-- parameter: after = 3600000
-- fix: message.timestamp.after.max.ms = {after}
WITH judged AS (
  SELECT a.cluster, a.topic, a.value, t.value AS type,
    t.value = 'CreateTime' AND a.value = '9223372036854775807'
      AND p.value LIKE '%delete%' AND r.value <> '-1' AS bad
  FROM topic_configs a
  JOIN topic_configs t
    ON t.cluster = a.cluster AND t.topic = a.topic AND t.key = 'message.timestamp.type'
  JOIN topic_configs p
    ON p.cluster = a.cluster AND p.topic = a.topic AND p.key = 'cleanup.policy'
  JOIN topic_configs r ON r.cluster = a.cluster AND r.topic = a.topic AND r.key = 'retention.ms'
  WHERE a.key = 'message.timestamp.after.max.ms'
)
SELECT cluster, topic AS resource,
  IF(bad, 'alarm', 'ok') AS status,
  CASE WHEN bad THEN 'message.timestamp.after.max.ms is unlimited and producers set the timestamps'
    ELSE concat('message.timestamp.after.max.ms is ', {duration value}, ', ', type) END AS reason
FROM judged
