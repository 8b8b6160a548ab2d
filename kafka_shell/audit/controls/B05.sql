-- title: Fewer than three brokers
-- severity: critical
-- tags: availability
-- description: With fewer than three brokers, no topic has three replicas, and maintenance of one
--   broker leaves no room for a failure. B24 reports registered brokers that are offline.
-- source: Apache Kafka documentation, Replication
-- absence: brokers
-- parameter: fewest = 3
SELECT cluster, 'brokers' AS resource, count(*) + max(coalesce(size(c.offline), 0)) AS known,
  IF(known < {fewest}, 'alarm', 'ok') AS status,
  concat(known, IF(known = 1, ' broker', ' brokers')) AS reason
FROM brokers b LEFT JOIN clusters c USING (cluster) GROUP BY cluster
