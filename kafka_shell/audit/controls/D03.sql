-- id: D03
-- title: Producers without idempotence
-- severity: high
-- tags: log, durability
-- description: Batches without a producer ID in topics where order matters: compacted topics, and
--   topics that match the pattern. A retry can write a record twice, or an older value after a
--   newer one. Kafka Connect and Schema Registry wait for each record instead.
-- source: Apache Kafka documentation, Producer configs, enable.idempotence
-- needs: batches, topic_configs, topics
-- configs: topic_configs cleanup.policy
-- parameter: besides = $frameworks
-- parameter: ordered = .*\.ordered
WITH sampled AS (
  SELECT cluster, topic, count(*) AS batches, count_if(producer_id IS NULL) AS plain
  FROM batches WHERE NOT control GROUP BY cluster, topic
)
SELECT
  s.cluster,
  s.topic AS resource,
  CASE WHEN s.plain > 0 THEN 'alarm' ELSE 'ok' END AS status,
  concat(s.plain, ' of ', s.batches, ' sampled batches have no producer ID') AS reason,
  NULL AS remedy,
  NULL AS undo
FROM sampled s
JOIN topics t ON t.cluster = s.cluster AND t.topic = s.topic AND NOT t.internal
JOIN topic_configs p
  ON p.cluster = s.cluster AND p.topic = s.topic AND p.key = 'cleanup.policy'
WHERE (p.value LIKE '%compact%' OR s.topic RLIKE r'^({ordered})$')
  AND NOT s.topic RLIKE r'^({besides})$'
