-- id: T30
-- title: Topic without consumers
-- severity: medium
-- tags: hygiene
-- description: No group has committed offsets in the topic or subscribes to it. Programs that
--   store offsets elsewhere are not visible. Topics of Kafka Connect, Kafka Streams, MirrorMaker and
--   Schema Registry are ignored, and so are topics that MirrorMaker copies to this cluster. A topic
--   without records may be new, and is only reported as info.
-- source: kafka.sh
-- needs: topics, group_offsets, group_members, partition_offsets
-- absence: topics, group_offsets, group_members, partition_offsets
-- parameter: besides = $frameworks
WITH read AS (
  SELECT cluster, topic FROM group_offsets
  UNION
  SELECT cluster, explode(topics) AS topic FROM group_members
),
written AS (
  SELECT cluster, topic, sum(latest) AS records FROM partition_offsets GROUP BY cluster, topic
),
-- MirrorMaker writes ALIAS.checkpoints.internal to the cluster that it copies to
copied AS (
  SELECT c.cluster, t.topic FROM topics c
  JOIN topics t ON t.cluster = c.cluster
    AND startswith(t.topic, replace(c.topic, 'checkpoints.internal', ''))
  WHERE c.topic LIKE '%.checkpoints.internal'
)
SELECT
  t.cluster,
  t.topic AS resource,
  CASE
    WHEN read.topic IS NOT NULL THEN 'ok'
    WHEN written.records = 0 THEN 'info'
    ELSE 'alarm'
  END AS status,
  CASE WHEN read.topic IS NOT NULL THEN 'a group reads the topic'
    WHEN written.records = 0 THEN 'no group reads the topic, which has no records'
    ELSE 'no group reads the topic' END AS reason,
  NULL AS remedy,
  NULL AS undo
FROM topics t
LEFT JOIN read ON read.cluster = t.cluster AND read.topic = t.topic
LEFT JOIN written ON written.cluster = t.cluster AND written.topic = t.topic
LEFT ANTI JOIN copied ON copied.cluster = t.cluster AND copied.topic = t.topic
WHERE NOT t.internal AND NOT t.topic RLIKE r'^({besides})$'
