-- title: Log directory is offline
-- severity: critical
-- tags: availability, durability
-- description: Replicas in an offline log directory are unavailable until it is repaired and the
--   broker is restarted.
-- source: Apache Kafka documentation, kafka-log-dirs; KIP-112
SELECT cluster, concat('broker ', broker_id, ' ', path) AS resource,
  IF(error IS NOT NULL, 'alarm', 'ok') AS status,
  coalesce(error, 'online') AS reason
FROM log_dirs
