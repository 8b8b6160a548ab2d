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
  SELECT cluster, topic, true AS is_read FROM group_offsets
  UNION
  SELECT cluster, explode(topics), true FROM group_members
),
written AS (
  SELECT cluster, topic, sum(latest) AS records FROM partition_offsets GROUP BY cluster, topic
)
SELECT cluster, topic AS resource,
  CASE WHEN is_read THEN 'ok: a group reads the topic'
    WHEN records = 0 THEN 'info: no group reads the topic, which has no records'
    ELSE 'alarm: no group reads the topic' END AS reason
FROM topics
LEFT JOIN read USING (cluster, topic)
LEFT JOIN written USING (cluster, topic)
LEFT JOIN {topic_configs cleanup.policy} USING (cluster, topic)
LEFT ANTI JOIN {mirrored} USING (cluster, topic)
WHERE NOT internal AND NOT topic RLIKE r'^({besides})$'
  AND coalesce(cleanup_policy, '') NOT LIKE '%compact%'
