-- title: Replication factor 2
-- severity: high
-- tags: durability
-- description: While one broker is offline there is a single copy, and writes that require two
--   in-sync replicas fail.
-- source: Apache Kafka documentation, Replication
-- parameter: factor = 3
-- fix: replicas resource = least({factor}, brokers) was 2 if brokers > 2
SELECT cluster, topic AS resource,
  IF(min_factor = 2, 'alarm', 'ok') AS status,
  concat('replication factor ', min_factor) AS reason,
  brokers
FROM topics JOIN (SELECT cluster, count(*) AS brokers FROM brokers GROUP BY cluster) USING (cluster)
WHERE NOT internal
