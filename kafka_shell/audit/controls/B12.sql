-- id: B12
-- title: Too many replicas
-- severity: high
-- tags: capacity, opinion
-- description: Every replica costs file handles, memory and time for recovery. KRaft has no limit for
--   a cluster; the limit of a broker depends on its memory, file handles and disks.
-- source: KIP-500; KIP-578
-- needs: replicas
-- parameter: broker_most = 10000
SELECT
  cluster,
  concat('broker ', broker_id) AS resource,
  CASE WHEN count(*) > {broker_most} THEN 'alarm' ELSE 'ok' END AS status,
  concat({number count(*)}, ' replicas') AS reason
FROM replicas
GROUP BY cluster, broker_id
