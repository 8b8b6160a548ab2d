-- id: B23
-- title: Logger left at DEBUG or TRACE
-- severity: low
-- tags: performance
-- description: It fills the broker's disk, and may write what should not be written.
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
