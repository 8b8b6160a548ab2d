-- title: Internal topic with too few replicas
-- severity: high
-- tags: durability, availability
-- description: Groups, transactions and share groups stop if their internal topics are
--   unavailable. Checked only if there are enough brokers. T01 reports a single replica, and B03 the
--   default of min.insync.replicas, which is not raised while a partition has fewer replicas or
--   in-sync replicas than it should, or while the topic is being reassigned.
-- source: Apache Kafka documentation, Broker configs, offsets.topic.replication.factor and
--   transaction.state.log.min.isr
-- absence: reassignments
-- parameter: factor = 3
-- parameter: copies = 2
-- fix: replicas resource = {factor} was factor if factor IS NOT NULL
-- fix: topic resource 'min.insync.replicas' = raised was own
WITH size AS (SELECT cluster, count(*) AS brokers FROM brokers GROUP BY cluster),
synced AS (SELECT cluster, topic, min(size(isr)) AS in_sync FROM partitions GROUP BY cluster, topic),
moving AS (SELECT DISTINCT cluster, topic, true AS moves FROM reassignments),
internal AS (
  SELECT cluster, topic, min_factor, IF(overridden, value, NULL) AS own,
    IF(overridden, try_cast(value AS INT), {copies}) AS wanted,
    min_factor >= {factor} AND in_sync >= {copies} AND moves IS NULL AS can_raise
  FROM topics
  JOIN size USING (cluster)
  JOIN topic_configs USING (cluster, topic)
  LEFT JOIN moving USING (cluster, topic)
  LEFT JOIN synced USING (cluster, topic)
  WHERE internal AND brokers >= {factor} AND key = 'min.insync.replicas'
)
SELECT cluster, topic AS resource,
  IF(min_factor BETWEEN 2 AND {factor} - 1, 'alarm', 'ok') AS status,
  concat('replication factor ', min_factor) AS reason,
  min_factor AS factor, NULL AS raised, NULL AS own
FROM internal
UNION ALL
SELECT cluster, topic, IF(wanted < {copies}, 'alarm', 'ok'),
  concat('min.insync.replicas is ', wanted), NULL, IF(can_raise, {copies}, NULL), own
FROM internal
