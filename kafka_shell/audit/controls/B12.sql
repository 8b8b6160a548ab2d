-- id: B12
-- title: Too many replicas
-- severity: high
-- tags: capacity
-- description: Every replica costs file handles, memory and failover time.
-- source: Apache Kafka blog, "Apache Kafka supports 200K partitions per cluster"; KIP-578
-- needs: replicas
-- parameter: broker_most = 4000
-- parameter: cluster_most = 200000
SELECT
  cluster,
  concat('broker ', broker_id) AS resource,
  CASE WHEN count(*) > {broker_most} THEN 'alarm' ELSE 'ok' END AS status,
  concat({number count(*)}, ' replicas') AS reason,
  NULL AS remedy,
  NULL AS undo
FROM replicas
GROUP BY cluster, broker_id
UNION ALL
SELECT
  cluster,
  'cluster',
  CASE WHEN count(*) > {cluster_most} THEN 'alarm' ELSE 'ok' END,
  concat({number count(*)}, ' replicas'),
  NULL,
  NULL
FROM replicas
GROUP BY cluster
