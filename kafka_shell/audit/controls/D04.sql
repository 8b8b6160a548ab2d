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
SELECT cluster, topic AS resource,
  CASE
    WHEN ahead > {ahead_ms} THEN concat('alarm: up to ', {age ahead}, ' in the future')
    WHEN disorder > {disorder_ms} THEN concat('alarm: up to ', {age disorder}, ' out of order')
    ELSE 'ok: in order'
  END AS reason
FROM judged
JOIN topics USING (cluster, topic)
JOIN {topic_configs cleanup.policy, retention.ms} USING (cluster, topic)
WHERE NOT internal AND cleanup_policy LIKE '%delete%' AND retention_ms <> '-1'
  AND NOT topic RLIKE r'^({besides})$'
