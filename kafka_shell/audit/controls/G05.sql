-- title: Committed offset is outside the log
-- severity: high
-- tags: groups
-- description: The records at the committed offset were deleted or never existed. When the group
--   starts again, it follows auto.offset.reset and skips or repeats records. An offset before the
--   log is only info while the group is active: it may have been read before the group committed
--   again and deleted the records, as Kafka Streams does in repartition topics.
-- source: Apache Kafka documentation, Consumer configs, auto.offset.reset
-- fix: group-offsets name place = IF(to = 'earliest', earliest, latest) was before if state = 'Empty'
WITH committed AS (
  -- a group may have committed after the other end offset was read
  SELECT cluster, o.group, topic, partition, o.offset, state, earliest,
    greatest(p.latest, coalesce(o.latest, p.latest)) AS latest
  FROM group_offsets o
  JOIN groups USING (cluster, group)
  JOIN partition_offsets p USING (cluster, topic, partition)
  WHERE o.offset IS NOT NULL
)
SELECT cluster, concat('group ', c.group, ' ', topic, ':', partition) AS resource,
  CASE WHEN c.offset < earliest THEN 'earliest' WHEN c.offset > latest THEN 'latest' END AS to,
  CASE WHEN to IS NULL THEN 'ok' WHEN to = 'earliest' AND state <> 'Empty' THEN 'info'
    ELSE 'alarm' END AS status,
  concat('offset ', c.offset, ', the log contains offsets ', earliest, ' to ', latest) AS reason,
  c.group AS name, concat(topic, ':', partition) AS place, c.offset AS before, earliest, latest, state
FROM committed c
