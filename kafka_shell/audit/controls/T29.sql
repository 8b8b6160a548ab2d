-- id: T29
-- title: Unused topic
-- severity: low
-- tags: hygiene
-- description: The topic is empty, or had no new records for a week. Find its owner or delete it.
--   Deletion is suggested only for empty topics.
-- source: audit catalogue T29
-- needs: partition_offsets, topics
-- parameter: days = 7
-- remedy: dynamic, irreversible
WITH judged AS (
  SELECT o.cluster, o.topic, sum(o.records) AS records, max(o.newest_record) AS newest,
    max(o.collected_at) AS now
  FROM partition_offsets o
  JOIN topics t ON t.cluster = o.cluster AND t.topic = o.topic AND NOT t.internal
  GROUP BY o.cluster, o.topic
)
SELECT
  cluster,
  topic AS resource,
  CASE
    WHEN records = 0 THEN 'alarm'
    WHEN newest IS NULL THEN 'skip'
    WHEN newest < now - INTERVAL '{days}' DAY THEN 'alarm'
    ELSE 'ok'
  END AS status,
  CASE
    WHEN records = 0 THEN 'the topic is empty'
    WHEN newest IS NULL THEN 'the broker does not report the newest timestamp (Kafka before 3.0)'
    ELSE concat('last written ', date_format(newest, 'yyyy-MM-dd HH:mm'), ' UTC')
  END AS reason,
  CASE WHEN records = 0 THEN concat('delete-topic --topic=', topic) END AS remedy,
  NULL AS undo
FROM judged
