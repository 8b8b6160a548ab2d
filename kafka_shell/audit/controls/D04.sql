-- title: Timestamps in the future or far out of order
-- severity: medium
-- tags: log, retention
-- description: Kafka deletes a segment by its largest timestamp, so such records delay the
--   deletion of their segment and of all later segments. Topics that are only compacted, or have
--   unlimited retention, are not affected. Kafka Streams and others may write old timestamps.
-- source: Apache Kafka documentation, Topic configs, retention.ms; KIP-937
-- parameter: besides = $frameworks
-- parameter: ahead_ms = 3600000
-- parameter: disorder_ms = 86400000
WITH ordered AS (
  SELECT *, max(max_timestamp) OVER (
      PARTITION BY cluster, topic, partition ORDER BY base_offset
      ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before
  FROM batches WHERE NOT control AND NOT append_time AND max_timestamp IS NOT NULL
),
judged AS (
  SELECT cluster, topic,
    max(unix_millis(max_timestamp) - unix_millis(collected_at)) AS ahead,
    max(coalesce(unix_millis(before) - unix_millis(max_timestamp), 0)) AS disorder
  FROM ordered GROUP BY cluster, topic
)
SELECT j.cluster, j.topic AS resource,
  IF(ahead > {ahead_ms} OR disorder > {disorder_ms}, 'alarm', 'ok') AS status,
  CASE
    WHEN ahead > {ahead_ms} THEN concat('up to ', {age ahead}, ' in the future')
    WHEN disorder > {disorder_ms} THEN concat('up to ', {age disorder}, ' out of order')
    ELSE 'in order'
  END AS reason
FROM judged j
JOIN topics t ON t.cluster = j.cluster AND t.topic = j.topic AND NOT t.internal
JOIN topic_configs p ON p.cluster = j.cluster AND p.topic = j.topic AND p.key = 'cleanup.policy'
  AND p.value LIKE '%delete%'
JOIN topic_configs r ON r.cluster = j.cluster AND r.topic = j.topic AND r.key = 'retention.ms'
  AND r.value <> '-1'
WHERE NOT j.topic RLIKE r'^({besides})$'
