-- title: Partitions of uneven size
-- severity: medium
-- tags: balance
-- description: One partition is much larger than the others of its topic: a few keys have most of
--   the records, or partitions were added later. Small topics are not checked.
-- source: Apache Kafka documentation, Producer, partitioning by key
-- absence: disk_replicas
-- parameter: times = 3
-- parameter: smallest = 1073741824
WITH partition_sizes AS (
  SELECT cluster, topic, partition, max(size) AS size
  FROM disk_replicas WHERE NOT future GROUP BY cluster, topic, partition
),
judged AS (
  SELECT cluster, topic, max(size) AS largest, median(size) AS middle,
    max_by(partition, size) AS worst
  FROM partition_sizes GROUP BY cluster, topic HAVING count(*) > 1
)
SELECT cluster, topic AS resource,
  IF(largest >= {smallest} AND largest > {times} * middle, 'alarm', 'ok') AS status,
  concat('partition ', worst, ' has ', {size largest}, ', the median is ', {size middle})
    AS reason
FROM judged
