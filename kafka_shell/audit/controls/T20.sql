-- title: Batches larger than replicas fetch
-- severity: medium
-- tags: performance
-- description: A batch larger than replica.fetch.max.bytes is fetched alone, one per request,
--   which slows down replication. The defaults of Kafka differ by the 12 bytes of the base offset
--   and length of a batch, which are ignored.
-- source: Apache Kafka documentation, Broker configs, replica.fetch.max.bytes
-- parameter: overhead = 12
-- fix: max.message.bytes = bytes
WITH fetch AS (
  SELECT cluster, min(try_cast(value AS BIGINT)) AS bytes
  FROM broker_configs WHERE key = 'replica.fetch.max.bytes' GROUP BY cluster
)
SELECT cluster, topic AS resource,
  IF(try_cast(value AS BIGINT) > bytes + {overhead}, 'alarm', 'ok') AS status,
  concat('max.message.bytes is ', {bytes value}, ', replica.fetch.max.bytes is ', {bytes bytes}) AS reason,
  bytes
FROM topic_configs JOIN fetch USING (cluster)
WHERE key = 'max.message.bytes'
