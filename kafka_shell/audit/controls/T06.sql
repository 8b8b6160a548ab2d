-- title: Unexpected replication factor
-- severity: medium
-- tags: durability
-- description: The replication factor should be the target, or min.insync.replicas plus one if
--   that is higher, limited by the number of brokers, and the same for all partitions of a topic.
--   Topics that are being reassigned are ignored: they have more replicas until the end. T01 and
--   T02 report topics with one and two replicas.
-- source: Apache Kafka documentation, Replication
-- absence: reassignments
-- parameter: target = 3
-- fix: replicas resource = wanted was IF(min_factor = max_factor, min_factor, NULL)
WITH brokers_of AS (SELECT cluster, CAST(count(*) AS INT) AS online FROM brokers GROUP BY cluster),
replicas_of AS (SELECT cluster, max(max_factor) AS most FROM topics GROUP BY cluster),
moving AS (SELECT DISTINCT cluster, topic, true AS moves FROM reassignments)
SELECT cluster, topic AS resource, min_factor, max_factor,
  -- A broker that is offline is not in the list, but has replicas.
  least(greatest(online, most), greatest({target}, try_cast(value AS INT) + 1)) AS wanted,
  CASE WHEN min_factor = wanted AND max_factor = wanted OR min_factor < 3 THEN 'ok'
    WHEN moves THEN 'info' ELSE 'alarm' END AS status,
  concat(IF(min_factor <> max_factor, concat('partitions have ', min_factor, ' to ', max_factor,
    ' replicas'), concat('replication factor ', min_factor)), ', expected ', wanted,
    IF(moves, '; a reassignment is in progress', '')) AS reason
FROM topics
JOIN brokers_of USING (cluster)
JOIN replicas_of USING (cluster)
JOIN topic_configs USING (cluster, topic)
LEFT JOIN moving USING (cluster, topic)
WHERE NOT internal AND key = 'min.insync.replicas'
