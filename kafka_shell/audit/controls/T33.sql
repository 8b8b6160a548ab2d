-- title: Topic rejects ordinary records
-- severity: high
-- tags: availability
-- description: max.message.bytes is so small that producers fail with RecordTooLarge: a batch of a
--   few records is larger.
-- source: Apache Kafka documentation, Topic configs, max.message.bytes
-- parameter: smallest = 16384
-- fix: max.message.bytes = 1048588
SELECT cluster, topic AS resource,
  IF(try_cast(value AS BIGINT) < {smallest}, 'alarm', 'ok') AS status,
  concat('max.message.bytes is ', {bytes value}) AS reason
FROM topic_configs
WHERE key = 'max.message.bytes'
