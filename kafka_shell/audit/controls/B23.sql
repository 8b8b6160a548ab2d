-- title: Logger is set to DEBUG or TRACE
-- severity: low
-- tags: performance
-- description: Debug output fills the disk of the broker and may contain sensitive data.
-- source: Apache Kafka documentation, Dynamic log levels (KIP-412)
-- risk: safe
-- fix: logger broker_id logger = 'INFO' was level
SELECT cluster, concat('broker ', broker_id, ' ', logger) AS resource,
  IF(level IN ('DEBUG', 'TRACE'), 'alarm', 'ok') AS status,
  concat('level ', level) AS reason,
  broker_id, logger, level
FROM broker_loggers
