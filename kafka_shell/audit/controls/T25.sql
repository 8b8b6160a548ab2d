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
SELECT cluster, topic AS resource,
  sort_array(collect_list(CASE WHEN overridden AND value = inherited THEN struct(key, value) END)) AS overrides,
  array_sort(collect_list(CASE WHEN overridden AND value IS NOT NULL AND inherited IS NULL THEN key END)) AS unknown,
  CASE
    WHEN size(overrides) > 0 THEN concat('alarm: same as inherited: ',
      array_join(transform(overrides, o -> concat(o.key, '=', o.value)), ', '))
    WHEN size(unknown) > 0 THEN concat('skip: unknown inherited value: ', array_join(unknown, ', '))
    ELSE 'ok: no redundant override'
  END AS reason
FROM topic_configs JOIN topics USING (cluster, topic)
WHERE NOT internal AND NOT topic RLIKE r'^({besides})$'
GROUP BY cluster, topic
