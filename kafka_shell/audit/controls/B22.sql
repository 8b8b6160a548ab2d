-- id: B22
-- title: Hanging transaction
-- severity: high
-- tags: transactions
-- description: Consumers with isolation.level=read_committed cannot read past an open
--   transaction. A coordinator aborts a transaction after its timeout; one that is open for
--   longer than any timeout is never aborted.
-- source: Apache Kafka documentation, kafka-transactions (KIP-664)
-- needs: transactions, open_transactions, broker_configs
-- absence: transactions, broker_configs
-- configs: broker_configs transaction.max.timeout.ms
-- remedy: dynamic, irreversible
WITH most AS (
  SELECT cluster, max(try_cast(value AS BIGINT)) AS ms
  FROM broker_configs WHERE key = 'transaction.max.timeout.ms' GROUP BY cluster
),
known AS (SELECT cluster, producer_id, explode(partitions) AS part FROM transactions)
SELECT
  t.cluster,
  concat('transactional ID ', t.transactional_id) AS resource,
  CASE WHEN t.duration_ms > most.ms THEN 'alarm' ELSE 'ok' END AS status,
  concat(t.state, CASE WHEN t.duration_ms IS NOT NULL
    THEN concat(' for ', {age t.duration_ms}) ELSE '' END) AS reason,
  CASE WHEN t.duration_ms > most.ms THEN concat('fence-producer --transactional-id=', t.word) END AS remedy,
  NULL AS undo
FROM transactions t JOIN most ON most.cluster = t.cluster
UNION ALL
SELECT
  o.cluster,
  concat(o.topic, ':', o.partition, ' at offset ', o.start_offset),
  CASE
    WHEN known.part IS NOT NULL THEN 'ok'
    WHEN o.last_written IS NULL THEN 'skip'
    WHEN o.last_written < o.collected_at - make_interval(0, 0, 0, 0, 0, 0, most.ms / 1000)
      THEN 'alarm'
    ELSE 'ok'
  END,
  CASE WHEN known.part IS NULL
    THEN concat('opened by producer ', o.producer_id, ', unknown to all coordinators; ',
      coalesce(concat('last written ', date_format(o.last_written, 'yyyy-MM-dd HH:mm'), ' UTC'),
        'the time of its last write is unknown'))
    ELSE 'known to its coordinator' END,
  CASE WHEN known.part IS NULL
      AND o.last_written < o.collected_at - make_interval(0, 0, 0, 0, 0, 0, most.ms / 1000)
    THEN concat('abort-transaction --topic=', o.topic, ':', o.partition, ' --start-offset ',
      o.start_offset) END,
  NULL
FROM open_transactions o
JOIN most ON most.cluster = o.cluster
LEFT JOIN known ON known.cluster = o.cluster AND known.producer_id = o.producer_id
  AND known.part = concat(o.topic, ':', o.partition)
