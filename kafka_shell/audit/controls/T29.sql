-- title: Unused topic
-- severity: low
-- tags: hygiene, opinion
-- description: No records were written for a week. Find the owner of the topic. Kafka does not report
--   when a topic was created, so a topic without records is only reported as info. Compacted topics,
--   and topics of Kafka Connect, Kafka Streams, MirrorMaker and Schema Registry, may be inactive.
-- source: kafka.sh
-- absence: partition_offsets, topic_configs
-- parameter: days = 7
-- parameter: besides = $frameworks
WITH judged AS (
  SELECT cluster, topic, sum(latest) AS written, sum(records) AS records,
    max(newest_record) AS newest, max(o.collected_at) AS now,
    coalesce(max(cleanup_policy), '') LIKE '%compact%' AS compacted
  FROM partition_offsets o
  JOIN topics USING (cluster, topic)
  LEFT JOIN {topic_configs cleanup.policy} USING (cluster, topic)
  WHERE NOT internal AND NOT topic RLIKE r'^({besides})$' GROUP BY cluster, topic
)
SELECT cluster, topic AS resource,
  CASE
    WHEN written = 0 THEN 'info: no record was ever written; the creation time is unknown'
    WHEN records = 0 THEN 'info: the topic is empty: its records have expired or were deleted'
    WHEN compacted THEN 'ok: compacted'
    WHEN newest IS NULL THEN 'skip: the broker does not report the newest timestamp (Kafka before 3.0)'
    WHEN newest < '1980-01-01' THEN 'skip: the newest timestamp is not in milliseconds'
    ELSE concat(IF(newest < now - INTERVAL '{days}' DAY, 'alarm', 'ok'), ': last written ',
      date_format(newest, 'yyyy-MM-dd HH:mm'), ' UTC')
  END AS reason
FROM judged
