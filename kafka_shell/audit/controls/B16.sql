-- id: B16
-- title: Stuck move to another log directory
-- severity: medium
-- tags: capacity
-- description: A replica is being moved to another log directory of its broker and has not caught
--   up. Until it does, both copies use disk space. The remedy cancels the move.
-- source: Apache Kafka documentation, kafka-reassign-partitions, moves between log dirs (KIP-113)
-- needs: disk_replicas
-- parameter: behind = 0
-- remedy: dynamic, safe
WITH copies AS (
  SELECT f.cluster, f.broker_id, f.topic, f.partition, f.path AS target, f.word AS target_word, f.offset_lag,
    p.path AS source, p.word AS source_word
  FROM disk_replicas f
  LEFT JOIN disk_replicas p
    ON p.cluster = f.cluster AND p.broker_id = f.broker_id AND p.topic = f.topic
    AND p.partition = f.partition AND NOT p.future
  WHERE f.future
)
SELECT
  cluster,
  concat('broker ', broker_id, ' ', topic, ':', partition) AS resource,
  CASE WHEN offset_lag > {behind} THEN 'alarm' ELSE 'ok' END AS status,
  concat('moving to ', target, ', ', offset_lag, ' offsets behind') AS reason,
  CASE WHEN offset_lag > {behind} AND source IS NOT NULL
    THEN concat('alter-log-dirs --topic=', topic, ':', partition, ' --log-dir=', source_word,
      ' --broker-id ', broker_id) END AS remedy,
  CASE WHEN offset_lag > {behind} AND source IS NOT NULL
    THEN concat('alter-log-dirs --topic=', topic, ':', partition, ' --log-dir=', target_word,
      ' --broker-id ', broker_id) END AS undo
FROM copies
