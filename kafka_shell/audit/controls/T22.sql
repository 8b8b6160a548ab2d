-- title: Flush configs are overridden
-- severity: low
-- tags: performance
-- description: Records are durable through replication, not fsync; forced flushes reduce
--   throughput.
-- source: Apache Kafka documentation, Topic configs, flush.messages and flush.ms
-- risk: safe
-- fix: topic resource overrides[] = delete
SELECT cluster, topic AS resource,
  sort_array(collect_list(CASE WHEN overridden THEN struct(key, value) END)) AS overrides,
  IF(size(overrides) > 0, 'alarm', 'ok') AS status,
  IF(size(overrides) > 0, array_join(transform(overrides, o -> concat(o.key, '=', o.value)), ', '),
    'inherited') AS reason
FROM topic_configs
WHERE key IN ('flush.messages', 'flush.ms')
GROUP BY cluster, topic
