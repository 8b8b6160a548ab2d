-- id: T19
-- title: Brokers recompress batches
-- severity: low
-- tags: performance
-- description: If compression.type is not producer, brokers decompress and recompress batches
--   with a different codec.
-- source: Apache Kafka documentation, Topic configs, compression.type
-- needs: topic_configs, topics
-- configs: topic_configs compression.type
-- remedy: dynamic, safe
WITH judged AS (
  SELECT *, value <> 'producer' AS bad FROM topic_configs WHERE key = 'compression.type'
)
SELECT
  k.cluster,
  k.topic AS resource,
  CASE WHEN bad THEN 'alarm' ELSE 'ok' END AS status,
  concat('compression.type is ', value) AS reason,
  CASE WHEN bad THEN concat('alter-configs --topic=', k.topic, ' ', {override compression.type = 'producer'})
  END AS remedy,
  CASE WHEN bad THEN concat('alter-configs --topic=', k.topic, ' ',
    coalesce(pair, '--delete-config compression.type')) END AS undo
FROM judged k
JOIN topics t ON t.cluster = k.cluster AND t.topic = k.topic AND NOT t.internal
