-- title: Topic name collides or violates the naming pattern
-- severity: low
-- tags: naming, opinion
-- description: Metric names do not distinguish . and _, so the metrics of two topics collide. The
--   pattern is a regular expression that must match the whole name; the default matches every
--   name.
-- source: Apache Kafka documentation, kafka-topics, warning about . and _ in names
-- parameter: pattern = .*
SELECT cluster, topic AS resource,
  CASE
    WHEN count(*) OVER alike > 1 THEN concat('alarm: collides with ',
      array_join(array_remove(collect_list(topic) OVER alike, topic), ', '))
    WHEN NOT topic RLIKE r'^({pattern})$' THEN concat('alarm: the name does not match ', r'{pattern}')
    ELSE 'ok: unique name'
  END AS reason
FROM topics
WHERE NOT internal
WINDOW alike AS (PARTITION BY cluster, replace(topic, '.', '_'))
