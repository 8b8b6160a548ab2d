-- id: B15
-- title: Log directory is offline
-- severity: critical
-- tags: availability, durability
-- description: Replicas in an offline log directory are unavailable until it is repaired and the
--   broker is restarted.
-- source: Apache Kafka documentation, kafka-log-dirs; KIP-112
-- needs: log_dirs
SELECT
  cluster,
  concat('broker ', broker_id, ' ', path) AS resource,
  CASE WHEN error IS NOT NULL THEN 'alarm' ELSE 'ok' END AS status,
  coalesce(error, 'online') AS reason
FROM log_dirs
