-- id: B05
-- title: Fewer than three brokers
-- severity: critical
-- tags: availability
-- description: Three copies, of which one may be down, want three brokers.
-- source: Apache Kafka documentation, Replication
-- needs: brokers
-- parameter: fewest = 3
SELECT
  cluster,
  'brokers' AS resource,
  CASE WHEN count(*) < {fewest} THEN 'alarm' ELSE 'ok' END AS status,
  concat(count(*), CASE WHEN count(*) = 1 THEN ' broker is up' ELSE ' brokers are up' END)
    AS reason,
  NULL AS remedy,
  NULL AS undo
FROM brokers
GROUP BY cluster
