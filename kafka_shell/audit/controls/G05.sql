-- id: G05
-- title: Committed offset is outside the log
-- severity: high
-- tags: groups
-- description: The records at the committed offset were deleted or never existed. When the group
--   starts again, it follows auto.offset.reset and skips or repeats records.
-- source: Apache Kafka documentation, Consumer configs, auto.offset.reset
-- needs: groups, group_offsets, partition_offsets
-- remedy: dynamic, irreversible
WITH judged AS (
  SELECT o.*, p.earliest, g.word, g.state,
    CASE WHEN o.offset < p.earliest THEN 'earliest' WHEN o.offset > p.latest THEN 'latest'
    END AS to
  FROM group_offsets o
  JOIN groups g ON g.cluster = o.cluster AND g.group = o.group
  JOIN partition_offsets p
    ON p.cluster = o.cluster AND p.topic = o.topic AND p.partition = o.partition
  WHERE o.offset IS NOT NULL
)
SELECT
  cluster,
  concat('group ', j.group, ' ', topic, ':', partition) AS resource,
  CASE WHEN to IS NOT NULL THEN 'alarm' ELSE 'ok' END AS status,
  concat('offset ', j.offset, ', the log contains offsets ', earliest, ' to ', latest) AS reason,
  CASE WHEN to IS NOT NULL AND state = 'Empty' THEN concat('reset-offsets --group=', word, ' --to ', to,
    ' --topic=', topic, ':', partition) END AS remedy,
  CASE WHEN to IS NOT NULL AND state = 'Empty' THEN concat('reset-offsets --group=', word, ' --offset=',
    topic, ':', partition, '=', j.offset) END AS undo
FROM judged j
