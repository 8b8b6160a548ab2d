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
known AS (
  SELECT cluster, producer_id, explode(partitions) AS place, true AS listed FROM transactions
),
producers AS (
  SELECT cluster, producer_id, max(producer_epoch) AS epoch, max(transactional_id) AS id
  FROM transactions GROUP BY cluster, producer_id
),
-- transactions of version 2 raise the epoch (KIP-890), so it may be newer than the coordinator's
opened AS (
  SELECT *, concat(topic, ':', partition) AS place, producer_epoch >= epoch AS current,
    last_written < collected_at - make_interval(0, 0, 0, 0, 0, 0, ms / 1000) AS old
  FROM open_transactions JOIN most USING (cluster) LEFT JOIN producers USING (cluster, producer_id)
)
SELECT cluster, concat('transactional ID ', transactional_id) AS resource,
  concat(IF(duration_ms > ms, 'alarm: ', 'ok: '), state,
    coalesce(concat(' for ', {age duration_ms}), '')) AS reason,
  transactional_id AS fenced, NULL AS hanging
FROM transactions JOIN most USING (cluster)
UNION ALL
SELECT cluster, concat(place, ' at offset ', start_offset),
  CASE WHEN listed THEN 'ok: known to its coordinator'
    ELSE concat(CASE WHEN last_written IS NULL THEN 'skip: ' WHEN old AND current THEN 'info: '
        WHEN old THEN 'alarm: ' ELSE 'ok: ' END,
      'opened by producer ', producer_id, CASE
        WHEN id IS NULL THEN ', unknown to all coordinators; '
        WHEN current THEN concat(' of transactional ID ', id,
          ', but its coordinator does not list the partition; ')
        ELSE concat(' with epoch ', producer_epoch, ', older than that of transactional ID ', id,
          '; ') END,
      coalesce(concat('the last record has the timestamp ',
        date_format(last_written, 'yyyy-MM-dd HH:mm'), ' UTC'),
        'the time of its last write is unknown'))
  END,
  NULL, concat(place, ' at offset ', start_offset)
FROM opened LEFT JOIN known USING (cluster, producer_id, place)
