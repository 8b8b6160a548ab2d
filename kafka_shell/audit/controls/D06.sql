-- title: Retention is longer than consumers need
-- severity: medium
-- tags: log, cost, opinion
-- description: Even the slowest group of the topic needs only a small part of the retained
--   records. Ages are upper bounds, taken from the sampled batch at or before the
--   committed offset. Without such a batch, the group has read none of the retained records. Only
--   topics where the start of the log was sampled are evaluated.
-- source: Apache Kafka documentation, Topic configs, retention.ms
-- absence: batches, group_offsets, partition_offsets
-- parameter: share = 0.1
-- parameter: shortest = 604800000
WITH slowest AS (
  SELECT o.cluster, o.topic, o.partition, min(o.offset) AS offset
  FROM group_offsets o WHERE o.offset IS NOT NULL GROUP BY o.cluster, o.topic, o.partition
),
ages AS (
  SELECT s.cluster, s.topic, s.partition,
    CASE WHEN max(p.latest) <= max(s.offset) THEN 0
      ELSE unix_millis(max(b.collected_at)) - unix_millis(coalesce(
        max(b.base_timestamp) FILTER (WHERE b.base_offset <= s.offset),
        min(b.base_timestamp))) END AS unread,
    unix_millis(max(b.collected_at))
      - unix_millis(min(b.base_timestamp) FILTER (WHERE b.place = 'earliest')) AS kept
  FROM slowest s
  JOIN partition_offsets p
    ON p.cluster = s.cluster AND p.topic = s.topic AND p.partition = s.partition
  JOIN batches b ON b.cluster = s.cluster AND b.topic = s.topic AND b.partition = s.partition
    AND NOT b.control AND b.base_timestamp IS NOT NULL
  GROUP BY s.cluster, s.topic, s.partition
),
topics_read AS (
  SELECT a.cluster, a.topic, max(unread) AS unread, max(kept) AS kept
  FROM ages a GROUP BY a.cluster, a.topic
),
judged AS (
  SELECT a.* FROM topics_read a
  JOIN topic_configs p
    ON p.cluster = a.cluster AND p.topic = a.topic AND p.key = 'cleanup.policy'
  WHERE p.value LIKE '%delete%'
)
SELECT cluster, topic AS resource,
  IF(kept >= {shortest} AND unread < {share} * kept, 'alarm', 'ok') AS status,
  concat('the records of ', {age kept}, ' are retained, the slowest group is at most ',
    {age unread}, ' behind') AS reason
FROM judged WHERE kept IS NOT NULL
UNION ALL
SELECT cluster, 'cluster', 'skip',
  concat('the start of the log was not sampled in ', count(*),
    IF(count(*) = 1, ' topic', ' topics'))
FROM judged WHERE kept IS NULL GROUP BY cluster
