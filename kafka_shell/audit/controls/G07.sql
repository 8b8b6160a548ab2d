-- title: Group without members
-- severity: low
-- tags: groups, hygiene, opinion
-- description: The group has no members, or all topics it has read were deleted. Deletion is
--   suggested only in the latter case, because it removes the committed offsets. Groups that
--   MirrorMaker copies have no members: with offsets in copied topics they are only info.
-- source: Apache Kafka documentation, Managing consumer groups
-- absence: group_offsets, topics
-- fix: group orphan
WITH reads AS (
  -- A topic that was created after the topics were listed has an end offset.
  SELECT o.cluster, o.group, count(*) AS partitions,
    count(CASE WHEN t.topic IS NOT NULL OR o.latest IS NOT NULL THEN o.topic END) AS existing,
    count(m.topic) > 0 AS copied
  FROM group_offsets o LEFT JOIN topics t ON t.cluster = o.cluster AND t.topic = o.topic
  LEFT JOIN {mirrored} m ON m.cluster = o.cluster AND m.topic = o.topic
  GROUP BY o.cluster, o.group
)
SELECT g.cluster, concat('group ', g.group) AS resource,
  CASE
    WHEN g.state NOT IN ('Empty', 'Dead') THEN 'ok'
    WHEN reads.copied THEN 'info'
    ELSE 'alarm'
  END AS status,
  CASE
    WHEN g.state NOT IN ('Empty', 'Dead')
      THEN concat(g.members, IF(g.members = 1, ' member', ' members'))
    WHEN coalesce(reads.existing, 0) = 0
      THEN 'no members, and no existing topic with committed offsets'
    ELSE concat('no members; committed offsets in ', reads.existing,
      IF(reads.existing = 1, ' partition', ' partitions'))
  END AS reason,
  IF(coalesce(reads.existing, 0) = 0, g.group, NULL) AS orphan
FROM groups g LEFT JOIN reads ON reads.cluster = g.cluster AND reads.group = g.group
