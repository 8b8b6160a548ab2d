-- id: T03
-- title: One offline broker blocks acks=all
-- severity: critical
-- tags: availability
-- description: min.insync.replicas equals the replication factor, so producers with acks=all fail
--   as soon as one replica is not in sync. With replication factor 2 the remedy is that of T02:
--   after min.insync.replicas=1, acks=all could mean a single copy.
-- source: Apache Kafka documentation, Topic configs, min.insync.replicas
-- needs: topics, topic_configs
-- configs: topic_configs min.insync.replicas
-- remedy: dynamic, safe
WITH judged AS (
  SELECT t.cluster, t.topic, t.min_factor, k.pair, k.overridden, k.inherited, try_cast(k.value AS INT) AS wanted,
    t.min_factor > 1 AND try_cast(k.value AS INT) >= t.min_factor AS bad
  FROM topics t
  JOIN topic_configs k
    ON k.cluster = t.cluster AND k.topic = t.topic AND k.key = 'min.insync.replicas'
)
SELECT
  cluster,
  topic AS resource,
  CASE WHEN bad THEN 'alarm' ELSE 'ok' END AS status,
  concat('min.insync.replicas is ', wanted, ', replication factor is ', min_factor) AS reason,
  CASE WHEN bad AND min_factor > 2 THEN concat('alter-configs --topic=', topic, ' ',
    {override min.insync.replicas = min_factor - 1}) END AS remedy,
  CASE WHEN bad AND min_factor > 2 THEN concat('alter-configs --topic=', topic, ' ',
    coalesce(pair, '--delete-config min.insync.replicas')) END AS undo
FROM judged
