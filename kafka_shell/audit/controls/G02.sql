-- title: Group is stalled
-- severity: high
-- tags: groups, lag
-- description: The group commits the same offset repeatedly although there are records to read.
--   Often it cannot process a record. A group that had read everything at the first of these
--   commits is not stalled: the records are newer.
-- source: Burrow, Consumer Lag Evaluation Rules, stalled
-- absence: group_commits
-- parameter: commits = 3
WITH windows AS (
  SELECT cluster, group, topic, partition, count(*) AS commits,
    count(DISTINCT c.offset) AS positions, max(c.offset) AS offset,
    min_by(c.lag, c.position) AS lag_then
  FROM group_commits c GROUP BY cluster, group, topic, partition HAVING count(*) >= {commits}
)
SELECT w.cluster, concat('group ', w.group, ' ', w.topic, ':', w.partition) AS resource,
  CASE
    WHEN o.lag IS NULL THEN 'skip'
    WHEN o.lag > 0 AND w.positions = 1 AND coalesce(w.lag_then, o.lag) > 0 THEN 'alarm'
    ELSE 'ok'
  END AS status,
  CASE
    WHEN o.lag IS NULL THEN concat('the end offset of the partition is unknown: ', o.note)
    WHEN o.lag > 0 AND w.positions = 1 AND coalesce(w.lag_then, o.lag) > 0
      THEN concat('offset ', w.offset, ' in the last ', w.commits, ' commits, lag ', {number o.lag})
    ELSE concat('lag ', {number o.lag})
  END AS reason
FROM windows w
JOIN group_offsets o ON o.cluster = w.cluster AND o.group = w.group AND o.topic = w.topic
  AND o.partition = w.partition AND (o.lag IS NOT NULL OR o.note <> 'no such topic')
