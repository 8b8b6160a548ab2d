-- title: Replication factor 1
-- severity: critical
-- tags: durability
-- description: There is a single copy of every record: if its broker is offline, so is the topic,
--   and if its disk is lost, so are the records. A cluster with one broker, which B05 reports, can
--   keep no other copy.
-- source: Apache Kafka documentation, Replication
-- parameter: factor = 3
-- fix: replicas resource = least({factor}, online) was min_factor if online > 1
SELECT cluster, topic AS resource, c.brokers + coalesce(size(c.offline), 0) AS known,
  IF(min_factor = 1 AND known > 1, 'alarm', 'ok') AS status,
  concat('replication factor ', min_factor, IF(known > 1, '', ' on the only broker')) AS reason,
  c.brokers AS online, min_factor
FROM topics t JOIN clusters c USING (cluster)
