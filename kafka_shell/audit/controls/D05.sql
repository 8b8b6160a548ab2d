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
  SELECT o.*, try_cast(r.value AS BIGINT) AS retention,
    start > 0 AND try_cast(b.value AS BIGINT) >= 0
      AND age < {under} * try_cast(r.value AS BIGINT) AS early
  FROM oldest o
  JOIN topics t ON t.cluster = o.cluster AND t.topic = o.topic AND NOT t.internal
  JOIN topic_configs r ON r.cluster = o.cluster AND r.topic = o.topic AND r.key = 'retention.ms'
  JOIN topic_configs p
    ON p.cluster = o.cluster AND p.topic = o.topic AND p.key = 'cleanup.policy'
  JOIN topic_configs b
    ON b.cluster = o.cluster AND b.topic = o.topic AND b.key = 'retention.bytes'
  WHERE p.value = 'delete' AND try_cast(r.value AS BIGINT) > 0
)
SELECT cluster, concat(topic, ':', partition) AS resource,
  CASE
    WHEN age > {over} * retention THEN 'alarm'
    WHEN early THEN 'alarm'
    ELSE 'ok'
  END AS status,
  concat('the oldest record is ', {age age}, ' old, retention.ms is ', {duration retention},
    CASE WHEN early THEN concat('; the log starts at offset ', start)
      ELSE '' END) AS reason
FROM judged WHERE at_start
UNION ALL
SELECT cluster, 'cluster', 'skip',
  concat('the start of the log was not sampled in ', count(*),
    IF(count(*) = 1, ' partition', ' partitions'))
FROM judged WHERE NOT at_start GROUP BY cluster
