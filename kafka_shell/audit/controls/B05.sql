-- id: B05
-- title: Fewer than three brokers
-- severity: critical
-- tags: availability
-- description: Three replicas, one of which may be offline, require three brokers.
-- source: Apache Kafka documentation, Replication
-- needs: brokers
-- absence: brokers
-- parameter: fewest = 3
SELECT
  cluster,
  'brokers' AS resource,
  CASE WHEN count(*) < {fewest} THEN 'alarm' ELSE 'ok' END AS status,
  concat(count(*), CASE WHEN count(*) = 1 THEN ' broker is online' ELSE ' brokers are online' END)
    AS reason,
  NULL AS remedy,
  NULL AS undo
FROM brokers
GROUP BY cluster
