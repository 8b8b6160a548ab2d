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
  SELECT cluster, o.group, count_if(t.topic_id IS NOT NULL OR latest IS NOT NULL) AS existing,
    count_if(is_copy) > 0 AS copied
  FROM group_offsets o
  LEFT JOIN (SELECT cluster, topic, coalesce(topic_id, '') AS topic_id FROM topics) t
    USING (cluster, topic)
  LEFT JOIN {mirrored} USING (cluster, topic)
  GROUP BY cluster, o.group
)
SELECT cluster, concat('group ', g.group) AS resource, coalesce(existing, 0) AS topics_read,
  CASE
    WHEN state NOT IN ('Empty', 'Dead') THEN concat('ok: ', members, IF(members = 1, ' member', ' members'))
    ELSE concat(IF(copied, 'info', 'alarm'), ': no members', IF(topics_read = 0,
      ', and no existing topic with committed offsets',
      concat('; committed offsets in ', existing, IF(existing = 1, ' partition', ' partitions'))))
  END AS reason,
  IF(topics_read = 0, g.group, NULL) AS orphan
FROM groups g LEFT JOIN reads USING (cluster, group)
