-- id: T12
-- title: Unlimited retention
-- severity: critical
-- tags: retention, capacity
-- description: Records are never deleted: neither time, size nor compaction limits the log, so
--   the disk fills up. With an empty cleanup.policy (Kafka 4.2), retention.ms and retention.bytes
--   have no effect. Kafka Streams deletes the records of its repartition topics itself, and so
--   does the share coordinator in __share_group_state. Tiered storage moves old segments away if
--   the local retention is limited.
-- source: Apache Kafka documentation, Topic configs, retention.ms, retention.bytes and
--   cleanup.policy
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
limits AS (
  SELECT t.cluster, t.topic, t.pair, t.overridden, t.inherited,
    t.value = '-1' AND b.value = '-1' AND p.value NOT LIKE '%compact%' AS unlimited,
    trim(p.value) = '' AS without_policy,
    p.pair AS policy_pair,
    CASE WHEN p.overridden AND p.inherited = 'delete' THEN '--delete-config=cleanup.policy'
      ELSE 'cleanup.policy=delete' END AS policy_remedy,
    t.topic RLIKE r'^({besides})$' OR tiered.topic IS NOT NULL AS allowed,
    t.value AS time, b.value AS bytes, p.value AS policy
  FROM topic_configs t
  JOIN topic_configs b
    ON b.cluster = t.cluster AND b.topic = t.topic AND b.key = 'retention.bytes'
  JOIN topic_configs p
    ON p.cluster = t.cluster AND p.topic = t.topic AND p.key = 'cleanup.policy'
  LEFT JOIN tiered ON tiered.cluster = t.cluster AND tiered.topic = t.topic
  WHERE t.key = 'retention.ms'
),
judged AS (
  SELECT *, NOT allowed AND (unlimited OR without_policy) AS bad FROM limits
)
SELECT
  cluster,
  topic AS resource,
  CASE WHEN bad THEN 'alarm' ELSE 'ok' END AS status,
  concat('retention.ms ', {duration time}, ', retention.bytes ', {bytes bytes}, ', cleanup.policy ',
    CASE WHEN without_policy THEN 'is empty' ELSE policy END) AS reason,
  CASE WHEN bad THEN concat('alter-configs --topic=', topic,
    CASE WHEN without_policy THEN concat(' ', policy_remedy) ELSE '' END,
    CASE WHEN unlimited THEN concat(' ', {override retention.ms = '{retention}'}) ELSE '' END)
  END AS remedy,
  CASE WHEN bad THEN concat('alter-configs --topic=', topic,
    CASE WHEN without_policy
      THEN concat(' ', coalesce(policy_pair, '--delete-config=cleanup.policy')) ELSE '' END,
    CASE WHEN unlimited
      THEN concat(' ', coalesce(pair, '--delete-config=retention.ms')) ELSE '' END) END AS undo
FROM judged
