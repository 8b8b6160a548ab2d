-- title: Months of records on local disks
-- severity: low
-- tags: retention, capacity, opinion
-- description: More than 30 days on the disks of the brokers make reassignments and recovery
--   slow. Tiered storage can store old segments at lower cost, if local.retention.ms or
--   local.retention.bytes is less than the whole retention (-2). Changelogs of windowed stores must
--   keep what the application declares.
-- source: Apache Kafka documentation, Tiered Storage
-- parameter: besides = .*-changelog
-- parameter: longest = 2592000000
SELECT cluster, topic AS resource, coalesce(remote_storage_enable = 'true', false) AS tiered,
  IF(try_cast(retention_ms AS BIGINT) > {longest} AND cleanup_policy LIKE '%delete%'
    AND NOT (tiered AND (coalesce(try_cast(local_retention_bytes AS BIGINT), -2) >= 0
      OR coalesce(try_cast(local_retention_ms AS BIGINT), -2) BETWEEN 0 AND {longest}))
    AND NOT topic RLIKE r'^({besides})$', 'alarm', 'ok') AS status,
  concat('retention.ms is ', {duration retention_ms},
    IF(tiered, concat(', local.retention.ms is ', {duration local_retention_ms}), '')) AS reason
FROM {topic_configs retention.ms, cleanup.policy, remote.storage.enable, local.retention.ms, local.retention.bytes}
WHERE retention_ms IS NOT NULL
