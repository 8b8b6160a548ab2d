-- id: B15
-- title: Log dir is offline
-- severity: critical
-- tags: availability, durability
-- description: The broker has given the dir up: its replicas there are gone until it is mended
--   and the broker restarted.
-- source: Apache Kafka documentation, kafka-log-dirs; KIP-112
-- needs: log_dirs
SELECT
  cluster,
  concat('broker ', broker_id, ' ', path) AS resource,
  CASE WHEN error IS NOT NULL THEN 'alarm' ELSE 'ok' END AS status,
  coalesce(error, 'online') AS reason,
  NULL AS remedy,
  NULL AS undo
FROM log_dirs
