-- title: Skewed keys
-- severity: medium
-- tags: log, balance
-- description: All records of a key are in one partition, so one consumer does most of the work
--   and more partitions do not help. Topics with one partition are not checked.
-- source: Apache Kafka documentation, Producer, partitioning by key
-- parameter: fewest = 100
-- parameter: share = 0.5
-- parameter: besides = $frameworks
SELECT cluster, topic AS resource, sum(records - null_keys) AS sampled, max(top_key_records) AS top,
  IF(sampled = 0 AND sum(unread) > 0,
    'skip: records could not be decoded: their batch is corrupt or too large',
    concat(IF(sampled >= {fewest} AND top > {share} * sampled, 'alarm: ', 'ok: '), 'one key has ', top,
      ' of ', sampled, ' sampled records')) AS reason
FROM record_samples JOIN topics USING (cluster, topic)
WHERE NOT internal AND partitions > 1 AND NOT topic RLIKE r'^({besides})$' GROUP BY cluster, topic
