-- title: One partition, or too many
-- severity: low
-- tags: capacity, opinion
-- description: A single partition is read by one consumer of a group at a time. Every partition
--   costs file handles, memory and failover time. Kafka Connect, MirrorMaker and Schema Registry
--   require topics with one partition, which they compact.
-- source: Apache Kafka documentation, Monitoring, PartitionCount
-- absence: topic_configs
-- parameter: most = 100
-- parameter: besides = $frameworks
SELECT t.cluster, t.topic AS resource,
  CASE
    WHEN partitions > {most} THEN 'alarm'
    WHEN partitions = 1 AND p.topic IS NULL AND NOT t.topic RLIKE r'^({besides})$' THEN 'alarm'
    ELSE 'ok'
  END AS status,
  concat(partitions, CASE WHEN partitions = 1 THEN ' partition' ELSE ' partitions' END) AS reason
FROM topics t
LEFT JOIN topic_configs p ON p.cluster = t.cluster AND p.topic = t.topic
  AND p.key = 'cleanup.policy' AND p.value LIKE '%compact%'
WHERE NOT internal
