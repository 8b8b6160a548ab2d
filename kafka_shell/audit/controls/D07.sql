-- title: Compacted topic without usable keys
-- severity: high
-- tags: log, compaction
-- description: A compacted topic rejects records without a key, and compaction deletes older
--   records without one. Unique keys are expected in a compacted topic and are not reported.
-- source: Apache Kafka documentation, Log compaction
WITH sampled AS (
  SELECT r.cluster, r.topic, sum(records) AS records, sum(null_keys) AS null_keys,
    sum(unread) AS unread
  FROM record_samples r GROUP BY r.cluster, r.topic
)
SELECT s.cluster, s.topic AS resource,
  CASE
    WHEN null_keys > 0 THEN 'alarm'
    WHEN records = 0 AND unread > 0 THEN 'skip'
    ELSE 'ok'
  END AS status,
  CASE
    WHEN records = 0 AND unread > 0
      THEN 'records could not be decoded: their batch is corrupt or too large'
    ELSE concat(null_keys, ' of ', records, ' sampled records have no key')
  END AS reason
FROM sampled s
JOIN topics t ON t.cluster = s.cluster AND t.topic = s.topic AND NOT t.internal
JOIN topic_configs p
  ON p.cluster = s.cluster AND p.topic = s.topic AND p.key = 'cleanup.policy'
WHERE p.value LIKE '%compact%'
