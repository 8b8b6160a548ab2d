-- title: Quota is smaller than one message
-- severity: medium
-- tags: quotas
-- description: The quota allows fewer bytes per quota window than the largest message, so the
--   sender of such a message is throttled for longer than the window. The remedy lets the client
--   use more of the brokers; another is a lower max.message.bytes of the topic.
-- source: Apache Kafka documentation, Broker configs, quota.window.num and
--   quota.window.size.seconds
-- fix: quota entity key = CAST(ceil(bytes / seconds) AS BIGINT) was value
WITH seconds AS (
  SELECT cluster, min(try_cast(quota_window_num AS BIGINT)
    * try_cast(quota_window_size_seconds AS BIGINT)) AS seconds
  FROM {broker_configs quota.window.num, quota.window.size.seconds} GROUP BY cluster
),
messages AS (
  SELECT cluster, max(try_cast(value AS BIGINT)) AS bytes,
    max_by(topic, struct(try_cast(value AS BIGINT), topic)) AS topic
  FROM topic_configs WHERE key = 'max.message.bytes' GROUP BY cluster
)
SELECT cluster, concat(entity, ' ', key) AS resource,
  IF(value * seconds < bytes, 'alarm', 'ok') AS status,
  concat({bytes CAST(value * seconds AS BIGINT)}, ' in ', seconds,
    's, the largest max.message.bytes is ', {bytes bytes}, ' (topic ', topic, ')') AS reason,
  entity, key, value, bytes, seconds
FROM quotas JOIN seconds USING (cluster) JOIN messages USING (cluster)
WHERE key = 'producer_byte_rate'
