-- title: Tiny segments
-- severity: high
-- tags: capacity
-- description: Each segment costs three open files and memory maps on every replica: brokers run
--   out of both. There is no remedy where the broker sets the value.
-- source: Apache Kafka documentation, Topic configs, segment.bytes and segment.ms
-- parameter: smallest = 1048576
-- risk: safe
-- fix: segment.bytes = IF(worst = 'segment.bytes', 1073741824, NULL)
WITH judged AS (
  SELECT *, key = 'segment.bytes' AND try_cast(value AS BIGINT) < {smallest}
    OR key = 'segment.ms' AND try_cast(value AS BIGINT) < 60000 AS bad
  FROM topic_configs WHERE key IN ('segment.bytes', 'segment.ms')
)
SELECT cluster, topic AS resource,
  IF(any(bad), 'alarm', 'ok') AS status,
  coalesce(array_join(array_sort(collect_list(CASE WHEN bad THEN
    concat(key, ' is ', {config concat(key, '=', value)}) END)), ', '), '') AS reason,
  min(CASE WHEN bad THEN key END) AS worst
FROM judged GROUP BY cluster, topic
