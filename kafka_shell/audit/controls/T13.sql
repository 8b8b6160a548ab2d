-- title: Retention shorter than an hour
-- severity: medium
-- tags: retention
-- description: A consumer that is offline for an hour loses records. Topics that are only compacted
--   have no retention, and topics of replies and of frameworks are short-lived on purpose.
-- source: Apache Kafka documentation, Topic configs, retention.ms
-- parameter: shortest = 3600000
-- parameter: besides = $frameworks
-- parameter: replies = (?i)(.*[-_.])?(reply|replies|responses?)([-_.].*)?
-- risk: safe
-- fix: retention.ms = {shortest}
SELECT t.cluster, t.topic AS resource,
  CASE WHEN try_cast(t.value AS BIGINT) BETWEEN 0 AND {shortest} - 1 AND p.value LIKE '%delete%'
    THEN 'alarm' ELSE 'ok' END AS status,
  concat('retention.ms is ', {duration t.value}) AS reason
FROM topic_configs t
JOIN topic_configs p
  ON p.cluster = t.cluster AND p.topic = t.topic AND p.key = 'cleanup.policy'
WHERE t.key = 'retention.ms' AND NOT t.topic RLIKE r'^({besides})$'
  AND NOT t.topic RLIKE r'^({replies})$'
