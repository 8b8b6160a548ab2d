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
SELECT cluster, topic AS resource,
  IF(partitions > {most} OR partitions = 1 AND coalesce(cleanup_policy, '') NOT LIKE '%compact%'
    AND NOT topic RLIKE r'^({besides})$', 'alarm', 'ok') AS status,
  concat(partitions, IF(partitions = 1, ' partition', ' partitions')) AS reason
FROM topics LEFT JOIN {topic_configs cleanup.policy} USING (cluster, topic)
WHERE NOT internal
