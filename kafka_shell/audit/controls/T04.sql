-- id: T04
-- title: acks=all can mean a single copy
-- severity: high
-- tags: durability
-- description: With min.insync.replicas=1 the leader alone acknowledges a record. It is lost if
--   that broker is lost. There is no remedy while a partition has fewer in-sync replicas than it
--   would require, or while the topic is being reassigned: it has more replicas until the end.
-- source: Apache Kafka documentation, Topic configs, min.insync.replicas
-- needs: topics, topic_configs, partitions, reassignments
-- absence: reassignments
-- configs: topic_configs min.insync.replicas
-- parameter: copies = 2
-- remedy: dynamic, safe
WITH synced AS (
  SELECT cluster, topic, min(size(isr)) AS in_sync FROM partitions GROUP BY cluster, topic
),
moving AS (SELECT DISTINCT cluster, topic FROM reassignments),
judged AS (
  SELECT t.cluster, t.topic, t.min_factor, k.pair, k.overridden, k.inherited, synced.in_sync, try_cast(k.value AS INT) AS wanted,
    m.topic IS NOT NULL AS moves,
    t.min_factor >= 3 AND try_cast(k.value AS INT) = 1 AS bad
  FROM topics t
  JOIN topic_configs k
    ON k.cluster = t.cluster AND k.topic = t.topic AND k.key = 'min.insync.replicas'
  LEFT JOIN moving m ON m.cluster = t.cluster AND m.topic = t.topic
  LEFT JOIN synced ON synced.cluster = t.cluster AND synced.topic = t.topic
  WHERE NOT t.internal
)
SELECT
  cluster,
  topic AS resource,
  CASE WHEN bad THEN 'alarm' ELSE 'ok' END AS status,
  concat('min.insync.replicas is ', wanted, ', replication factor is ', min_factor) AS reason,
  CASE WHEN bad AND NOT moves AND in_sync >= {copies} THEN concat('alter-configs --topic=', topic, ' ',
    {override min.insync.replicas = '{copies}'}) END AS remedy,
  CASE WHEN bad THEN concat('alter-configs --topic=', topic, ' ',
    coalesce(pair, '--delete-config min.insync.replicas')) END AS undo
FROM judged
