-- id: T33
-- title: Topic rejects ordinary records
-- severity: high
-- tags: availability
-- description: max.message.bytes is so small that producers fail with RecordTooLarge: a batch of a
--   few records is larger.
-- source: Apache Kafka documentation, Topic configs, max.message.bytes
-- needs: topic_configs
-- parameter: smallest = 16384
-- fix: max.message.bytes = 1048588
SELECT
  cluster,
  topic AS resource,
  CASE WHEN try_cast(value AS BIGINT) < {smallest} THEN 'alarm' ELSE 'ok' END AS status,
  concat('max.message.bytes is ', {bytes value}) AS reason
FROM topic_configs
WHERE key = 'max.message.bytes'
