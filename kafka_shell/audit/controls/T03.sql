-- title: One offline broker blocks acks=all
-- severity: critical
-- tags: availability
-- description: min.insync.replicas equals the replication factor, so producers with acks=all fail
--   as soon as one replica is not in sync. With replication factor 2 the remedy is that of T02:
--   after min.insync.replicas=1, acks=all could mean a single copy.
-- source: Apache Kafka documentation, Topic configs, min.insync.replicas
-- fix: min.insync.replicas = CASE WHEN min_factor > 2 THEN min_factor - 1 END
SELECT t.cluster, t.topic AS resource,
  IF(t.min_factor > 1 AND try_cast(k.value AS INT) >= t.min_factor, 'alarm', 'ok') AS status,
  concat('min.insync.replicas is ', k.value, ', replication factor is ', t.min_factor) AS reason,
  t.min_factor
FROM topics t
JOIN topic_configs k
  ON k.cluster = t.cluster AND k.topic = t.topic AND k.key = 'min.insync.replicas'
