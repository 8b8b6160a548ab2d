-- title: Timestamps from the future are accepted
-- severity: medium
-- tags: retention
-- description: Retention uses the largest timestamp of a segment, so one record with a timestamp
--   in the next century keeps its segment until then. Topics that are only compacted, or have unlimited
--   retention, are not affected.
-- source: Apache Kafka documentation, Topic configs, message.timestamp.after.max.ms (KIP-937)
-- parameter: after = 3600000
-- fix: message.timestamp.after.max.ms = {after}
SELECT cluster, topic AS resource,
  IF(message_timestamp_type = 'CreateTime' AND message_timestamp_after_max_ms = '9223372036854775807'
      AND cleanup_policy LIKE '%delete%' AND retention_ms <> '-1',
    'alarm: message.timestamp.after.max.ms is unlimited and producers set the timestamps',
    concat('ok: message.timestamp.after.max.ms is ', {duration message_timestamp_after_max_ms}, ', ',
      message_timestamp_type)) AS reason
FROM {topic_configs message.timestamp.after.max.ms, message.timestamp.type, cleanup.policy, retention.ms}
WHERE message_timestamp_after_max_ms IS NOT NULL
