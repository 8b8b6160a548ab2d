-- title: Voter is lagging
-- severity: high
-- tags: availability
-- description: A lagging voter cannot become the leader quickly, and commits depend on the other
--   voters.
-- source: Apache Kafka documentation, KRaft, kafka-metadata-quorum, LastCaughtUpTimestamp
-- parameter: behind_ms = 10000
WITH voters AS (
  SELECT *, behind_ms IS NULL AND max(behind_ms) OVER (PARTITION BY cluster) IS NOT NULL AS never
  FROM quorum WHERE votes
)
SELECT cluster, concat('voter ', node_id) AS resource,
  CASE WHEN never OR behind_ms > {behind_ms} THEN 'alarm' WHEN behind_ms IS NULL THEN 'skip'
    ELSE 'ok' END AS status,
  CASE
    WHEN never AND last_fetch IS NULL THEN 'has not fetched from the current leader'
    WHEN never THEN 'has not caught up with the current leader'
    WHEN behind_ms IS NULL THEN 'the quorum leader does not report when the voter caught up'
    ELSE concat({duration behind_ms}, ' and ', {number lag}, ' records behind the leader')
  END AS reason
FROM voters
