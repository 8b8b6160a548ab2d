-- title: Combined mode (broker and controller in one process)
-- severity: high
-- tags: availability
-- description: Overload or a restart of the broker also affects the controller. Combined mode is
--   not recommended for production.
-- source: Apache Kafka documentation, KRaft, Process roles
SELECT cluster, concat('broker ', broker_id) AS resource,
  IF(value LIKE '%broker%' AND value LIKE '%controller%', 'alarm', 'ok') AS status,
  concat('process.roles is ', value) AS reason
FROM broker_configs
WHERE key = 'process.roles'
