-- id: T30
-- title: Topic without consumers
-- severity: medium
-- tags: hygiene
-- description: No group has committed offsets in the topic or subscribes to it. Programs that
--   store offsets elsewhere are not visible. Topics of Kafka Connect, Kafka Streams, MirrorMaker and
--   Schema Registry are ignored.
-- source: audit catalogue T30
-- needs: topics, group_offsets, group_members
-- absence: group_offsets, group_members
-- parameter: besides = .*-(changelog|repartition)|.*-subscription-(registration|response)-topic|(.*[-_.])?connect-(.*-)?(configs|offsets|status)|mm2-.*|(.*\.)?heartbeats|.*\.checkpoints\.internal|_.*
WITH read AS (
  SELECT cluster, topic FROM group_offsets
  UNION
  SELECT cluster, explode(topics) AS topic FROM group_members
)
SELECT
  t.cluster,
  t.topic AS resource,
  CASE WHEN read.topic IS NULL THEN 'alarm' ELSE 'ok' END AS status,
  CASE WHEN read.topic IS NULL THEN 'no group reads the topic'
    ELSE 'a group reads the topic' END AS reason,
  NULL AS remedy,
  NULL AS undo
FROM topics t
LEFT JOIN read ON read.cluster = t.cluster AND read.topic = t.topic
WHERE NOT t.internal AND NOT t.topic RLIKE r'^({besides})$'
