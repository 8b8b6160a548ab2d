-- title: Topic without consumers
-- severity: medium
-- tags: hygiene, opinion
-- description: No group has committed offsets in the topic or subscribes to it. Programs that
--   store offsets elsewhere are not visible. Topics of Kafka Connect, Kafka Streams, MirrorMaker and
--   Schema Registry are ignored, and so are compacted topics, which are read without a group, and
--   topics that MirrorMaker copies to this cluster. A topic without records may be new: info.
-- source: kafka.sh
-- absence: topics, topic_configs, group_offsets, group_members, partition_offsets
-- parameter: besides = $frameworks
WITH read AS (
  SELECT cluster, topic FROM group_offsets
  UNION
  SELECT cluster, explode(topics) AS topic FROM group_members
),
written AS (
  SELECT cluster, topic, sum(latest) AS records FROM partition_offsets GROUP BY cluster, topic
)
SELECT t.cluster, t.topic AS resource,
  CASE
    WHEN read.topic IS NOT NULL THEN 'ok'
    WHEN written.records = 0 THEN 'info'
    ELSE 'alarm'
  END AS status,
  CASE WHEN read.topic IS NOT NULL THEN 'a group reads the topic'
    WHEN written.records = 0 THEN 'no group reads the topic, which has no records'
    ELSE 'no group reads the topic' END AS reason
FROM topics t
LEFT JOIN read ON read.cluster = t.cluster AND read.topic = t.topic
LEFT JOIN written ON written.cluster = t.cluster AND written.topic = t.topic
LEFT ANTI JOIN topic_configs p ON p.cluster = t.cluster AND p.topic = t.topic
  AND p.key = 'cleanup.policy' AND p.value LIKE '%compact%'
LEFT ANTI JOIN {mirrored} copied ON copied.cluster = t.cluster AND copied.topic = t.topic
WHERE NOT t.internal AND NOT t.topic RLIKE r'^({besides})$'
