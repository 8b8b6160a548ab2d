-- id: T02
-- title: Replication factor 2
-- severity: high
-- tags: durability
-- description: While one broker is offline there is a single copy, and writes that require two
--   in-sync replicas fail.
-- source: Apache Kafka documentation, Replication
-- needs: topics, brokers
-- parameter: factor = 3
-- remedy: dynamic, disruptive
WITH size AS (SELECT cluster, count(*) AS brokers FROM brokers GROUP BY cluster)
SELECT
  t.cluster,
  t.topic AS resource,
  CASE WHEN t.min_factor = 2 THEN 'alarm' ELSE 'ok' END AS status,
  concat('replication factor ', t.min_factor) AS reason,
  CASE WHEN t.min_factor = 2 AND size.brokers > 2
    THEN concat('alter-topic --topic=', t.topic, ' --replication-factor ', least({factor}, size.brokers))
  END AS remedy,
  CASE WHEN t.min_factor = 2 AND size.brokers > 2
    THEN concat('alter-topic --topic=', t.topic, ' --replication-factor 2')
  END AS undo
FROM topics t JOIN size ON size.cluster = t.cluster
WHERE NOT t.internal
