-- title: Flush configs are overridden
-- severity: low
-- tags: performance
-- description: Records are durable through replication, not fsync; forced flushes reduce
--   throughput.
-- source: Apache Kafka documentation, Topic configs, flush.messages and flush.ms
-- risk: safe
-- fix: topic resource overrides[] = delete
SELECT cluster, topic AS resource,
  IF(any(overridden), 'alarm', 'ok') AS status,
  CASE WHEN any(overridden)
    THEN array_join(sort_array(collect_list(CASE WHEN overridden THEN concat(key, '=', value) END)), ', ')
    ELSE 'inherited'
  END AS reason,
  sort_array(collect_list(CASE WHEN overridden THEN struct(key, value) END)) AS overrides
FROM topic_configs
WHERE key IN ('flush.messages', 'flush.ms')
GROUP BY cluster, topic
