-- id: B02
-- title: Low default replication factor
-- severity: high
-- tags: durability
-- description: Topics created without a replication factor get this one.
-- source: Apache Kafka documentation, Broker configs, default.replication.factor
-- needs: broker_configs
-- configs: broker_configs default.replication.factor
-- parameter: factor = 3
-- remedy: restart, safe
SELECT
  cluster,
  concat('broker ', broker_id) AS resource,
  CASE WHEN try_cast(value AS INT) < {factor} THEN 'alarm' ELSE 'ok' END AS status,
  concat('default.replication.factor is ', value,
    CASE WHEN try_cast(value AS INT) < {factor}
      THEN '; set it to {factor} in server.properties and restart the broker' ELSE '' END) AS reason,
  NULL AS remedy,
  NULL AS undo
FROM broker_configs
WHERE key = 'default.replication.factor'
