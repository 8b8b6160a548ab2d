-- title: Skewed keys
-- severity: medium
-- tags: log, balance
-- description: All records of a key are in one partition, so one consumer does most of the work
--   and more partitions do not help. Topics with one partition are not checked.
-- source: Apache Kafka documentation, Producer, partitioning by key
-- parameter: fewest = 100
-- parameter: share = 0.5
-- parameter: besides = $frameworks
WITH sampled AS (
  SELECT r.cluster, r.topic, sum(records - null_keys) AS records, max(top_key_records) AS top,
    sum(unread) AS unread
  FROM record_samples r GROUP BY r.cluster, r.topic
)
SELECT s.cluster, s.topic AS resource,
  CASE
    WHEN records = 0 AND unread > 0 THEN 'skip'
    WHEN records >= {fewest} AND top > {share} * records THEN 'alarm'
    ELSE 'ok'
  END AS status,
  CASE WHEN records = 0 AND unread > 0
    THEN 'records could not be decoded: their batch is corrupt or too large'
    ELSE concat('one key has ', top, ' of ', records, ' sampled records') END AS reason
FROM sampled s
JOIN topics t ON t.cluster = s.cluster AND t.topic = s.topic AND NOT t.internal
WHERE t.partitions > 1 AND NOT s.topic RLIKE r'^({besides})$'
