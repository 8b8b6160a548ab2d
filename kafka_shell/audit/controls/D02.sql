-- title: Tiny batches
-- severity: medium
-- tags: log, performance
-- description: Half of the sampled batches contain almost no records, and the topic receives many
--   records: producers send almost every record in a request of its own. Raise linger.ms or
--   batch.size. Evaluated for partitions with at least two sampled batches, from the average rate
--   between the first and the last of them.
-- source: Apache Kafka documentation, Producer configs, linger.ms and batch.size
-- parameter: records = 2
-- parameter: rate = 100
WITH rates AS (
  SELECT cluster, topic, sum(rate) AS rate FROM (
    SELECT cluster, topic, partition, (max(last_offset) - min(base_offset) + 1) /
      greatest(1, (unix_millis(max(max_timestamp)) - unix_millis(min(base_timestamp))) / 1000) AS rate
    FROM batches
    WHERE NOT control AND base_timestamp IS NOT NULL AND max_timestamp IS NOT NULL
    GROUP BY cluster, topic, partition HAVING count(*) > 1
  ) GROUP BY cluster, topic
),
sizes AS (
  SELECT cluster, topic, median(last_offset - base_offset + 1) AS records, count(*) AS batches,
    count_if(base_timestamp IS NULL OR max_timestamp IS NULL) AS undated
  FROM batches WHERE NOT control GROUP BY cluster, topic
)
SELECT cluster, topic AS resource,
  CASE
    WHEN batches = 1 OR records >= {records} THEN 'ok'
    WHEN rate >= {rate} THEN 'alarm'
    WHEN undated > 0 THEN 'skip'
    ELSE 'ok'
  END AS status,
  concat('a median of ', records, ' records in ', batches, ' sampled batches, ',
    coalesce(concat(round(rate, 1), ' records per second'), 'unknown rate'),
    IF(undated > 0, concat('; without a timestamp: ', undated), '')) AS reason
FROM sizes LEFT JOIN rates USING (cluster, topic) JOIN topics USING (cluster, topic)
WHERE NOT internal
