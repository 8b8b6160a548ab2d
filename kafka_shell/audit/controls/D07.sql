-- title: Compacted topic without usable keys
-- severity: high
-- tags: log, compaction
-- description: A compacted topic rejects records without a key, and compaction deletes older
--   records without one. Unique keys are expected in a compacted topic and are not reported.
-- source: Apache Kafka documentation, Log compaction
SELECT cluster, topic AS resource, sum(r.records) AS sampled, sum(r.null_keys) AS plain,
  IF(sampled = 0 AND sum(unread) > 0,
    'skip: records could not be decoded: their batch is corrupt or too large',
    concat(IF(plain > 0, 'alarm: ', 'ok: '), plain, ' of ', sampled, ' sampled records have no key')) AS reason
FROM record_samples r
JOIN topics USING (cluster, topic)
JOIN {topic_configs cleanup.policy} USING (cluster, topic)
WHERE NOT internal AND cleanup_policy LIKE '%compact%' GROUP BY cluster, topic
