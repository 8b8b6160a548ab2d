-- id: T30
-- title: Nobody reads it
-- severity: medium
-- tags: hygiene
-- description: No group has committed an offset in it, and none subscribes. Programs that keep
--   their offsets elsewhere are not seen; changelogs of Kafka Streams are left out.
-- source: audit catalogue T30
-- needs: topics, group_offsets, group_members
-- parameter: besides = .*-changelog|connect-(configs|offsets|status)
WITH read AS (
  SELECT cluster, topic FROM group_offsets
  UNION
  SELECT cluster, explode(topics) AS topic FROM group_members
)
SELECT
  t.cluster,
  t.topic AS resource,
  CASE WHEN read.topic IS NULL THEN 'alarm' ELSE 'ok' END AS status,
  CASE WHEN read.topic IS NULL THEN 'no group has read it' ELSE 'a group reads it' END AS reason,
  NULL AS remedy,
  NULL AS undo
FROM topics t
LEFT JOIN read ON read.cluster = t.cluster AND read.topic = t.topic
WHERE NOT t.internal AND NOT t.topic RLIKE '^({besides})$'
