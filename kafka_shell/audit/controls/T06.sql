-- id: T06
-- title: Unexpected replication factor
-- severity: medium
-- tags: durability
-- description: The replication factor should be the target, or min.insync.replicas plus one if
--   that is higher, limited by the number of brokers, and the same for all partitions of a topic.
-- source: Apache Kafka documentation, Replication; audit catalogue T06
-- needs: topics, topic_configs, brokers
-- wants: topic_configs min.insync.replicas
-- parameter: target = 3
-- remedy: dynamic, disruptive
WITH size AS (SELECT cluster, CAST(count(*) AS INT) AS brokers FROM brokers GROUP BY cluster),
judged AS (
  SELECT t.cluster, t.topic, t.min_factor, t.max_factor,
    least(size.brokers, greatest({target}, try_cast(k.value AS INT) + 1)) AS wanted
  FROM topics t
  JOIN size ON size.cluster = t.cluster
  JOIN topic_configs k
    ON k.cluster = t.cluster AND k.topic = t.topic AND k.key = 'min.insync.replicas'
  WHERE NOT t.internal
)
SELECT
  cluster,
  topic AS resource,
  CASE WHEN min_factor <> wanted OR max_factor <> wanted THEN 'alarm' ELSE 'ok' END AS status,
  CASE WHEN min_factor <> max_factor
    THEN concat('partitions have ', min_factor, ' to ', max_factor, ' replicas, expected ', wanted)
    ELSE concat('replication factor ', min_factor, ', expected ', wanted)
  END AS reason,
  CASE WHEN min_factor <> wanted OR max_factor <> wanted
    THEN concat('alter-topic --topic=', topic, ' --replication-factor ', wanted) END AS remedy,
  CASE WHEN min_factor = max_factor AND min_factor <> wanted
    THEN concat('alter-topic --topic=', topic, ' --replication-factor ', min_factor) END AS undo
FROM judged
