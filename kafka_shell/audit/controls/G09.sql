-- title: Unread records are about to expire
-- severity: critical
-- tags: groups, lag, durability
-- description: The oldest record that the group has not read is almost as old as retention.ms: the
--   group loses records if it does not read them in time. The age is that of the first sampled batch
--   at or after the committed offset, so records may be older.
-- source: Apache Kafka documentation, Topic configs, retention.ms
-- parameter: share = 0.9
WITH unread AS (
  SELECT o.cluster, o.group, o.topic, o.partition, max(o.lag) AS lag,
    unix_millis(max(b.collected_at)) - unix_millis(min_by(b.base_timestamp, b.base_offset)) AS age
  FROM group_offsets o
  JOIN batches b ON b.cluster = o.cluster AND b.topic = o.topic AND b.partition = o.partition
    AND b.last_offset >= o.offset AND NOT b.control AND b.base_timestamp IS NOT NULL
  WHERE o.lag > 0 GROUP BY o.cluster, o.group, o.topic, o.partition
)
SELECT u.cluster, concat('group ', u.group, ' ', u.topic, ':', u.partition) AS resource,
  IF(u.age > {share} * try_cast(r.value AS BIGINT), 'alarm', 'ok') AS status,
  concat('lag ', {number u.lag}, '; the next record is at least ', {age u.age},
    ' old, retention.ms is ', {duration r.value}) AS reason
FROM unread u
JOIN topic_configs r ON r.cluster = u.cluster AND r.topic = u.topic AND r.key = 'retention.ms'
  AND try_cast(r.value AS BIGINT) > 0
JOIN topic_configs p ON p.cluster = u.cluster AND p.topic = u.topic AND p.key = 'cleanup.policy'
  AND p.value LIKE '%delete%'
