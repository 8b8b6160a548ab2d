-- id: T12
-- title: Unlimited retention
-- severity: critical
-- tags: retention, capacity
-- description: Records are never deleted: neither time, size nor compaction limits the log, so
--   the disk fills up. Kafka Streams deletes the records of its repartition topics itself.
-- source: Apache Kafka documentation, Topic configs, retention.ms and retention.bytes
-- needs: topic_configs
-- wants: topic_configs retention.ms, retention.bytes, cleanup.policy
-- parameter: retention = 604800000
-- remedy: dynamic, irreversible
WITH judged AS (
  SELECT t.cluster, t.topic, t.pair,
    t.value = '-1' AND b.value = '-1' AND p.value NOT LIKE '%compact%'
      AND t.topic NOT LIKE '%-repartition' AS bad,
    t.value AS time, b.value AS bytes, p.value AS policy
  FROM topic_configs t
  JOIN topic_configs b
    ON b.cluster = t.cluster AND b.topic = t.topic AND b.key = 'retention.bytes'
  JOIN topic_configs p
    ON p.cluster = t.cluster AND p.topic = t.topic AND p.key = 'cleanup.policy'
  WHERE t.key = 'retention.ms'
)
SELECT
  cluster,
  topic AS resource,
  CASE WHEN bad THEN 'alarm' ELSE 'ok' END AS status,
  concat('retention.ms ', {duration time}, ', retention.bytes ', {bytes bytes}, ', cleanup.policy ', policy)
    AS reason,
  CASE WHEN bad THEN concat('alter-configs --topic=', topic, ' retention.ms={retention}') END AS remedy,
  CASE WHEN bad THEN concat('alter-configs --topic=', topic, ' ',
    coalesce(pair, '--delete-config retention.ms')) END AS undo
FROM judged
