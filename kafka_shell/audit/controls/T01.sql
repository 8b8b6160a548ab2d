-- id: T01
-- title: Replication factor 1
-- severity: critical
-- tags: durability
-- description: There is a single copy of every record: if its broker is offline, so is the topic,
--   and if its disk is lost, so are the records.
-- source: Apache Kafka documentation, Replication
-- needs: topics, brokers
-- parameter: factor = 3
-- remedy: dynamic, disruptive
WITH size AS (SELECT cluster, count(*) AS brokers FROM brokers GROUP BY cluster)
SELECT
  t.cluster,
  t.topic AS resource,
  CASE WHEN t.min_factor = 1 THEN 'alarm' ELSE 'ok' END AS status,
  concat('replication factor ', t.min_factor) AS reason,
  CASE WHEN t.min_factor = 1 AND size.brokers > 1
    THEN concat('alter-topic --topic=', t.topic, ' --replication-factor ', least({factor}, size.brokers))
  END AS remedy,
  CASE WHEN t.min_factor = 1 AND size.brokers > 1
    THEN concat('alter-topic --topic=', t.topic, ' --replication-factor 1')
  END AS undo
FROM topics t JOIN size ON size.cluster = t.cluster
