-- id: T14
-- title: Months of records on local disks
-- severity: low
-- tags: retention, capacity
-- description: More than 30 days on the disks of the brokers make reassignments and recovery
--   slow. Tiered storage can store old segments at lower cost, if local.retention.ms or
--   local.retention.bytes is less than the whole retention (-2). Changelogs of windowed stores must
--   keep what the application declares.
-- source: Apache Kafka documentation, Tiered Storage
-- needs: topic_configs
-- configs: topic_configs retention.ms, cleanup.policy
-- parameter: besides = .*-changelog
-- parameter: longest = 2592000000
-- remedy: dynamic, irreversible
WITH judged AS (
  SELECT t.cluster, t.topic, t.value, m.value AS local_value, r.key IS NOT NULL AS tiered,
    IF(r.key IS NULL, t.pair, m.pair) AS pair,
    IF(r.key IS NULL, t.overridden, m.overridden) AS overridden,
    IF(r.key IS NULL, t.inherited, m.inherited) AS inherited,
    try_cast(t.value AS BIGINT) > {longest} AND p.value LIKE '%delete%'
      AND NOT (r.key IS NOT NULL
        AND (coalesce(try_cast(b.value AS BIGINT), -2) >= 0
          OR coalesce(try_cast(m.value AS BIGINT), -2) BETWEEN 0 AND {longest}))
      AND NOT t.topic RLIKE r'^({besides})$' AS bad
  FROM topic_configs t
  JOIN topic_configs p
    ON p.cluster = t.cluster AND p.topic = t.topic AND p.key = 'cleanup.policy'
  LEFT JOIN topic_configs r
    ON r.cluster = t.cluster AND r.topic = t.topic AND r.key = 'remote.storage.enable'
    AND r.value = 'true'
  LEFT JOIN topic_configs m
    ON m.cluster = t.cluster AND m.topic = t.topic AND m.key = 'local.retention.ms'
  LEFT JOIN topic_configs b
    ON b.cluster = t.cluster AND b.topic = t.topic AND b.key = 'local.retention.bytes'
  WHERE t.key = 'retention.ms'
)
SELECT
  cluster,
  topic AS resource,
  CASE WHEN bad THEN 'alarm' ELSE 'ok' END AS status,
  concat('retention.ms is ', {duration value},
    IF(tiered, concat(', local.retention.ms is ', {duration local_value}), '')) AS reason,
  CASE WHEN bad THEN concat('alter-configs --topic=', topic, ' ', IF(tiered,
    {override local.retention.ms = '{longest}'}, {override retention.ms = '{longest}'})) END AS remedy,
  CASE WHEN bad THEN concat('alter-configs --topic=', topic, ' ', coalesce(pair,
    IF(tiered, '--delete-config local.retention.ms', '--delete-config retention.ms'))) END AS undo
FROM judged
