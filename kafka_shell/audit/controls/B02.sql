-- title: Low default replication factor
-- severity: high
-- tags: durability
-- description: Topics created without a replication factor get this one. A cluster of fewer than
--   three brokers is a finding of B05, not of this control.
-- source: Apache Kafka documentation, Broker configs, default.replication.factor
-- parameter: factor = 3
SELECT cluster, concat('broker ', broker_id) AS resource,
  least({factor}, c.brokers + coalesce(size(c.offline), 0)) AS factor,
  IF(try_cast(value AS INT) < factor, 'alarm', 'ok') AS status,
  concat('default.replication.factor is ', value, IF(try_cast(value AS INT) < {factor},
    concat('; set it to ', factor, ' in server.properties and restart the broker'), '')) AS reason
FROM broker_configs JOIN clusters c USING (cluster)
WHERE key = 'default.replication.factor'
