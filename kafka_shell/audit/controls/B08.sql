-- id: B08
-- title: Voter that does not keep up
-- severity: high
-- tags: availability
-- description: A voter that lags cannot take over soon, and commits depend on the others.
-- source: Apache Kafka documentation, KRaft, kafka-metadata-quorum, LastCaughtUpTimestamp
-- needs: quorum
-- parameter: behind_ms = 10000
SELECT
  cluster,
  concat('voter ', node_id) AS resource,
  CASE WHEN behind_ms IS NULL THEN 'skip' WHEN behind_ms > {behind_ms} THEN 'alarm' ELSE 'ok'
  END AS status,
  CASE WHEN behind_ms IS NULL THEN 'the quorum does not tell when it had caught up'
    ELSE concat('caught up ', behind_ms, ' ms before the leader, ', lag, ' records behind')
  END AS reason,
  NULL AS remedy,
  NULL AS undo
FROM quorum
WHERE votes
