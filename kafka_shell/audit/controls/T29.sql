-- id: T29
-- title: Unused topic
-- severity: low
-- tags: hygiene
-- description: Nothing was ever written to the topic, or no records for a week. Find its owner.
--   Kafka does not tell when a topic was created, so a new one is reported, too. Topics of Kafka
--   Connect, Kafka Streams, MirrorMaker and Schema Registry are ignored: they may rest.
-- source: audit catalogue T29
-- needs: partition_offsets, topics
-- absence: partition_offsets
-- parameter: days = 7
-- parameter: besides = .*-(changelog|repartition)|.*-subscription-(registration|response)-topic|(.*[-_.])?connect-(.*-)?(configs|offsets|status)|mm2-.*|(.*\.)?heartbeats|.*\.checkpoints\.internal|_.*
WITH judged AS (
  SELECT o.cluster, o.topic, sum(o.latest) AS written, sum(o.records) AS records, max(o.newest_record) AS newest,
    max(o.collected_at) AS now
  FROM partition_offsets o
  JOIN topics t ON t.cluster = o.cluster AND t.topic = o.topic AND NOT t.internal
  WHERE NOT o.topic RLIKE r'^({besides})$'
  GROUP BY o.cluster, o.topic
)
SELECT
  cluster,
  topic AS resource,
  CASE
    WHEN written = 0 THEN 'alarm'
    WHEN records = 0 THEN 'info'
    WHEN newest IS NULL THEN 'skip'
    WHEN newest < now - INTERVAL '{days}' DAY THEN 'alarm'
    ELSE 'ok'
  END AS status,
  CASE
    WHEN written = 0 THEN 'nothing was ever written to the topic'
    WHEN records = 0 THEN 'the topic is empty: its records have expired or were deleted'
    WHEN newest IS NULL THEN 'the broker does not report the newest timestamp (Kafka before 3.0)'
    ELSE concat('last written ', date_format(newest, 'yyyy-MM-dd HH:mm'), ' UTC')
  END AS reason,
  NULL AS remedy,
  NULL AS undo
FROM judged
