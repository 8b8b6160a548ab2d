-- title: State topic is deleted from
-- severity: critical
-- tags: durability, compaction
-- description: Committed offsets, transactions, schemas and the state of Kafka Connect are kept by
--   compaction. With cleanup.policy=delete they are gone after the retention, and their owners start
--   from the beginning, or not at all.
-- source: Apache Kafka documentation, Kafka Connect, internal topics; Broker configs,
--   offsets.topic
-- parameter: state = __consumer_offsets|__transaction_state|_schemas|(.*[-_.])?connect([-_.].*)?[-_.](configs?|offsets?|status(es)?)
-- risk: safe
-- fix: cleanup.policy = 'compact'
SELECT cluster, topic AS resource,
  IF(value LIKE '%delete%', 'alarm', 'ok') AS status,
  concat('cleanup.policy is ', value) AS reason
FROM topic_configs
WHERE key = 'cleanup.policy' AND topic RLIKE r'^({state})$'
