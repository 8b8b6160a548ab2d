-- title: The log cleaner is disabled
-- severity: critical
-- tags: capacity, compaction
-- description: Compacted topics, among them __consumer_offsets, grow without limit until the disk is
--   full, and brokers take ever longer to load them.
-- source: Apache Kafka documentation, Broker configs, log.cleaner.enable
SELECT cluster, concat('broker ', broker_id) AS resource,
  IF(value = 'false', 'alarm', 'ok') AS status,
  concat('log.cleaner.enable is ', value) AS reason
FROM broker_configs
WHERE key = 'log.cleaner.enable'
