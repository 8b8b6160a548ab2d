-- title: Redundant config override
-- severity: low
-- tags: hygiene, opinion
-- description: The topic sets a config to the value it inherits, so it will not follow when the
--   default changes. Topics of Kafka Streams, Kafka Connect and others are ignored: they set what
--   they depend on. An override also protects the topic: without it, a broker with another default,
--   or a change of the default, can delete records or acknowledge them with fewer replicas.
-- source: Apache Kafka documentation, Topic configs, server default properties
-- parameter: besides = $frameworks
-- fix: topic resource overrides[] = delete
WITH judged AS (
  SELECT k.cluster, k.topic,
    sort_array(collect_list(CASE WHEN overridden AND value = inherited THEN struct(key, value) END))
      AS overrides,
    array_sort(collect_list(CASE WHEN overridden AND value = inherited THEN concat(key, '=', value) END)) AS pairs,
    array_sort(collect_list(CASE WHEN overridden AND value IS NOT NULL AND inherited IS NULL
      THEN key END)) AS unknown
  FROM topic_configs k
  JOIN topics t ON t.cluster = k.cluster AND t.topic = k.topic AND NOT t.internal
  WHERE NOT k.topic RLIKE r'^({besides})$'
  GROUP BY k.cluster, k.topic
)
SELECT cluster, topic AS resource,
  CASE WHEN size(pairs) > 0 THEN 'alarm' WHEN size(unknown) > 0 THEN 'skip' ELSE 'ok'
  END AS status,
  CASE
    WHEN size(pairs) > 0 THEN concat('same as inherited: ', array_join(pairs, ', '))
    WHEN size(unknown) > 0 THEN concat('unknown inherited value: ', array_join(unknown, ', '))
    ELSE 'no redundant override'
  END AS reason,
  overrides
FROM judged
