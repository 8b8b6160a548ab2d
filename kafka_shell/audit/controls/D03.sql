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
)
SELECT cluster, topic AS resource, count_if(producer_id IS NULL) AS plain,
  IF(plain > 0, 'alarm', 'ok') AS status,
  concat(plain, ' of ', count(*), ' batches at the end of the log have no producer ID') AS reason
FROM ends
JOIN topics USING (cluster, topic)
JOIN {topic_configs cleanup.policy} USING (cluster, topic)
LEFT ANTI JOIN {mirrored} USING (cluster, topic)
WHERE last_offset > latest - {last} AND NOT internal AND NOT topic RLIKE r'^({besides})$'
  AND (cleanup_policy LIKE '%compact%' OR topic RLIKE r'^({ordered})$')
GROUP BY cluster, topic
