-- title: Unread records are about to expire
-- severity: critical
-- tags: groups, lag, durability
-- description: The oldest record that the group has not read is almost as old as retention.ms: the
--   group loses records if it does not read them in time. The age is that of the first sampled batch
--   at or after the committed offset, so records may be older.
-- source: Apache Kafka documentation, Topic configs, retention.ms
-- parameter: share = 0.9
WITH unread AS (
  SELECT cluster, o.group, topic, partition, max(lag) AS lag,
    unix_millis(max(b.collected_at)) - unix_millis(min_by(base_timestamp, base_offset)) AS age
  FROM group_offsets o JOIN batches b USING (cluster, topic, partition)
  WHERE lag > 0 AND last_offset >= o.offset AND NOT control AND base_timestamp IS NOT NULL
  GROUP BY cluster, o.group, topic, partition
)
SELECT cluster, concat('group ', u.group, ' ', topic, ':', partition) AS resource,
  IF(age > {share} * try_cast(retention_ms AS BIGINT), 'alarm', 'ok') AS status,
  concat('lag ', {number lag}, '; the next record is at least ', {age age},
    ' old, retention.ms is ', {duration retention_ms}) AS reason
FROM unread u JOIN {topic_configs retention.ms, cleanup.policy} USING (cluster, topic)
WHERE try_cast(retention_ms AS BIGINT) > 0 AND cleanup_policy LIKE '%delete%'
