-- title: Fewer than three brokers
-- severity: critical
-- tags: availability
-- description: With fewer than three brokers, no topic has three replicas, and maintenance of one
--   broker leaves no room for a failure. B24 reports registered brokers that are offline.
-- source: Apache Kafka documentation, Replication
-- absence: brokers
-- parameter: fewest = 3
WITH known AS (
  SELECT b.cluster, count(*) + max(coalesce(size(c.offline), 0)) AS brokers
  FROM brokers b LEFT JOIN clusters c ON c.cluster = b.cluster GROUP BY b.cluster
)
SELECT cluster, 'brokers' AS resource,
  IF(brokers < {fewest}, 'alarm', 'ok') AS status,
  concat(brokers, IF(brokers = 1, ' broker', ' brokers')) AS reason
FROM known
