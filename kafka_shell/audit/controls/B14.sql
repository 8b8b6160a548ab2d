-- title: Disk is nearly full
-- severity: high
-- tags: capacity
-- description: A log directory that is full goes offline with its replicas. The broker stops if it
--   is its last one, or contains the metadata log.
-- source: Apache Kafka documentation, Hardware and OS, disks; KIP-827
-- parameter: percent = 80
SELECT cluster, concat('broker ', broker_id, ' ', path) AS resource,
  CASE
    WHEN error IS NOT NULL THEN concat('skip: offline: ', error)
    WHEN total IS NULL OR usable IS NULL OR total = 0
      THEN 'skip: the broker does not report the size of its volume (Kafka before 3.3)'
    ELSE concat(IF(total - usable > total * {percent} / 100, 'alarm: ', 'ok: '),
      round(100.0 * (total - usable) / total, 0), '% of ', {size total}, ' are used')
  END AS reason
FROM log_dirs
