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
  SELECT cluster, topic, min(size(p.isr)) >= {copies} AND count(m.adding) = 0 AS can_raise
  FROM partitions p LEFT JOIN reassignments m USING (cluster, topic) GROUP BY cluster, topic
)
SELECT cluster, topic AS resource,
  IF(min_factor >= 3 AND overridden AND value = '1', 'alarm', 'ok') AS status,
  concat('min.insync.replicas is ', value, ', replication factor is ', min_factor) AS reason,
  can_raise
FROM topics JOIN topic_configs USING (cluster, topic) LEFT JOIN synced USING (cluster, topic)
WHERE NOT internal AND key = 'min.insync.replicas'
