-- id: B08
-- title: Voter is lagging
-- severity: high
-- tags: availability
-- description: A lagging voter cannot become the leader quickly, and commits depend on the other
--   voters.
-- source: Apache Kafka documentation, KRaft, kafka-metadata-quorum, LastCaughtUpTimestamp
-- needs: quorum
-- parameter: behind_ms = 10000
SELECT
  cluster,
  concat('voter ', node_id) AS resource,
  CASE WHEN behind_ms IS NULL THEN 'skip' WHEN behind_ms > {behind_ms} THEN 'alarm' ELSE 'ok'
  END AS status,
  CASE WHEN behind_ms IS NULL THEN 'the quorum leader does not report when the voter caught up'
    ELSE concat({duration behind_ms}, ' and ', {number lag}, ' records behind the leader')
  END AS reason,
  NULL AS remedy,
  NULL AS undo
FROM quorum
WHERE votes
