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
)
-- a broker returns a config of a listener only if it is set
SELECT cluster, key AS resource,
  IF(count(DISTINCT coalesce(static_value, '(not set)')) > 1, concat('alarm: ',
    array_join(array_sort(collect_list(
      concat('broker ', broker_id, ': ', coalesce(static_value, '(not set)')))), '; ')),
    'ok: the same on all brokers') AS reason
FROM keys JOIN brokers_read USING (cluster)
LEFT JOIN broker_configs USING (cluster, broker_id, key)
GROUP BY cluster, key
