-- title: Partition larger than 1 TiB
-- severity: medium
-- tags: capacity
-- description: Reassigning or rebuilding the partition takes hours, and one broker's disk must
--   have space for it.
-- source: Apache Kafka documentation, Log, size of a partition
-- parameter: most = 1099511627776
SELECT cluster, concat(topic, ':', partition) AS resource,
  IF(max(size) > {most}, 'alarm', 'ok') AS status,
  {size max(size)} AS reason
FROM disk_replicas
WHERE NOT future
GROUP BY cluster, topic, partition
