-- title: Quota is smaller than one message
-- severity: medium
-- tags: quotas
-- description: The quota allows fewer bytes per quota window than the largest message, so the
--   sender of such a message is throttled for longer than the window. The remedy lets the client
--   use more of the brokers; another is a lower max.message.bytes of the topic.
-- source: Apache Kafka documentation, Broker configs, quota.window.num and
--   quota.window.size.seconds
-- fix: quota entity key = CAST(ceil(bytes / seconds) AS BIGINT) was value
WITH windows AS (
  SELECT n.cluster, min(try_cast(n.value AS BIGINT) * try_cast(s.value AS BIGINT)) AS seconds
  FROM broker_configs n
  JOIN broker_configs s ON s.cluster = n.cluster AND s.broker_id = n.broker_id
    AND s.key = 'quota.window.size.seconds'
  WHERE n.key = 'quota.window.num' GROUP BY n.cluster
),
messages AS (
  SELECT cluster, max(try_cast(value AS BIGINT)) AS bytes,
    max_by(topic, struct(try_cast(value AS BIGINT), topic)) AS topic
  FROM topic_configs WHERE key = 'max.message.bytes' GROUP BY cluster
),
judged AS (
  SELECT q.*, seconds, bytes, topic, q.value * seconds < bytes AS bad
  FROM quotas q
  JOIN windows ON windows.cluster = q.cluster
  JOIN messages ON messages.cluster = q.cluster
  WHERE q.key = 'producer_byte_rate'
)
SELECT cluster, concat(entity, ' ', key) AS resource,
  IF(bad, 'alarm', 'ok') AS status,
  concat({bytes CAST(value * seconds AS BIGINT)}, ' in ', seconds,
    's, the largest max.message.bytes is ', {bytes bytes}, ' (topic ', topic, ')') AS reason,
  entity, key, value, bytes, seconds
FROM judged
