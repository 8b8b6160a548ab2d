-- title: Hanging transaction
-- severity: high
-- tags: transactions
-- description: Consumers with isolation.level=read_committed cannot read past an open
--   transaction. A coordinator aborts a transaction after its timeout; a transaction that is open for
--   longer than any timeout is never aborted. The age in a partition is the age of the last record
--   by its timestamp, which the producer may set. The tables are read one after the other: if a
--   coordinator knows the producer, the transaction may be new, and find-hanging-transactions
--   checks it again.
-- source: Apache Kafka documentation, kafka-transactions (KIP-664)
-- absence: transactions, broker_configs
-- fix: transactional-id fenced
-- fix: transaction hanging
WITH most AS (
  SELECT cluster, max(try_cast(value AS BIGINT)) AS ms
  FROM broker_configs WHERE key = 'transaction.max.timeout.ms' GROUP BY cluster
),
known AS (SELECT cluster, producer_id, explode(partitions) AS part FROM transactions),
producers AS (
  SELECT cluster, producer_id, max(producer_epoch) AS epoch, max(transactional_id) AS id
  FROM transactions GROUP BY cluster, producer_id
),
-- transactions of version 2 raise the epoch (KIP-890), so it may be newer than the coordinator's
opened AS (
  SELECT o.*, known.part IS NOT NULL AS listed, p.id, o.producer_epoch >= p.epoch AS current,
    o.last_written < o.collected_at - make_interval(0, 0, 0, 0, 0, 0, most.ms / 1000) AS old
  FROM open_transactions o
  JOIN most ON most.cluster = o.cluster
  LEFT JOIN known ON known.cluster = o.cluster AND known.producer_id = o.producer_id
    AND known.part = concat(o.topic, ':', o.partition)
  LEFT JOIN producers p ON p.cluster = o.cluster AND p.producer_id = o.producer_id
)
SELECT t.cluster, concat('transactional ID ', t.transactional_id) AS resource,
  IF(t.duration_ms > most.ms, 'alarm', 'ok') AS status,
  concat(t.state, CASE WHEN t.duration_ms IS NOT NULL
    THEN concat(' for ', {age t.duration_ms}) ELSE '' END) AS reason,
  t.transactional_id AS fenced, NULL AS hanging
FROM transactions t JOIN most ON most.cluster = t.cluster
UNION ALL
SELECT
  cluster,
  concat(topic, ':', partition, ' at offset ', start_offset),
  CASE
    WHEN listed THEN 'ok'
    WHEN last_written IS NULL THEN 'skip'
    WHEN old AND current THEN 'info'
    WHEN old THEN 'alarm'
    ELSE 'ok'
  END,
  CASE WHEN listed THEN 'known to its coordinator'
    ELSE concat('opened by producer ', producer_id, CASE
        WHEN id IS NULL THEN ', unknown to all coordinators; '
        WHEN current THEN concat(' of transactional ID ', id,
          ', but its coordinator does not list the partition; ')
        ELSE concat(' with epoch ', producer_epoch, ', older than that of transactional ID ', id,
          '; ') END,
      coalesce(concat('the last record has the timestamp ',
        date_format(last_written, 'yyyy-MM-dd HH:mm'), ' UTC'),
        'the time of its last write is unknown'))
  END,
  NULL, concat(topic, ':', partition, ' at offset ', start_offset)
FROM opened
