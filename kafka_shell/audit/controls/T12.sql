-- id: T12
-- title: Unlimited retention
-- severity: critical
-- tags: retention, capacity
-- description: Records are never deleted: neither time, size nor compaction limits the log, so
--   the disk fills up. Kafka Streams deletes the records of its repartition topics itself, and so
--   does the share coordinator in __share_group_state. Tiered storage moves old segments away if
--   the local retention is limited.
-- source: Apache Kafka documentation, Topic configs, retention.ms and retention.bytes
-- needs: topic_configs
-- configs: topic_configs retention.ms, retention.bytes, cleanup.policy
-- parameter: retention = 604800000
-- parameter: besides = .*-repartition|__remote_log_metadata|__share_group_state
-- remedy: dynamic, irreversible
WITH tiered AS (
  SELECT cluster, topic FROM topic_configs
  WHERE key IN ('remote.storage.enable', 'local.retention.ms', 'local.retention.bytes')
  GROUP BY cluster, topic
  HAVING bool_or(key = 'remote.storage.enable' AND value = 'true')
    AND bool_or(startswith(key, 'local.') AND try_cast(value AS BIGINT) >= 0)
),
judged AS (
  SELECT t.cluster, t.topic, t.pair, t.overridden, t.inherited,
    t.value = '-1' AND b.value = '-1' AND p.value NOT LIKE '%compact%'
      AND NOT t.topic RLIKE r'^({besides})$' AND tiered.topic IS NULL AS bad,
    t.value AS time, b.value AS bytes, p.value AS policy
  FROM topic_configs t
  JOIN topic_configs b
    ON b.cluster = t.cluster AND b.topic = t.topic AND b.key = 'retention.bytes'
  JOIN topic_configs p
    ON p.cluster = t.cluster AND p.topic = t.topic AND p.key = 'cleanup.policy'
  LEFT JOIN tiered ON tiered.cluster = t.cluster AND tiered.topic = t.topic
  WHERE t.key = 'retention.ms'
)
SELECT
  cluster,
  topic AS resource,
  CASE WHEN bad THEN 'alarm' ELSE 'ok' END AS status,
  concat('retention.ms ', {duration time}, ', retention.bytes ', {bytes bytes}, ', cleanup.policy ', policy)
    AS reason,
  CASE WHEN bad THEN concat('alter-configs --topic=', topic, ' ', {override retention.ms = '{retention}'}) END AS remedy,
  CASE WHEN bad THEN concat('alter-configs --topic=', topic, ' ',
    coalesce(pair, '--delete-config retention.ms')) END AS undo
FROM judged
