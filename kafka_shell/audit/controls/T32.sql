-- title: Tiny segments
-- severity: high
-- tags: capacity
-- description: Each segment costs three open files and memory maps on every replica: brokers run
--   out of both. There is no remedy where the broker sets the value.
-- source: Apache Kafka documentation, Topic configs, segment.bytes and segment.ms
-- parameter: smallest = 1048576
-- risk: safe
-- fix: segment.bytes = IF(worst = 'segment.bytes', 1073741824, NULL)
SELECT cluster, topic AS resource,
  array_sort(collect_list(CASE WHEN key = 'segment.bytes' AND try_cast(value AS BIGINT) < {smallest}
    OR key = 'segment.ms' AND try_cast(value AS BIGINT) < 60000 THEN struct(key, value) END)) AS bad,
  IF(size(bad) > 0, 'alarm', 'ok') AS status,
  array_join(transform(bad, b -> concat(b.key, ' is ', {config concat(b.key, '=', b.value)})), ', ') AS reason,
  try_element_at(bad, 1).key AS worst
FROM topic_configs WHERE key IN ('segment.bytes', 'segment.ms') GROUP BY cluster, topic
