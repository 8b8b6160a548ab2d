-- title: Lag is not decreasing
-- severity: medium
-- tags: groups, lag
-- description: The group is reading, but its lag is as large as at the first of its recent
--   commits, or larger: it is too slow. The lag grows between two commits, so the lags at the
--   first and at the last commit are compared.
-- source: Burrow, Consumer Lag Evaluation Rules, lag
-- absence: group_commits
-- parameter: commits = 3
WITH windows AS (
  SELECT cluster, group, topic, partition, count(*) AS commits,
    min_by(c.lag, c.position) AS lag_then, max_by(c.lag, c.position) AS lag_now,
    count(DISTINCT c.offset) AS positions,
    max_by(c.offset, c.position) < max(c.offset) AS rewound
  FROM group_commits c GROUP BY cluster, group, topic, partition HAVING count(*) >= {commits}
)
SELECT w.cluster, concat('group ', w.group, ' ', w.topic, ':', w.partition) AS resource,
  CASE
    WHEN o.lag IS NULL OR w.lag_then IS NULL OR w.lag_now IS NULL THEN 'skip'
    WHEN w.lag_now > 0 AND w.positions > 1 AND NOT w.rewound AND w.lag_now >= w.lag_then
      THEN 'alarm'
    ELSE 'ok'
  END AS status,
  CASE
    WHEN o.lag IS NULL THEN concat('the end offset of the partition is unknown: ', o.note)
    WHEN w.lag_then IS NULL OR w.lag_now IS NULL
      THEN 'the end offset at the first or the last commit is unknown'
    ELSE concat('lag ', {number w.lag_now}, ' at the last of ', w.commits, ' commits, ',
      {number w.lag_then}, ' at the first')
  END AS reason
FROM windows w
JOIN group_offsets o ON o.cluster = w.cluster AND o.group = w.group AND o.topic = w.topic
  AND o.partition = w.partition AND (o.lag IS NOT NULL OR o.note <> 'no such topic')
