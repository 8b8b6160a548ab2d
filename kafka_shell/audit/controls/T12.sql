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
WITH used AS (
  SELECT cluster, topic, max(percent) AS percent,
    max_by(concat('broker ', broker_id, ' ', path), percent) AS place
  FROM (
    SELECT cluster, topic, broker_id, path, 100.0 * sum(d.size) / max(total) AS percent
    FROM disk_replicas d JOIN log_dirs USING (cluster, broker_id, path)
    GROUP BY cluster, topic, broker_id, path
  ) GROUP BY cluster, topic
)
SELECT cluster, topic AS resource, trim(cleanup_policy) AS policy,
  coalesce(remote_storage_enable = 'true' AND (try_cast(local_retention_ms AS BIGINT) >= 0
    OR try_cast(local_retention_bytes AS BIGINT) >= 0), false) AS tiered,
  NOT tiered AND (retention_ms = '-1' AND retention_bytes = '-1' AND policy NOT LIKE '%compact%'
    OR policy = '') AS unlimited,
  CASE WHEN unlimited AND percent >= {percent} THEN 'alarm'
    WHEN unlimited AND percent IS NULL THEN 'skip' ELSE 'ok' END AS status,
  concat('retention.ms ', {duration retention_ms}, ', retention.bytes ', {bytes retention_bytes},
    ', cleanup.policy ', IF(policy = '', 'is empty', policy), '; ',
    coalesce(concat(round(percent, 0), '% of ', place), 'the size of the volumes is unknown')) AS reason
FROM {topic_configs retention.ms, retention.bytes, cleanup.policy, remote.storage.enable, local.retention.ms, local.retention.bytes}
LEFT JOIN used USING (cluster, topic)
WHERE NOT topic RLIKE r'^({besides})$'
