-- title: Group has stopped committing
-- severity: high
-- tags: groups, lag
-- description: There are records to read, and more time has passed since the last commit than
--   between the first and the last of the recent commits, and more than a minute. A group without
--   members may be a batch job between two runs, and is only reported as info.
-- source: Burrow, Consumer Lag Evaluation Rules, stopped
-- absence: groups, group_commits
-- parameter: commits = 3
-- parameter: quiet_ms = 60000
WITH windows AS (
  SELECT cluster, group, topic, partition, count(*) AS commits, min(committed_at) AS first,
    max(committed_at) AS last, max(collected_at) AS now
  FROM group_commits GROUP BY cluster, group, topic, partition HAVING count(*) >= {commits}
)
SELECT w.cluster, concat('group ', w.group, ' ', w.topic, ':', w.partition) AS resource,
  CASE
    WHEN o.lag IS NULL THEN 'skip'
    WHEN o.lag > 0 AND unix_millis(w.now) - unix_millis(w.last)
      > greatest(unix_millis(w.last) - unix_millis(w.first), {quiet_ms})
      THEN IF(g.members = 0, 'info', 'alarm')
    ELSE 'ok'
  END AS status,
  CASE WHEN o.lag IS NULL THEN concat('the end offset of the partition is unknown: ', o.note)
    ELSE concat('lag ', {number o.lag}, '; the last of ', commits, ' commits was made ',
      {age unix_millis(w.now) - unix_millis(w.last)}, ' ago, the commits cover ',
      {age unix_millis(w.last) - unix_millis(w.first)})
  END AS reason
FROM windows w
JOIN group_offsets o ON o.cluster = w.cluster AND o.group = w.group AND o.topic = w.topic
  AND o.partition = w.partition AND (o.lag IS NOT NULL OR o.note <> 'no such topic')
LEFT JOIN groups g ON g.cluster = w.cluster AND g.group = w.group
