-- title: Producers without idempotence
-- severity: high
-- tags: log, durability
-- description: Batches without a producer ID in topics where order matters: compacted topics, and
--   topics that match the pattern. A retry can write a record twice, or an older value after a
--   newer one. Topics of Kafka Connect and Schema Registry, which allow one request in
--   flight, and copies by MirrorMaker are excluded. Only the last offsets of each partition are evaluated:
--   older batches may be of producers that were changed since.
-- source: Apache Kafka documentation, Producer configs, enable.idempotence
-- absence: topics
-- parameter: besides = $frameworks
-- parameter: ordered = .*\.ordered
-- parameter: last = 100
WITH ends AS (
  SELECT *, max(last_offset) OVER (PARTITION BY cluster, topic, partition) AS latest FROM batches
  WHERE NOT control
),
sampled AS (
  SELECT cluster, topic, count(*) AS batches, count_if(producer_id IS NULL) AS plain
  FROM ends WHERE last_offset > latest - {last} GROUP BY cluster, topic
)
SELECT s.cluster, s.topic AS resource,
  IF(s.plain > 0, 'alarm', 'ok') AS status,
  concat(s.plain, ' of ', s.batches, ' batches at the end of the log have no producer ID') AS reason
FROM sampled s
JOIN topics t ON t.cluster = s.cluster AND t.topic = s.topic AND NOT t.internal
JOIN topic_configs p
  ON p.cluster = s.cluster AND p.topic = s.topic AND p.key = 'cleanup.policy'
LEFT ANTI JOIN {mirrored} copied ON copied.cluster = s.cluster AND copied.topic = s.topic
WHERE (p.value LIKE '%compact%' OR s.topic RLIKE r'^({ordered})$')
  AND NOT s.topic RLIKE r'^({besides})$'
