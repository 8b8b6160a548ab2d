-- title: Voter is lagging
-- severity: high
-- tags: availability
-- description: A lagging voter cannot become the leader quickly, and commits depend on the other
--   voters.
-- source: Apache Kafka documentation, KRaft, kafka-metadata-quorum, LastCaughtUpTimestamp
-- parameter: behind_ms = 10000
SELECT cluster, concat('voter ', node_id) AS resource,
  behind_ms IS NULL AND max(behind_ms) OVER (PARTITION BY cluster) IS NOT NULL AS never,
  CASE
    WHEN never AND last_fetch IS NULL THEN 'alarm: has not fetched from the current leader'
    WHEN never THEN 'alarm: has not caught up with the current leader'
    WHEN behind_ms IS NULL THEN 'skip: the quorum leader does not report when the voter caught up'
    ELSE concat(IF(behind_ms > {behind_ms}, 'alarm: ', 'ok: '), {duration behind_ms}, ' and ',
      {number lag}, ' records behind the leader')
  END AS reason
FROM quorum WHERE votes
