-- title: Group was rewound and has not recovered
-- severity: medium
-- tags: groups, lag
-- description: The group went back to an earlier offset and has not reached its previous
--   position: it is reading records again.
-- source: Burrow, Consumer Lag Evaluation Rules, rewind
-- absence: group_commits
-- parameter: commits = 2
WITH windows AS (
  SELECT cluster, group, topic, partition, count(*) AS commits, max(c.offset) AS furthest,
    max_by(c.offset, c.position) AS now
  FROM group_commits c GROUP BY cluster, group, topic, partition HAVING count(*) >= {commits}
)
SELECT w.cluster, concat('group ', w.group, ' ', w.topic, ':', w.partition) AS resource,
  IF(now < furthest, 'alarm', 'ok') AS status,
  CASE WHEN now < furthest THEN concat('at offset ', now, ', previously at ', furthest)
    ELSE concat('at offset ', now) END AS reason
FROM windows w
JOIN group_offsets o ON o.cluster = w.cluster AND o.group = w.group AND o.topic = w.topic
  AND o.partition = w.partition AND (o.lag IS NOT NULL OR o.note <> 'no such topic')
