-- title: One offline broker blocks acks=all
-- severity: critical
-- tags: availability
-- description: min.insync.replicas equals the replication factor, so producers with acks=all fail
--   as soon as one replica is not in sync. With replication factor 2 the remedy is that of T02:
--   after min.insync.replicas=1, acks=all could mean a single copy.
-- source: Apache Kafka documentation, Topic configs, min.insync.replicas
-- fix: min.insync.replicas = CASE WHEN min_factor > 2 THEN min_factor - 1 END
SELECT cluster, topic AS resource,
  IF(min_factor > 1 AND try_cast(value AS INT) >= min_factor, 'alarm', 'ok') AS status,
  concat('min.insync.replicas is ', value, ', replication factor is ', min_factor) AS reason,
  min_factor
FROM topics JOIN topic_configs USING (cluster, topic)
WHERE key = 'min.insync.replicas'
