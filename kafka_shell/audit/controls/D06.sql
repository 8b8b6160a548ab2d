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
  SELECT cluster, topic, partition, min(o.offset) AS offset
  FROM group_offsets o WHERE o.offset IS NOT NULL GROUP BY cluster, topic, partition
),
ages AS (
  SELECT cluster, topic, partition,
    IF(max(latest) <= max(s.offset), 0,
      unix_millis(max(b.collected_at)) - unix_millis(coalesce(
        max(base_timestamp) FILTER (WHERE base_offset <= s.offset), min(base_timestamp)))) AS unread,
    unix_millis(max(b.collected_at))
      - unix_millis(min(base_timestamp) FILTER (WHERE place = 'earliest')) AS kept
  FROM slowest s
  JOIN partition_offsets USING (cluster, topic, partition)
  JOIN batches b USING (cluster, topic, partition)
  WHERE NOT control AND base_timestamp IS NOT NULL
  GROUP BY cluster, topic, partition
),
judged AS (
  SELECT cluster, topic, max(unread) AS unread, max(kept) AS kept
  FROM ages JOIN {topic_configs cleanup.policy} USING (cluster, topic)
  WHERE cleanup_policy LIKE '%delete%' GROUP BY cluster, topic
)
SELECT cluster, topic AS resource,
  concat(IF(kept >= {shortest} AND unread < {share} * kept, 'alarm', 'ok'), ': the records of ',
    {age kept}, ' are retained, the slowest group is at most ', {age unread}, ' behind') AS reason
FROM judged WHERE kept IS NOT NULL
UNION ALL
SELECT cluster, 'cluster', concat('skip: the start of the log was not sampled in ', count(*),
    IF(count(*) = 1, ' topic', ' topics'))
FROM judged WHERE kept IS NULL GROUP BY cluster
