-- title: Brokers recompress batches
-- severity: low
-- tags: performance, opinion
-- description: If compression.type is not producer, brokers decompress and recompress batches
--   with a different codec. With producer, a topic whose producers do not compress needs many times
--   the disk: set compression.type in the producers first.
-- source: Apache Kafka documentation, Topic configs, compression.type
-- fix: compression.type = 'producer'
SELECT cluster, topic AS resource,
  IF(value <> 'producer', 'alarm', 'ok') AS status,
  concat('compression.type is ', value) AS reason
FROM topic_configs JOIN topics USING (cluster, topic)
WHERE key = 'compression.type' AND NOT internal
