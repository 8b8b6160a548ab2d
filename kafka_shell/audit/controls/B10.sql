-- title: Static broker configs differ
-- severity: high
-- tags: hygiene
-- description: The properties files of the brokers set different values for the same config.
--   Configs that must differ are ignored.
-- source: Apache Kafka documentation, Broker configs
-- parameter: besides = broker.id|node.id|broker.rack|.*listeners|log.dirs?|metadata.log.dir|.*keystore.*|.*quorum.*|process.roles
WITH brokers_read AS (SELECT DISTINCT cluster, broker_id FROM broker_configs),
keys AS (
  SELECT cluster, key FROM broker_configs WHERE NOT key RLIKE r'^({besides})$'
  GROUP BY cluster, key HAVING NOT bool_or(sensitive)
),
-- a broker returns a config of a listener only if it is set
statics AS (
  SELECT k.cluster, k.key, count(DISTINCT coalesce(c.static_value, '(not set)')) > 1 AS differs,
    array_join(array_sort(collect_list(
      concat('broker ', b.broker_id, ': ', coalesce(c.static_value, '(not set)')))), '; ')
      AS static_values
  FROM keys k JOIN brokers_read b ON b.cluster = k.cluster
  LEFT JOIN broker_configs c
    ON c.cluster = k.cluster AND c.broker_id = b.broker_id AND c.key = k.key
  GROUP BY k.cluster, k.key
)
SELECT cluster, key AS resource,
  IF(differs, 'alarm', 'ok') AS status,
  CASE WHEN differs THEN static_values ELSE 'the same on all brokers' END AS reason
FROM statics
