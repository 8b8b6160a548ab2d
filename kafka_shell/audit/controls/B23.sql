-- id: B23
-- title: Logger is set to DEBUG or TRACE
-- severity: low
-- tags: performance
-- description: Debug output fills the disk of the broker and may contain sensitive data.
-- source: Apache Kafka documentation, Dynamic log levels (KIP-412)
-- needs: broker_loggers
-- remedy: dynamic, safe
SELECT
  cluster,
  concat('broker ', broker_id, ' ', logger) AS resource,
  CASE WHEN level IN ('DEBUG', 'TRACE') THEN 'alarm' ELSE 'ok' END AS status,
  concat('level ', level) AS reason,
  CASE WHEN level IN ('DEBUG', 'TRACE')
    THEN concat('alter-configs --logger ', broker_id, ' --add-config=', word, '=INFO') END AS remedy,
  CASE WHEN level IN ('DEBUG', 'TRACE')
    THEN concat('alter-configs --logger ', broker_id, ' --add-config=', word, '=', level) END AS undo
FROM broker_loggers
