-- id: B16
-- title: Stuck move to another log directory
-- severity: medium
-- tags: capacity
-- description: A replica is being moved to another log directory of its broker and has not caught
--   up. Until it does, both copies use disk space. The remedy cancels the move.
-- source: Apache Kafka documentation, kafka-reassign-partitions, moves between log
--   directories (KIP-113)
-- needs: disk_replicas
-- parameter: behind = 0
-- remedy: dynamic, safe
WITH moving AS (SELECT * FROM disk_replicas WHERE future),
sources AS (
  SELECT /*+ BROADCAST(m) */ p.*
  FROM disk_replicas p
  LEFT SEMI JOIN moving m
    ON m.cluster = p.cluster AND m.broker_id = p.broker_id AND m.topic = p.topic
    AND m.partition = p.partition
  WHERE NOT p.future
),
copies AS (
  SELECT m.cluster, m.broker_id, m.topic, m.partition, m.path AS target, m.word AS target_word,
    m.offset_lag, p.path AS source, p.word AS source_word
  FROM moving m
  LEFT JOIN sources p
    ON p.cluster = m.cluster AND p.broker_id = m.broker_id AND p.topic = m.topic
    AND p.partition = m.partition
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
