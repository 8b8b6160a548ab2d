-- title: Actual retention differs from retention.ms
-- severity: medium
-- tags: log, retention
-- description: The oldest record is much older than retention.ms (segments are too large, or
--   timestamps delay their deletion), or records are deleted much earlier by retention.bytes. Only
--   partitions where the start of the log was sampled are evaluated.
-- source: Apache Kafka documentation, Topic configs, retention.ms
-- parameter: over = 1.5
-- parameter: under = 0.5
WITH oldest AS (
  SELECT cluster, topic, partition, min(base_offset) AS start, bool_or(place = 'earliest') AS at_start,
    unix_millis(max(collected_at)) - unix_millis(min_by(base_timestamp, base_offset)) AS age
  FROM batches WHERE NOT control AND base_timestamp IS NOT NULL
  GROUP BY cluster, topic, partition
),
judged AS (
  SELECT o.*, try_cast(retention_ms AS BIGINT) AS retention,
    start > 0 AND try_cast(retention_bytes AS BIGINT) >= 0 AND age < {under} * retention AS early
  FROM oldest o
  JOIN topics USING (cluster, topic)
  JOIN {topic_configs retention.ms, retention.bytes, cleanup.policy} USING (cluster, topic)
  WHERE NOT internal AND cleanup_policy = 'delete' AND try_cast(retention_ms AS BIGINT) > 0
)
SELECT cluster, concat(topic, ':', partition) AS resource,
  concat(IF(age > {over} * retention OR early, 'alarm', 'ok'), ': the oldest record is ', {age age},
    ' old, retention.ms is ', {duration retention},
    IF(early, concat('; the log starts at offset ', start), '')) AS reason
FROM judged WHERE at_start
UNION ALL
SELECT cluster, 'cluster', concat('skip: the start of the log was not sampled in ', count(*),
    IF(count(*) = 1, ' partition', ' partitions'))
FROM judged WHERE NOT at_start GROUP BY cluster
