-- title: Too many replicas
-- severity: high
-- tags: capacity, opinion
-- description: Every replica costs file handles, memory and time for recovery. KRaft has no limit for
--   a cluster; the limit of a broker depends on its memory, file handles and disks.
-- source: KIP-500; KIP-578
-- parameter: broker_most = 10000
SELECT cluster, concat('broker ', broker_id) AS resource,
  IF(count(*) > {broker_most}, 'alarm', 'ok') AS status,
  concat({number count(*)}, ' replicas') AS reason
FROM replicas
GROUP BY cluster, broker_id
