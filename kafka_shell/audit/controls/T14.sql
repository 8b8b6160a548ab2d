-- id: T14
-- title: Months of records on local disks
-- severity: low
-- tags: retention, capacity
-- description: More than 30 days on the disks of the brokers make reassignments and recovery
--   slow. Tiered storage can store old segments at lower cost. Changelogs of windowed stores must
--   keep what the application declares.
-- source: Apache Kafka documentation, Tiered Storage
-- needs: topic_configs
-- configs: topic_configs retention.ms, cleanup.policy
-- parameter: besides = .*-changelog
-- parameter: longest = 2592000000
-- remedy: dynamic, irreversible
WITH judged AS (
  SELECT t.cluster, t.topic, t.value, t.pair, t.overridden, t.inherited,
    try_cast(t.value AS BIGINT) > {longest} AND p.value LIKE '%delete%'
      AND coalesce(r.value, 'false') = 'false'
      AND NOT t.topic RLIKE r'^({besides})$' AS bad
  FROM topic_configs t
  JOIN topic_configs p
    ON p.cluster = t.cluster AND p.topic = t.topic AND p.key = 'cleanup.policy'
  LEFT JOIN topic_configs r
    ON r.cluster = t.cluster AND r.topic = t.topic AND r.key = 'remote.storage.enable'
  WHERE t.key = 'retention.ms'
)
SELECT
  cluster,
  topic AS resource,
  CASE WHEN bad THEN 'alarm' ELSE 'ok' END AS status,
  concat('retention.ms is ', {duration value}) AS reason,
  CASE WHEN bad THEN concat('alter-configs --topic=', topic, ' ', {override retention.ms = '{longest}'}) END AS remedy,
  CASE WHEN bad THEN concat('alter-configs --topic=', topic, ' ',
    coalesce(pair, '--delete-config retention.ms')) END AS undo
FROM judged
