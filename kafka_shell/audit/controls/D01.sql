-- title: Uncompressed records in a large topic
-- severity: medium
-- tags: log, cost
-- description: Most bytes of the sampled batches are not compressed. The estimated saving is
--   measured with gzip at its fastest level. Set compression.type in the producers.
-- source: Apache Kafka documentation, Producer configs, compression.type
-- parameter: smallest = 1073741824
-- parameter: share = 0.5
WITH codecs AS (
  SELECT cluster, topic, sum(CASE WHEN codec = 'none' THEN size ELSE 0 END) / nullif(sum(size), 0) AS plain
  FROM batches WHERE NOT control GROUP BY cluster, topic
),
saved AS (
  -- of the uncompressed batches
  SELECT cluster, topic, 1 - sum(packed_bytes) / nullif(sum(plain_bytes), 0) AS saving
  FROM record_samples GROUP BY cluster, topic
),
bytes AS (
  SELECT cluster, topic, sum(size) AS bytes FROM disk_replicas GROUP BY cluster, topic
)
SELECT c.cluster, c.topic AS resource,
  IF(bytes.bytes >= {smallest} AND c.plain > {share}, 'alarm', 'ok') AS status,
  concat(CAST(round(100 * c.plain) AS INT), '% of the sampled bytes are not compressed, ',
    {size bytes.bytes},
    ' on disk', CASE WHEN c.plain > 0 THEN coalesce(concat('; compression would save about ',
      CAST(round(100 * c.plain * saved.saving) AS INT), '% of this size'), '') ELSE '' END) AS reason
FROM codecs c
JOIN bytes ON bytes.cluster = c.cluster AND bytes.topic = c.topic
JOIN topics t ON t.cluster = c.cluster AND t.topic = c.topic AND NOT t.internal
LEFT JOIN saved ON saved.cluster = c.cluster AND saved.topic = c.topic
