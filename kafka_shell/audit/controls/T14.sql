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
WITH kept AS (
  SELECT cluster, topic,
    max(CASE WHEN key = 'retention.ms' THEN value END) AS time,
    max(CASE WHEN key = 'cleanup.policy' THEN value END) AS policy,
    bool_or(key = 'remote.storage.enable' AND value = 'true') AS tiered,
    max(CASE WHEN key = 'local.retention.ms' THEN value END) AS local_time,
    max(CASE WHEN key = 'local.retention.bytes' THEN value END) AS local_bytes
  FROM topic_configs GROUP BY cluster, topic
)
SELECT cluster, topic AS resource,
  CASE WHEN try_cast(time AS BIGINT) > {longest} AND policy LIKE '%delete%'
      AND NOT (tiered AND (coalesce(try_cast(local_bytes AS BIGINT), -2) >= 0
        OR coalesce(try_cast(local_time AS BIGINT), -2) BETWEEN 0 AND {longest}))
      AND NOT topic RLIKE r'^({besides})$'
    THEN 'alarm' ELSE 'ok' END AS status,
  concat('retention.ms is ', {duration time},
    IF(tiered, concat(', local.retention.ms is ', {duration local_time}), '')) AS reason
FROM kept WHERE time IS NOT NULL
