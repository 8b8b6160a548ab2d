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
SELECT cluster, topic AS resource,
  IF(try_cast(retention_ms AS BIGINT) BETWEEN 0 AND {shortest} - 1 AND cleanup_policy LIKE '%delete%',
    'alarm', 'ok') AS status,
  concat('retention.ms is ', {duration retention_ms}) AS reason
FROM {topic_configs retention.ms, cleanup.policy}
WHERE NOT topic RLIKE r'^({besides})$' AND NOT topic RLIKE r'^({replies})$'
