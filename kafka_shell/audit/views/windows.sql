-- The recent commits of groups, by partition. `unknown` is why there is no lag, or null.
SELECT w.*, lag, unix_millis(read) - unix_millis(last) AS age,
  unix_millis(last) - unix_millis(first) AS span,
  concat('group ', w.group, ' ', topic, ':', partition) AS resource,
  IF(lag IS NULL, concat('skip: the end offset of the partition is unknown: ', note), NULL) AS unknown
FROM (
  SELECT cluster, group, topic, partition, count(*) AS commits, max(c.offset) AS furthest,
    count(DISTINCT c.offset) AS positions, max_by(c.offset, position) AS now,
    min_by(lag, position) AS lag_then, max_by(lag, position) AS lag_now,
    min(committed_at) AS first, max(committed_at) AS last, max(collected_at) AS read
  FROM group_commits c GROUP BY cluster, group, topic, partition
) w JOIN group_offsets USING (cluster, group, topic, partition)
WHERE lag IS NOT NULL OR note <> 'no such topic'
