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
  SELECT o.cluster, o.topic, sum(o.latest) AS written, sum(o.records) AS records, max(o.newest_record) AS newest,
    max(o.collected_at) AS now, max(p.topic) IS NOT NULL AS compacted
  FROM partition_offsets o
  JOIN topics t ON t.cluster = o.cluster AND t.topic = o.topic AND NOT t.internal
  LEFT JOIN topic_configs p ON p.cluster = o.cluster AND p.topic = o.topic
    AND p.key = 'cleanup.policy' AND p.value LIKE '%compact%'
  WHERE NOT o.topic RLIKE r'^({besides})$'
  GROUP BY o.cluster, o.topic
)
SELECT cluster, topic AS resource,
  CASE
    WHEN written = 0 OR records = 0 THEN 'info'
    WHEN compacted THEN 'ok'
    WHEN newest IS NULL OR newest < '1980-01-01' THEN 'skip'
    WHEN newest < now - INTERVAL '{days}' DAY THEN 'alarm'
    ELSE 'ok'
  END AS status,
  CASE
    WHEN written = 0 THEN 'no record was ever written; the creation time is unknown'
    WHEN records = 0 THEN 'the topic is empty: its records have expired or were deleted'
    WHEN compacted THEN 'compacted'
    WHEN newest IS NULL THEN 'the broker does not report the newest timestamp (Kafka before 3.0)'
    WHEN newest < '1980-01-01' THEN 'the newest timestamp is not in milliseconds'
    ELSE concat('last written ', date_format(newest, 'yyyy-MM-dd HH:mm'), ' UTC')
  END AS reason
FROM judged
