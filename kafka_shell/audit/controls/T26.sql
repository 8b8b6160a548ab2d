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
synced AS (
  SELECT cluster, topic, min(size(isr)) AS in_sync FROM partitions GROUP BY cluster, topic
),
moving AS (SELECT DISTINCT cluster, topic FROM reassignments),
internal AS (
  SELECT t.cluster, t.topic, t.min_factor, IF(k.overridden, k.value, NULL) AS own,
    IF(k.overridden, try_cast(k.value AS INT), {copies}) AS wanted,
    t.min_factor >= {factor} AND synced.in_sync >= {copies} AND moving.topic IS NULL AS can_raise
  FROM topics t
  JOIN size ON size.cluster = t.cluster AND size.brokers >= {factor}
  JOIN topic_configs k
    ON k.cluster = t.cluster AND k.topic = t.topic AND k.key = 'min.insync.replicas'
  LEFT JOIN moving ON moving.cluster = t.cluster AND moving.topic = t.topic
  LEFT JOIN synced ON synced.cluster = t.cluster AND synced.topic = t.topic
  WHERE t.internal
)
SELECT cluster, topic AS resource,
  IF(min_factor BETWEEN 2 AND {factor} - 1, 'alarm', 'ok') AS status,
  concat('replication factor ', min_factor) AS reason,
  min_factor AS factor, NULL AS raised, NULL AS own
FROM internal
UNION ALL
SELECT
  cluster,
  topic,
  CASE WHEN wanted < {copies} THEN 'alarm' ELSE 'ok' END,
  concat('min.insync.replicas is ', wanted),
  NULL, IF(can_raise, {copies}, NULL), own
FROM internal
