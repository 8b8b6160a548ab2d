-- title: acks=all can mean a single copy
-- severity: high
-- tags: durability
-- description: With min.insync.replicas=1 the leader alone acknowledges a record. It is lost if
--   that broker is lost. B03 judges the default of the brokers, so topics that inherit it are ok.
--   There is no remedy while a partition has fewer in-sync replicas than it would require, or while
--   the topic is being reassigned: it has more replicas until the end.
-- source: Apache Kafka documentation, Topic configs, min.insync.replicas
-- absence: reassignments
-- parameter: copies = 2
-- fix: min.insync.replicas = CASE WHEN can_raise THEN {copies} END
WITH synced AS (
  SELECT p.cluster, p.topic, min(size(p.isr)) >= {copies} AND count(m.topic) = 0 AS can_raise
  FROM partitions p LEFT JOIN reassignments m ON m.cluster = p.cluster AND m.topic = p.topic
  GROUP BY p.cluster, p.topic
)
SELECT t.cluster, t.topic AS resource,
  IF(t.min_factor >= 3 AND k.overridden AND k.value = '1', 'alarm', 'ok') AS status,
  concat('min.insync.replicas is ', k.value, ', replication factor is ', t.min_factor) AS reason,
  can_raise
FROM topics t
JOIN topic_configs k
  ON k.cluster = t.cluster AND k.topic = t.topic AND k.key = 'min.insync.replicas'
LEFT JOIN synced ON synced.cluster = t.cluster AND synced.topic = t.topic
WHERE NOT t.internal
