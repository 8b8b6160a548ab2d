-- id: T24
-- title: Name that collides, or breaks the pattern
-- severity: low
-- tags: naming
-- description: Metric names write . and _ alike, so that two topics become one there. The pattern
--   is a regular expression of whole names; as it is, it takes every name.
-- source: Apache Kafka documentation, kafka-topics, warning about . and _ in names
-- needs: topics
-- parameter: pattern = .*
SELECT
  cluster,
  topic AS resource,
  CASE
    WHEN count(*) OVER alike > 1 OR NOT topic RLIKE '^({pattern})$' THEN 'alarm' ELSE 'ok'
  END AS status,
  CASE
    WHEN count(*) OVER alike > 1
      THEN concat('collides with ',
        array_join(array_remove(collect_list(topic) OVER alike, topic), ', '))
    WHEN NOT topic RLIKE '^({pattern})$' THEN 'its name is not as {pattern} says'
    ELSE 'its own name'
  END AS reason,
  NULL AS remedy,
  NULL AS undo
FROM topics
WHERE NOT internal
WINDOW alike AS (PARTITION BY cluster, replace(topic, '.', '_'))
