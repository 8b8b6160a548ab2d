-- id: B10
-- title: Static broker configs differ
-- severity: high
-- tags: hygiene
-- description: The properties files of the brokers set different values for the same config.
--   Configs that must differ are ignored.
-- source: Apache Kafka documentation, Broker configs
-- needs: broker_configs
-- parameter: besides = broker.id|node.id|broker.rack|.*listeners|log.dirs?|metadata.log.dir|.*keystore.*|.*quorum.*|process.roles
-- remedy: restart, safe
WITH statics AS (
  SELECT cluster, key, count(DISTINCT coalesce(static_value, '(not set)')) > 1 AS differs,
    array_join(array_sort(collect_list(
      concat('broker ', broker_id, ': ', coalesce(static_value, '(not set)')))), '; ')
      AS static_values
  FROM broker_configs
  WHERE NOT sensitive AND NOT key RLIKE r'^({besides})$'
  GROUP BY cluster, key
)
SELECT
  cluster,
  key AS resource,
  CASE WHEN differs THEN 'alarm' ELSE 'ok' END AS status,
  CASE WHEN differs THEN static_values ELSE 'the same on all brokers' END AS reason,
  NULL AS remedy,
  NULL AS undo
FROM statics
