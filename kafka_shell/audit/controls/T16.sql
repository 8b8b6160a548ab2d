-- id: T16
-- title: One partition, or very many
-- severity: low
-- tags: capacity
-- description: One partition is read by one consumer of a group at a time; every partition
--   costs files, memory and time at a failover.
-- source: Apache Kafka documentation, Monitoring, PartitionCount; audit catalogue T16
-- needs: topics
-- parameter: most = 100
SELECT
  cluster,
  topic AS resource,
  CASE WHEN partitions = 1 OR partitions > {most} THEN 'alarm' ELSE 'ok' END AS status,
  concat(partitions, CASE WHEN partitions = 1 THEN ' partition' ELSE ' partitions' END) AS reason,
  NULL AS remedy,
  NULL AS undo
FROM topics
WHERE NOT internal
