-- title: Uncompressed records in a large topic
-- severity: medium
-- tags: log, cost
-- description: Most bytes of the sampled batches are not compressed. The estimated saving is
--   measured with gzip at its fastest level. Set compression.type in the producers.
-- source: Apache Kafka documentation, Producer configs, compression.type
-- parameter: smallest = 1073741824
-- parameter: share = 0.5
WITH codecs AS (
  SELECT cluster, topic, sum(IF(codec = 'none', size, 0)) / nullif(sum(size), 0) AS plain
  FROM batches WHERE NOT control GROUP BY cluster, topic
),
saved AS (
  -- of the uncompressed batches
  SELECT cluster, topic, 1 - sum(packed_bytes) / nullif(sum(plain_bytes), 0) AS saving
  FROM record_samples GROUP BY cluster, topic
),
disks AS (SELECT cluster, topic, sum(size) AS bytes FROM disk_replicas GROUP BY cluster, topic)
SELECT cluster, topic AS resource,
  IF(bytes >= {smallest} AND plain > {share}, 'alarm', 'ok') AS status,
  concat(CAST(round(100 * plain) AS INT), '% of the sampled bytes are not compressed, ',
    {size bytes}, ' on disk', IF(plain > 0, coalesce(concat('; compression would save about ',
      CAST(round(100 * plain * saving) AS INT), '% of this size'), ''), '')) AS reason
FROM codecs
JOIN disks USING (cluster, topic)
JOIN topics USING (cluster, topic)
LEFT JOIN saved USING (cluster, topic)
WHERE NOT internal
