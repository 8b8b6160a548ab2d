-- id: T16
-- title: One partition, or too many
-- severity: low
-- tags: capacity
-- description: A single partition is read by one consumer of a group at a time. Every partition
--   costs file handles, memory and failover time. Kafka Connect, MirrorMaker and Schema Registry
--   require topics with one partition.
-- source: Apache Kafka documentation, Monitoring, PartitionCount
-- needs: topics
-- parameter: most = 100
-- parameter: besides = $frameworks
SELECT
  cluster,
  topic AS resource,
  CASE
    WHEN partitions > {most} THEN 'alarm'
    WHEN partitions = 1 AND NOT topic RLIKE r'^({besides})$' THEN 'alarm'
    ELSE 'ok'
  END AS status,
  concat(partitions, CASE WHEN partitions = 1 THEN ' partition' ELSE ' partitions' END) AS reason,
  NULL AS remedy,
  NULL AS undo
FROM topics
WHERE NOT internal
