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
WITH brokers_of AS (
  SELECT cluster, CAST(count(*) AS INT) AS online FROM brokers GROUP BY cluster
),
replicas_of AS (SELECT cluster, max(max_factor) AS most FROM topics GROUP BY cluster),
moving AS (SELECT DISTINCT cluster, topic FROM reassignments),
expected AS (
  SELECT t.cluster, t.topic, t.min_factor, t.max_factor, m.topic IS NOT NULL AS moves,
    -- A broker that is offline is not in the list, but has replicas.
    least(greatest(b.online, r.most), greatest({target}, try_cast(k.value AS INT) + 1)) AS wanted
  FROM topics t
  JOIN brokers_of b ON b.cluster = t.cluster
  JOIN replicas_of r ON r.cluster = t.cluster
  JOIN topic_configs k
    ON k.cluster = t.cluster AND k.topic = t.topic AND k.key = 'min.insync.replicas'
  LEFT JOIN moving m ON m.cluster = t.cluster AND m.topic = t.topic
  WHERE NOT t.internal
),
judged AS (
  SELECT *, min_factor <> wanted OR max_factor <> wanted AS differs FROM expected
)
SELECT cluster, topic AS resource,
  CASE WHEN NOT differs OR min_factor < 3 THEN 'ok' WHEN moves THEN 'info' ELSE 'alarm' END AS status,
  concat(
    CASE WHEN min_factor <> max_factor
      THEN concat('partitions have ', min_factor, ' to ', max_factor, ' replicas')
      ELSE concat('replication factor ', min_factor)
    END,
    ', expected ', wanted, IF(moves, '; a reassignment is in progress', '')
  ) AS reason,
  wanted, min_factor, max_factor
FROM judged
