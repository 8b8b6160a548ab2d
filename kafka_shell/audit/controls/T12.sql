-- title: Unlimited retention fills the disk
-- severity: high
-- tags: retention, capacity
-- description: Neither time, size nor compaction limits the log, and the topic already uses a large
--   part of a disk. Where the records must be kept, use tiered storage or a larger disk; else set
--   retention.ms, which deletes records. With an empty cleanup.policy (Kafka 4.2), retention.ms and
--   retention.bytes have no effect. Kafka Streams deletes the records of repartition topics itself.
-- source: Apache Kafka documentation, Topic configs, retention.ms, retention.bytes and
--   cleanup.policy
-- parameter: percent = 10
-- parameter: besides = .*-repartition|__remote_log_metadata|__share_group_state
WITH limits AS (
  SELECT cluster, topic,
    max(CASE WHEN key = 'retention.ms' THEN value END) AS time,
    max(CASE WHEN key = 'retention.bytes' THEN value END) AS bytes,
    trim(max(CASE WHEN key = 'cleanup.policy' THEN value END)) AS policy,
    bool_or(key = 'remote.storage.enable' AND value = 'true')
      AND bool_or(startswith(key, 'local.') AND try_cast(value AS BIGINT) >= 0) AS tiered
  FROM topic_configs
  WHERE key IN ('retention.ms', 'retention.bytes', 'cleanup.policy', 'remote.storage.enable',
    'local.retention.ms', 'local.retention.bytes')
    AND NOT topic RLIKE r'^({besides})$'
  GROUP BY cluster, topic
),
used AS (
  SELECT cluster, topic, max(percent) AS percent, max_by(concat('broker ', broker_id, ' ', path),
    percent) AS place
  FROM (
    SELECT d.cluster, d.topic, d.broker_id, d.path, 100.0 * sum(d.size) / max(l.total) AS percent
    FROM disk_replicas d JOIN log_dirs l
      ON l.cluster = d.cluster AND l.broker_id = d.broker_id AND l.path = d.path
    GROUP BY d.cluster, d.topic, d.broker_id, d.path
  ) GROUP BY cluster, topic
),
judged AS (
  SELECT l.*, u.percent, u.place,
    NOT tiered AND (time = '-1' AND bytes = '-1' AND policy NOT LIKE '%compact%' OR policy = '')
      AS unlimited
  FROM limits l LEFT JOIN used u ON u.cluster = l.cluster AND u.topic = l.topic
)
SELECT cluster, topic AS resource,
  CASE WHEN unlimited AND percent >= {percent} THEN 'alarm'
    WHEN unlimited AND percent IS NULL THEN 'skip' ELSE 'ok' END AS status,
  concat('retention.ms ', {duration time}, ', retention.bytes ', {bytes bytes}, ', cleanup.policy ',
    IF(policy = '', 'is empty', policy), '; ',
    coalesce(concat(round(percent, 0), '% of ', place), 'the size of the volumes is unknown')) AS reason
FROM judged
