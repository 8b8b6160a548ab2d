-- id: T22
-- title: Flush configs are overridden
-- severity: low
-- tags: performance
-- description: Records are durable through replication, not fsync; forced flushes reduce
--   throughput.
-- source: Apache Kafka documentation, Topic configs, flush.messages and flush.ms
-- needs: topic_configs
-- configs: topic_configs flush.messages, flush.ms
-- remedy: dynamic, safe
SELECT
  cluster,
  topic AS resource,
  CASE WHEN any(overridden) THEN 'alarm' ELSE 'ok' END AS status,
  CASE WHEN any(overridden)
    THEN array_join(sort_array(collect_list(CASE WHEN overridden THEN pair END)), ', ')
    ELSE 'inherited'
  END AS reason,
  CASE WHEN any(overridden) THEN concat('alter-configs --topic=', topic, ' --delete-config ',
    array_join(sort_array(collect_list(CASE WHEN overridden THEN key END)), ',')) END AS remedy,
  CASE WHEN any(overridden) THEN concat('alter-configs --topic=', topic, ' ',
    array_join(sort_array(collect_list(CASE WHEN overridden THEN pair END)), ' ')) END AS undo
FROM topic_configs
WHERE key IN ('flush.messages', 'flush.ms')
GROUP BY cluster, topic
